"""What the server thinks of a memory's text: attempts to instruct a model, trust of its author.

Texts that address a model, give orders, imitate markup or hold secrets are quarantined (OWASP's agentic top ten calls
the attack memory poisoning). It is a filter, not a proof: a recalled memory always carries its source and its trust.
Business prose is full of "always" and "never", so an order counts only where it addresses the reader and names an
action that a model with tools could take. Texts are compared as people see them: without invisible or look-alike marks.
"""

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

from negotiator.base.search_terms import bare_text, split_words

_SPELLED: Final = re.compile(r"\b(?:[a-z0-9][ .\-_*|·]){3,}[a-z0-9]\b")
_BETWEEN: Final = re.compile(r"[ .\-_*|·]")
_LOOKALIKES: Final = str.maketrans(
    # Cyrillic, Greek and others that are drawn like Latin letters (Unicode TR 39, the common ones).
    "\u0430\u0432\u0435\u0456\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u04bb\u0458\u0455"
    "\u0501\u051b\u051d\u04cf\u0261\u03b1\u03b2\u03b5\u03bd\u03b9\u03ba\u03bf\u03c1\u03c4\u03c5\u03c7"
    "\u03b3\u03f2\u03f3\u0131\u2113\u217c",
    "abeikmhopctyxhjsdqwlgabenikoptuxycjill",
)
_BARRED: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})


def strip_invisible(text: str) -> str:
    """The text composed (NFC) and trimmed, without characters that are not visible; line breaks stay.

    Control, format, private and unassigned characters go, among them zero widths, direction marks and tags. The joiner
    in an emoji goes too, which leaves the emoji's parts.
    """
    folded = "".join(
        mark
        for mark in unicodedata.normalize("NFC", text)
        if mark in "\n\t" or unicodedata.category(mark) not in _BARRED
    )
    return folded.strip()


def fold_lookalikes(text: str) -> str:
    """The text in lower case, without accents, look-alikes as Latin letters, spelled-out words joined."""
    plain = bare_text(bare_text(text).translate(_LOOKALIKES))
    joined = _SPELLED.sub(lambda found: f" {_BETWEEN.sub('', found[0])} ", plain)
    return joined.replace("’", "'")


def text_digest(text: str, counterparty: str | None) -> str:
    """SHA-256 of text and counterparty, equal for texts that differ only in spacing and composition (NFC).

    A sign, a mark on a letter or a capital may be all that tells two facts apart.
    """
    parts = (" ".join(unicodedata.normalize("NFC", part).split()) for part in (text, counterparty or ""))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


_CONTENT: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_PATTERNS: Final = {
    reason: re.compile("|".join(parts).replace("@rules", _CONTENT["parts"]["rules"]), re.DOTALL | re.MULTILINE)
    for reason, parts in _CONTENT["patterns"].items()
}
_SECRET: Final = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"
    r"|\b(?:sk|pk|rk|ghp|gho|ghs|xox[abp]|AKIA|AIza)[-_]?[A-Za-z0-9_-]{16,}"
    r"|\b(?i:password|passphrase|secret key|api key)\s*(?:is|[:=])\s*\S{6,}"
)
_COMMAND: Final = re.compile(
    r"https?://|\b(?:curl|wget|rm|sudo|powershell|eval|exec)\s+\S|\bjavascript:", re.IGNORECASE
)
_CARD: Final = re.compile(r"(?<!\d)(?:4|5[1-5]|2[2-7]|3[47]|6)(?:[ -]?\d){11,18}(?!\d)")


def suspicion_reason(texts: Iterable[str], kind: str) -> str | None:
    """One word that says why the texts of a memory should be quarantined; None when they look harmless."""
    for text in texts:
        folded = fold_lookalikes(text)
        for reason, pattern in _PATTERNS.items():
            if pattern.search(folded):
                return reason
        if _SECRET.search(text):
            return "secret"
        if kind == "tactic" and _COMMAND.search(text):
            return "command"
        if any(_is_card(found[0]) for found in _CARD.finditer(text)):
            return "card"
    return None


def _is_card(digits: str) -> bool:
    """Luhn's check digit (ISO/IEC 7812-1)."""
    figures = [int(mark) for mark in digits if mark.isdigit()]
    doubled = [2 * figure - 9 * (figure > 4) for figure in figures[-2::-2]]
    return (sum(figures[-1::-2]) + sum(doubled)) % 10 == 0


AuthorKind = Literal["user", "agent", "transcript", "import"]

TRUST_UNREVIEWED: Final = 0
TRUST_UNBOUND_AGENT: Final = 1
TRUST_BOUND_AGENT: Final = 2
TRUST_CONFIRMED: Final = 3

_DENIALS: Final = "not no never none nothing neither nor without refuse refuses refused reject rejects rejected"
_NEGATIONS: Final = frozenset(_DENIALS.split())
_WORD: Final = re.compile(r"[a-z]+(?:['’]t)?")


def has_same_numbers_and_negations(left: str, right: str) -> bool:
    """Whether two texts have the same numbers and an equal parity of negations."""
    return _numbers_and_negation(left) == _numbers_and_negation(right)


def _numbers_and_negation(text: str) -> tuple[list[str], int]:
    denials = sum(word in _NEGATIONS or word.endswith(("'t", "’t")) for word in _WORD.findall(text.casefold()))
    return sorted(word for word in split_words(text) if word[0].isdigit()), denials % 2
