"""What is recognised by how it is written: addresses, keys, account numbers, ids with letters.

What is recognised by how it is said: "jane dot doe at example dot com", "the password is hunter two".
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from negotiator.teleprompter.check_digits import (
    iban_length,
    is_iban,
    is_lettered_id,
    is_national_number,
    word_list,
)
from negotiator.teleprompter.digit_runs import DigitChunk, RedactionToken, digit_runs, is_number

RedactionSpan = tuple[int, int, str]
"""From where to where, and as what."""

# Each pattern begins where no run of its own marks goes on, or is short, so that no text makes it scan twice.
_EMAIL: Final = re.compile(
    r"(?<![\w.+%'-])[\w.+%'-]{1,256}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}(?!\w)"
)
_KEY: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
    r"(?:[^-]{0,8000}-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
    r"|(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?"
    r"|(?<![\w-])(?:(?:sk|pk|rk|hf|npm|glpat|xox[abprs]|gh[pousr]|github_pat|ya29)[-_.]|AKIA|ASIA|AIza)"
    r"(?=[A-Za-z_-]{0,200}\d)[\w-]{12,}"
    r"|(?<![\w-])(?=[a-f]{0,200}\d)[0-9a-f]{32,}(?![\w-])",
)
_TOKEN: Final = re.compile(r"(?<![\w+/=-])[\w+/=-]{40,}(?![\w+/=-])", re.ASCII)
_BEARER: Final = re.compile(r"(?<!\w)[Bb]earer\s{1,3}(?P<value>[\w.~+/=-]{8,})")
_IBAN: Final = re.compile(r"(?<!\w)[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}")
_LETTERED: Final = re.compile(
    r"(?<!\w)(?:\d{8}-?[A-Za-z]|[XYZxyz]-?\d{7}-?[A-Za-z]|[A-Za-z]{6}\d{2}[A-Za-z]\d{2}[A-Za-z]\d{3}[A-Za-z]"
    r"|[A-Za-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-Da-d])(?!\w)"
)
_GROUPED: Final = re.compile(
    r"(?<!\d)(?:\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}|[12] \d{2} \d{2} \d{2} \d{3} \d{3} \d{2})(?!\d)"
)


def written_secrets(text: str) -> Iterator[RedactionSpan]:
    """Private keys, tokens and other long random words."""
    for one in _KEY.finditer(text):
        yield one.start(), one.end(), "secret"
    for one in _BEARER.finditer(text):
        if any(mark.isdigit() for mark in one["value"]):
            yield one.start("value"), one.end(), "secret"
    for one in _TOKEN.finditer(text):
        kinds = (str.isdigit, str.islower, str.isupper)
        if all(any(map(kind, one[0])) for kind in kinds):
            yield one.start(), one.end(), "secret"


def written_emails(text: str) -> Iterator[RedactionSpan]:
    """Addresses with an @ in them."""
    for one in _EMAIL.finditer(text):
        yield one.start(), one.end(), "email"


def written_accounts(text: str) -> Iterator[RedactionSpan]:
    """Account numbers in their international form, in one piece or in groups."""
    for one in _IBAN.finditer(text):
        left = iban_length(one[0][:2])
        for at, mark in enumerate(one[0]):
            left -= mark.isalnum()
            if left == 0:
                plain = "".join(filter(str.isalnum, one[0][: at + 1]))
                if is_iban(plain.upper()):
                    yield one.start(), one.start() + at + 1, "iban"
                break


def written_ids(text: str) -> Iterator[RedactionSpan]:
    """People's numbers that have letters in them, and those grouped in a way of their own."""
    for one in _GROUPED.finditer(text):
        if is_national_number("".join(filter(str.isdigit, one[0]))):
            yield one.start(), one.end(), "id"
    for one in _LETTERED.finditer(text):
        plain = "".join(filter(str.isalnum, one[0]))
        spaced = " " in one[0]
        if is_lettered_id(plain) and not (spaced and plain[0].isdigit()):
            yield one.start(), one.end(), "id"


_JOINS: Final = frozenset(["dot", "underscore", "dash", "hyphen", "plus", ".", "-", "_", "+"])
_DOTS: Final = frozenset(["dot", "."])
_NO_NAMES: Final = frozenset(
    word_list(
        "look looking looked see listed found is are was us me available here there visit them it based "
        "meet met that online pricing prices price sold sell buy bought shop everything out working work "
        "works one"
    )
)
_HEADS: Final = re.compile(
    r"\b(?:pass ?(?:word|phrase|code)|api[ -]?(?:key|token)|(?:secret|access|private|licen[cs]e) key"
    r"|(?:access|auth|bearer) token|client secret)\b"
    r"[^.!?;\n]{0,40}?(?:\b(?:is|was|are|equals|will be)\b|[:=])[\s\"'`]*",
    re.IGNORECASE,
)
_FILLERS: Final = re.compile(
    r"(?:currently|now|still|just|simply|always|actually|the word|quote|all|lower ?case|upper ?case|capital)\s+",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"[^\s\"'`]{1,200}")
