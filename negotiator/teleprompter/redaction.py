"""Takes out of a text what nobody needs to keep, and leaves every price, percentage, date and quantity.

A typed mark stands where something was: `[card]`, `[iban]`, `[id]`, `[email]`, `[phone]`, `[secret]`, and `[number]`
for long runs of digits of no known kind. There is no way back: nothing remembers what stood there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from negotiator.teleprompter import redaction_patterns
from negotiator.teleprompter.check_digits import (
    CARD_LENGTHS,
    Luhn,
    iban_length,
    is_iban,
    is_national_number,
    is_social_security,
    word_list,
)
from negotiator.teleprompter.digit_runs import (
    DigitChunk,
    DigitRun,
    RedactionToken,
    digit_runs,
    redaction_tokens,
)
from negotiator.teleprompter.redaction_patterns import RedactionSpan

_LOOKS_BACK: Final = 8
_LISTED: Final = 50
_ONE_BY_ONE: Final = 7
_PHONES: Final = range(7, 16)
_NATIONAL: Final = range(9, 12)
_IDS: Final = range(8, 16)
_ACCOUNTS: Final = range(6, 19)
_CALLS: Final = frozenset(
    word_list(
        "phone telephone mobile cell cellphone call calling ring dial text whatsapp sms reach tel fax "
        "landline hotline handset signal telegram"
    )
)
_NAMED: Final = frozenset(word_list("ssn tin passport bsn pesel nino nif nie dni steuernummer"))
_NAMED_PAIRS: Final = frozenset(
    {
        ("social", "security"),
        ("tax", "id"),
        ("tax", "number"),
        ("tax", "identification"),
        ("national", "id"),
        ("national", "insurance"),
        ("identity", "card"),
        ("identity", "number"),
        ("personal", "number"),
        ("driver's", "license"),
        ("driving", "licence"),
    }
)
_ACCOUNT_PAIRS: Final = frozenset(
    {("account", "number"), ("bank", "account"), ("routing", "number"), ("sort", "code")}
)


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text without what was taken out, and the kinds of what was, in order: `("card", "phone")`."""

    text: str
    marks: tuple[str, ...] = ()


def redact(text: str) -> RedactedText:
    """The text with a mark for each card, account, personal id, address, phone number and secret in it.

    Spoken digits count as written ones. Time grows with the length of the text and with nothing else.
    """
    words = redaction_tokens(text)
    taken = bytearray(len(text))
    kept: list[RedactionSpan] = []
    for start, end, mark in _claims(text, words):
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            kept.append((start, end, mark))
    if not kept:
        return RedactedText(text)
    parts: list[str] = []
    at = 0
    for start, end, mark in sorted(kept):
        parts += [text[at:start], f"[{mark}]"]
        at = end
    return RedactedText("".join([*parts, text[at:]]), tuple(mark for _, _, mark in sorted(kept)))


def _claims(text: str, words: Sequence[RedactionToken]) -> Iterator[RedactionSpan]:
    """Everything that looks like something, the surest first."""
    yield from redaction_patterns.written_secrets(text)
    yield from redaction_patterns.written_emails(text)
    yield from redaction_patterns.spoken_emails(words)
    yield from redaction_patterns.written_accounts(text)
    yield from redaction_patterns.spoken_secrets(text, words)
    yield from redaction_patterns.spoken_pins(words)
    yield from redaction_patterns.written_ids(text)
    for run in digit_runs(words):
        yield from _spelled_accounts(run)
        for part in run.parts():
            yield from _numbers(part, _Context.before(words, run.first))


@dataclass(frozen=True, slots=True)
class _Context:
    """What the words before a number say it is."""

    phone: bool
    id: bool
    account: bool
    card: bool

    @classmethod
    def before(cls, words: Sequence[RedactionToken], at: int) -> "_Context":
        near = [word.text for word in words[max(at - _LOOKS_BACK, 0) : at] if word.kind == "word"]
        pairs = set(pairwise(near))
        mine = bool(pairs & {("my", "number"), ("her", "number"), ("his", "number")})
        return cls(
            phone=mine or bool(_CALLS & set(near)),
            id=bool(_NAMED & set(near)) or bool(_NAMED_PAIRS & pairs),
            account=bool(_ACCOUNT_PAIRS & pairs),
            card="card" in near,
        )


