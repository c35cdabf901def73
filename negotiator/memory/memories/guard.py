"""What may be written into a memory, and by whom how far it is believed.

A memory is read by models later. The guard catches the crude attempts to speak to them through it (OWASP's agentic
top ten calls it memory poisoning); what it catches is kept out of sight, not thrown away. It is a filter, not a proof:
whatever is recalled is handed on as data with its source and its trust.
"""

import hashlib
import re
import unicodedata
from typing import Final, Literal

Author = Literal["user", "agent", "transcript", "import"]

UNTRUSTED: Final = 0
UNBOUND: Final = 1
BOUND: Final = 2
CONFIRMED: Final = 3

_INVISIBLE: Final = frozenset(
    [
        *map(chr, range(0x200B, 0x2010)),
        *map(chr, range(0x202A, 0x202F)),
        *map(chr, range(0x2060, 0x206A)),
    ]
) | {"\u00ad", "\ufeff"}
_TAGS: Final = range(0xE0000, 0xE0080)
_PATTERNS: Final = {
    "addresses_a_model": re.compile(
        r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|your|the)\b.{0,30}"
        r"\b(?:instructions?|rules?|prompts?|limits?|guidelines?|policy|policies)\b"
        r"|\byou are (?:now|no longer)\b|\bas an? (?:ai|assistant|language model)\b|\bsystem prompt\b"
        r"|\b(?:always|automatically|immediately) (?:approve|accept|agree|confirm|pay|transfer|send)\b"
        r"|\bdo not (?:tell|inform|warn|mention (?:this|it) to) (?:the )?(?:user|owner|human)\b",
        re.IGNORECASE | re.DOTALL,
    ),
    "imitates_markup": re.compile(
        r"^\s*(?:system|assistant|developer|user)\s*:|<\|[a-z_]+\|>|</?(?:system|assistant|tool|function)[^>]{0,40}>"
        r"|\[/?INST\]|\"(?:tool_calls?|function_call)\"\s*:|^\s*```(?:tool|function|system)",
        re.IGNORECASE | re.MULTILINE,
    ),
    "encoded": re.compile(r"(?:[A-Za-z0-9+/]{4}){30,}={0,2}|(?:[0-9a-f]{2}){60,}", re.IGNORECASE),
    "secret": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"
        r"|\b(?:sk|pk|rk|ghp|gho|xox[abp]|AKIA|AIza)[-_]?[A-Za-z0-9_-]{16,}|\bpassword\s*[:=]\s*\S{6,}",
    ),
}
_COMMANDS: Final = re.compile(
    r"https?://|\b(?:curl|wget|rm|sudo|powershell|eval|exec)\s+\S|\bjavascript:", re.IGNORECASE
)
_DIGITS: Final = re.compile(r"(?:\d[ -]?){13,19}")
_DENIALS: Final = (
    "not no never none nothing neither nor without refuse refuses refused reject rejects rejected"
)
_NEGATIONS: Final = frozenset(_DENIALS.split())
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_SPACE: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"[a-z]+(?:['’]t)?")


def cleaned(text: str) -> str:
    """The text composed (NFC), on plain spaces, without marks that are not seen; line breaks stay."""
    seen = "".join(
        mark
        for mark in unicodedata.normalize("NFC", text)
        if mark not in _INVISIBLE
        and ord(mark) not in _TAGS
        and (mark in "\n\t" or unicodedata.category(mark) != "Cc")
    )
    return seen.strip()


def suspicion(text: str, kind: str) -> str | None:
    """Why the text is better kept out of sight, as one word; None when nothing is wrong with it."""
    for reason, pattern in _PATTERNS.items():
        if pattern.search(text):
            return reason
    if kind == "tactic" and _COMMANDS.search(text):
        return "command"
    return "card" if any(_is_card(found[0]) for found in _DIGITS.finditer(text)) else None


def trust_of(author: Author, *, bound: bool) -> int:
    """How far an author is believed: a person 3, their agent 2, an agent of nobody's 1, what was heard or read 0."""
    if author == "user":
        return CONFIRMED
    if author == "agent":
        return BOUND if bound else UNBOUND
    return UNTRUSTED


def digest(text: str) -> str:
    """One value for texts that differ in case, spacing and composition only."""
    plain = _SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return hashlib.sha256(plain.encode()).hexdigest()


def says_the_same(left: str, right: str) -> bool:
    """Whether two texts agree in every number and in what they deny: nothing else may count as a repetition."""
    return _held(left) == _held(right)


def _held(text: str) -> tuple[list[str], int]:
    denials = sum(
        word in _NEGATIONS or word.endswith(("'t", "’t")) for word in _WORD.findall(text.casefold())
    )
    return sorted(_NUMBER.findall(text)), denials % 2


def _is_card(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1)."""
    figures = [int(mark) for mark in digits if mark.isdigit()]
    if len(set(figures)) < 3:
        return False
    doubled = [2 * figure - 9 * (figure > 4) for figure in figures[-2::-2]]
    return (sum(figures[-1::-2]) + sum(doubled)) % 10 == 0
