"""What is recognised by how it is said: "jane dot doe at example dot com", "the password is hunter two"."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from negotiator.teleprompter.privacy.checks import listed
from negotiator.teleprompter.privacy.digits import Chunk, Word, is_figure, runs
from negotiator.teleprompter.privacy.written import Claim

_JOINS: Final = frozenset(["dot", "underscore", "dash", "hyphen", "plus", ".", "-", "_", "+"])
_DOTS: Final = frozenset(["dot", "."])
_NO_NAMES: Final = frozenset(
    listed(
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
    listed(
        "important required needed necessary expired wrong right correct incorrect invalid missing not "
        "reset changed safe protected secure in on at with a an the what that this it being sent shared "
        "stored weak strong easy hard something your my our their his her for to always never only also too "
        "there here ok okay fine good bad enough set given written included inside attached different same "
        "unknown up due about under of by part going kept held so very really quite no and or but if when "
        "as from public private secret part handled managed one"
    )
)
_SPELLED: Final = frozenset(
    listed(
        "capital uppercase lowercase dash hyphen underscore dot hash star exclamation ampersand slash"
    )
)
_PIN: Final = frozenset(["pin", "pincode", "cvv", "cvc", "puk", "passcode"])
_CODES: Final = frozenset(["security", "verification", "access", "login", "pin", "time", "entry"])
_LINKS: Final = frozenset(["is", "was", "code", "number", ":", "=", "the", "my"])
_PIN_DIGITS: Final = range(3, 9)


def emails(words: Sequence[Word]) -> Iterator[Claim]:
    """Addresses that are spoken: a name, "at", and labels with "dot" between them."""
    for at in range(1, len(words) - 3):
        if words[at].text not in {"at", "@"}:
            continue
        last = _host(words, at + 1)
        first = _name(words, at - 1)
        if last is not None and first is not None:
            yield words[first].start, words[last].end, "email"


def _host(words: Sequence[Word], at: int) -> int | None:
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


def _name(words: Sequence[Word], at: int) -> int | None:
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


def secrets(text: str, words: Sequence[Word]) -> Iterator[Claim]:
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


def _is_spelled(word: Word) -> bool:
    one = len(word.text) == 1 and word.kind == "word" and word.text not in "ai"
    return one or is_figure(word) or word.text in _SPELLED


def pins(words: Sequence[Word]) -> Iterator[Claim]:
    """Three to eight digits after "the pin is", "security code", "cvv"."""
    for run in runs(words):
        at = run.first - 1
        while at >= 0 and words[at].text in _LINKS - {"code"} and run.first - at < 4:
            at -= 1
        asked = at >= 0 and words[at].text in _PIN
        if at > 0 and words[at].text == "code":
            asked = words[at - 1].text in _CODES
        digits: list[Chunk] = [chunk for chunk in run.chunks if chunk.text.isdigit()]
        if asked and sum(len(chunk.text) for chunk in digits) in _PIN_DIGITS:
            yield digits[0].start, digits[-1].end, "secret"