_NO_VALUES: Final = frozenset(
    word_list(
        "important required needed necessary expired wrong right correct incorrect invalid missing not "
        "reset changed safe protected secure in on at with a an the what that this it being sent shared "
        "stored weak strong easy hard something your my our their his her for to always never only also too "
        "there here ok okay fine good bad enough set given written included inside attached different same "
        "unknown up due about under of by part going kept held so very really quite no and or but if when "
        "as from public private secret part handled managed one"
    )
)
_SPELLED: Final = frozenset(
    word_list(
        "capital uppercase lowercase dash hyphen underscore dot hash star exclamation ampersand slash"
    )
)
_PIN: Final = frozenset(["pin", "pincode", "cvv", "cvc", "puk", "passcode"])
_CODES: Final = frozenset(["security", "verification", "access", "login", "pin", "time", "entry"])
_LINKS: Final = frozenset(["is", "was", "code", "number", ":", "=", "the", "my"])
_PIN_DIGITS: Final = range(3, 9)


def spoken_emails(words: Sequence[RedactionToken]) -> Iterator[RedactionSpan]:
    """Addresses that are spoken: a name, "at", and labels with "dot" between them."""
    for at in range(1, len(words) - 3):
        if words[at].text not in {"at", "@"}:
            continue
        last = _host(words, at + 1)
        first = _name(words, at - 1)
        if last is not None and first is not None:
            yield words[first].start, words[last].end, "email"


def _host(words: Sequence[RedactionToken], at: int) -> int | None:
    """The last word of a host name that begins here."""
    dots, last = 0, at
    if words[at].kind not in {"word", "digits"}:
        return None
    while last + 2 < len(words) and words[last + 1].text in _JOINS:
        join, label = words[last + 1], words[last + 2]
        loose = join.kind == "mark" and not join.start == words[last].end == label.start - 1
        if label.kind not in {"word", "digits"} or loose:
            break
        dots += join.text in _DOTS
        last += 2
    return last if dots and len(words[last].text) > 1 else None


def _name(words: Sequence[RedactionToken], at: int) -> int | None:
    """The first word of a name that ends here; letters that are spelled belong to it."""
    if words[at].kind not in {"word", "digits"} or words[at].text in _NO_NAMES:
        return None
    first = at
    while first > 0:
        before = words[first - 1]
        if before.text in _JOINS and first > 1 and words[first - 2].kind in {"word", "digits"}:
            first -= 2
        elif len(before.text) == 1 and before.kind == "word" and len(words[first].text) == 1:
            first -= 1
        else:
            break
    return first


def spoken_secrets(text: str, words: Sequence[RedactionToken]) -> Iterator[RedactionSpan]:
    """What is said after "the password is", with what is spelled behind it."""
    places = {word.start: at for at, word in enumerate(words)}
    for head in _HEADS.finditer(text):
        start = head.end()
        while (filler := _FILLERS.match(text, start)) is not None:
            start = filler.end()
        value = _VALUE.match(text, start)
        if value is None or value[0].startswith("["):
            continue
        said = value[0].rstrip(".,;!?)")
        if not said or said.lower() in _NO_VALUES:
            continue
        end = start + len(said)
        while (at := places.get(end + 1)) is not None and _is_spelled(words[at]):
            end = words[at].end
        yield start, end, "secret"


def _is_spelled(word: RedactionToken) -> bool:
    one = len(word.text) == 1 and word.kind == "word" and word.text not in "ai"
    return one or is_number(word) or word.text in _SPELLED


def spoken_pins(words: Sequence[RedactionToken]) -> Iterator[RedactionSpan]:
    """Three to eight digits after "the pin is", "security code", "cvv"."""
    for run in digit_runs(words):
        at = run.first - 1
        while at >= 0 and words[at].text in _LINKS - {"code"} and run.first - at < 4:
            at -= 1
        asked = at >= 0 and words[at].text in _PIN
        if at > 0 and words[at].text == "code":
            asked = words[at - 1].text in _CODES
        digits: list[DigitChunk] = [chunk for chunk in run.chunks if chunk.text.isdigit()]
        if asked and sum(len(chunk.text) for chunk in digits) in _PIN_DIGITS:
            yield digits[0].start, digits[-1].end, "secret"