def _spelled_accounts(run: DigitRun) -> Iterator[RedactionSpan]:
    """Account numbers said letter by letter: two letters, then digits and letters up to the country's length."""
    chunks = run.chunks
    for at in range(len(chunks) - 2):
        country = chunks[at].text + chunks[at + 1].text
        length = iban_length(country) if len(country) == 2 and country.isalpha() else 0
        said, last = country, at + 2
        while length and last < len(chunks) and len(said) < length:
            said, last = said + chunks[last].text, last + 1
        if length and is_iban(said.upper()):
            yield chunks[at].start, chunks[last - 1].end, "iban"


def _numbers(part: DigitRun, context: _Context) -> Iterator[RedactionSpan]:
    """What a stretch of digits holds: cards first, then what the rest of it is as a whole."""
    rest: list[DigitChunk] = []
    cards = list(_cards(part, context))
    for first, last in cards:
        yield part.chunks[first].start, part.chunks[last].end, "card"
    for at, chunk in enumerate(part.chunks):
        if not any(first <= at <= last for first, last in cards):
            rest.append(chunk)
    if not rest:
        return
    mark = _kind(DigitRun(tuple(rest), part.first, part.has_plus), context)
    if mark and not cards:
        yield rest[0].start, rest[-1].end, mark


def _cards(part: DigitRun, context: _Context) -> Iterator[tuple[int, int]]:
    """First and last chunk of each card; a list of round numbers is none."""
    digits = part.text
    if len(digits) < CARD_LENGTHS[0]:
        return
    luhn, starts, places = Luhn(digits), {0: 0}, 0
    for at, chunk in enumerate(part.chunks, 1):
        places += len(chunk.text)
        starts[places] = at
    free = 0
    for start, first in starts.items():
        if start < free:
            continue
        for length in reversed(CARD_LENGTHS):
            last = starts.get(start + length)
            if last is None or not luhn.is_card(start, start + length):
                continue
            if context.card or _grouped(part.chunks[first:last]):
                yield first, last - 1
                free = start + length
                break


def _grouped(chunks: Sequence[DigitChunk]) -> bool:
    """Whether digits are grouped as cards are: not by twos and threes, not in round numbers."""
    written = [chunk.text for chunk in chunks if not chunk.is_spoken]
    round_ones = [int(one) % _LISTED == 0 for one in written]
    return all(len(one) == 1 or len(one) >= 4 for one in written[:-1]) and (
        not written or not all(round_ones)
    )


def _kind(part: DigitRun, context: _Context) -> str:
    """What a whole run of digits is, or nothing."""
    digits = part.text
    shape = [len(chunk.text) for chunk in part.chunks]
    spoken = sum(len(chunk.text) for chunk in part.chunks if _is_single(chunk))
    if shape == [3, 2, 4] and is_social_security(digits):
        return "id"
    if not part.has_plus and _is_round(part.chunks):
        return ""
    if context.id and len(digits) in _IDS:
        return "id"
    if context.phone and len(digits) in _PHONES:
        return "phone"
    if part.has_plus and len(digits) in range(8, 16):
        return "phone"
    if context.account and len(digits) in _ACCOUNTS:
        return "number"
    if is_national_number(digits) and (len(part.chunks) < 5 or spoken):
        return "id"
    if shape in ([3, 3, 4], [1, 3, 3, 4]):
        return "phone"
    if digits[0] == "0" and (len(digits) in _NATIONAL or digits[:2] == "00"):
        return "phone" if len(digits) >= _PHONES[0] else ""
    if spoken >= _ONE_BY_ONE:
        return "phone" if len(digits) in {10, 11} else "number"
    grouped = len(part.chunks) == 1 or all(one == 4 for one in shape[:-1])
    return "number" if len(digits) in CARD_LENGTHS and grouped and _grouped(part.chunks) else ""


def _is_round(chunks: Sequence[DigitChunk]) -> bool:
    """Whether these are written amounts: "1250000", "1 250 000", "100 500 1000"; "call it 1250000" is no phone."""
    written = [chunk.text for chunk in chunks]
    if any(chunk.is_spoken for chunk in chunks) or written[0][0] == "0":
        return False
    whole = len(written[0]) <= 3 and all(len(one) == 3 for one in written[1:])
    thousands = (whole or len(written) == 1) and int("".join(written)) % _LISTED == 0
    return thousands or all(int(one) % _LISTED == 0 for one in written)


def _is_single(chunk: DigitChunk) -> bool:
    """Whether digits were said one by one: "four", "double five"."""
    return chunk.is_spoken and (len(chunk.text) == 1 or len(set(chunk.text)) == 1)
