"""What the words of the other side answer to the user's last offer: a yes, that it is gone, or another figure."""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast

from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.tactics.phrases import (
    PhraseTree,
    PhraseWord,
    TacticPhrase,
    build_phrase_tree,
    clean_text,
    split_words,
)
from negotiator.numbers.read import CURRENCY_WORDS, may_be_currency, number_runs, number_tokens
from negotiator.terms.issues import Issue, coordinate

AROUND_RANGE: Final = Decimal("0.5")
"""A figure is taken for a price up to this share of the range below and above it."""
_KINDS: Final = ("agrees", "assents", "conditions", "gone")
_MEMBERS: Final = ("phrases", "unless", "unless_there")
_UNREAD_SIGN: Final = re.compile(r"[-−–(]\d|\d[-−/]|[%/]")
"""Signs that make a number another one than its digits: "-500", "12/2"."""


@dataclass(frozen=True, slots=True)
class TheirAnswer:
    """`agrees`: they accept the user's last offer; `perhaps` where the words may mean another one or set a condition.

    `is_gone`: there is nothing to agree on any more.
    """

    agrees: Literal["no", "perhaps", "yes"] = "no"
    is_gone: bool = False


NO_ANSWER: Final = TheirAnswer()


def read_answer(
    words: str, price: Issue | None, offers: Sequence[LedgerOffer], currency: str | None = None
) -> TheirAnswer:
    """The answer in `words`, which come after the last of `offers`, oldest first.

    A yes is to the user's last offer where it names that price, or no price and the user spoke last. Under a condition,
    or beside anything that is not understood, it is none yet. `currency` is that of the negotiation.
    """
    text = clean_text(words)
    named, said = _prices(text, price), _said(text)
    mine = next((row for row in reversed(offers) if row.by == "me"), None)
    agrees: Literal["no", "perhaps", "yes"] = "no"
    if mine is not None and "gone" not in said:
        at = _price(mine, price) if price is not None else None
        is_known = _is_understood(text, at, currency)
        is_other = bool(named) and not all(at in readings for readings in named)
        may_name = bool(named) or (not is_known and any(char.isnumeric() for char in text))
        if not is_other and ("agrees" in said or ("assents" in said and may_name)):
            is_sure = bool(named) or offers[-1].by == "me"
            agrees = "yes" if is_sure and is_known and "conditions" not in said else "perhaps"
    return TheirAnswer(agrees, "gone" in said)


def _is_understood(text: str, mine: Decimal | None, currency: str | None) -> bool:
    """Whether every word beside a yes is known, and every number is the user's own price in the same currency."""
    tokens = number_tokens(text)
    spans = [(tokens[run.first].start, tokens[run.last - 1].end) for run in number_runs(tokens) if mine in run.readings]
    for word in split_words(text, {}):
        code = CURRENCY_WORDS.get(word.keys[0])
        is_named = any(start <= word.start < end for start, end in spans)
        is_own = code is not None and (currency is None or may_be_currency(code, currency))
        if not (is_named or is_own or (code is None and word.keys[0] in _known_words())):
            return False
    for char in text:
        kind, code = unicodedata.category(char), CURRENCY_WORDS.get(char)
        if kind == "Sm" or (kind == "Sc" and (code is None or (currency and not may_be_currency(code, currency)))):
            return False
    return not _UNREAD_SIGN.search(text)


def _price(row: LedgerOffer, price: Issue) -> Decimal | None:
    return coordinate(price.type, row.package.get(price.name))


def _prices(text: str, price: Issue | None) -> list[tuple[Decimal, ...]]:
    """The readings of each number that may be a price of this issue."""
    if price is None or price.range is None:
        return []
    reach = AROUND_RANGE * (price.range.max - price.range.min)
    low, high = price.range.min - reach, price.range.max + reach
    runs = number_runs(number_tokens(text))
    fitting = (tuple(at for at in run.readings if low <= at <= high) for run in runs)
    return [readings for readings in fitting if readings]


def _said(text: str) -> frozenset[str]:
    """The kinds of phrases that the words have."""
    tree = _phrases()
    spoken = split_words(text.replace("?", " questionmark?"), tree.sets)
    found = [
        (*hit.tactic_id.split("."), spoken[at].sentence)
        for hit, at, end in tree.find(spoken)
        if hit.tactic_id != "gone.phrases" or _ends(spoken, end)
    ]
    meant: set[str] = set()
    for name in _KINDS:
        said = {sentence for kind, member, sentence in found if (kind, member) == (name, "phrases")}
        said -= {at for kind, member, at in found if (kind, member) == (name, "unless_there")}
        if said and not any((kind, member) == (name, "unless") for kind, member, _ in found):
            meant.add(name)
    return frozenset(meant)


def _ends(spoken: Sequence[PhraseWord], end: int) -> bool:
    """Whether nothing follows that would make "sold" say how or by whom: "sold as seen", "gone through inspection"."""
    if end >= len(spoken) or spoken[end].clause != spoken[end - 1].clause:
        return True
    return spoken[end].keys[0] in _answer_words()["gone"]["followed_by"].split()


@cache
def _known_words() -> frozenset[str]:
    """The words that change nothing about a yes."""
    said = _answer_words()
    phrases = " ".join(text for name in ("agrees", "assents") for text in said[name]["phrases"])
    return frozenset(re.findall(r"[^\W\d_]+", phrases)) | frozenset(said["harmless"]["words"].split())


@cache
def _answer_words() -> dict[str, Any]:
    return tomllib.loads(files(__package__ or __name__).joinpath("answer_phrases.toml").read_text("utf-8"))


@cache
def _phrases() -> PhraseTree:
    return build_phrase_tree(
        tuple(
            TacticPhrase(f"{name}.{member}", "strong", text)
            for name in _KINDS
            for member in _MEMBERS
            for text in cast("list[str]", _answer_words()[name][member])
        ),
        {},
    )
