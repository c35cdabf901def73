"""What the words of the other side answer to the user's last offer: a yes, that it is gone, or another figure."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast

from negotiator.negotiations.issues import Issue, coordinate
from negotiator.negotiations.leverage.concessions import LedgerOffer
from negotiator.negotiations.tactics.phrases import PhraseTree, TacticPhrase, build_phrase_tree, clean_text, split_words
from negotiator.numbers import number_runs, number_tokens

AROUND_RANGE: Final = Decimal("0.5")
"""A figure is taken for a price up to this share of the range below and above it."""
_KINDS: Final = ("agrees", "assents", "conditions", "gone")
_MEMBERS: Final = ("phrases", "unless", "unless_there")


@dataclass(frozen=True, slots=True)
class TheirAnswer:
    """`agrees`: they accept the user's last offer; `perhaps` where the words may mean another one or set a condition.

    `is_gone`: there is nothing to agree on any more. `unrecorded` is a price that they name and no offer has.
    """

    agrees: Literal["no", "perhaps", "yes"] = "no"
    is_gone: bool = False
    unrecorded: Decimal | None = None


NO_ANSWER: Final = TheirAnswer()


def read_answer(words: str, price: Issue | None, offers: Sequence[LedgerOffer]) -> TheirAnswer:
    """The answer in `words`, which come after the last of `offers`, oldest first.

    A yes is to the user's last offer where it names that price, or no price and the user spoke last. Under a condition
    it is none yet.
    """
    named, said = _prices(words, price), _said(words)
    mine = next((row for row in reversed(offers) if row.by == "me"), None)
    recorded = {_price(row, price) for row in offers} if price is not None else set[object]()
    return TheirAnswer(
        agrees="no" if mine is None or "gone" in said else _agrees(offers, mine, price, named, said),
        is_gone="gone" in said,
        unrecorded=next((one[0] for one in named if not recorded.intersection(one)), None),
    )


def _agrees(
    offers: Sequence[LedgerOffer],
    mine: LedgerOffer,
    price: Issue | None,
    named: Sequence[tuple[Decimal, ...]],
    said: frozenset[str],
) -> Literal["no", "perhaps", "yes"]:
    """Whether the words agree, and to the user's last offer."""
    if named and price is not None:
        is_mine = all(_price(mine, price) in readings for readings in named)
        agrees, is_sure = is_mine and not said.isdisjoint({"agrees", "assents"}), True
    else:
        agrees, is_sure = "agrees" in said, offers[-1].by == "me"
    if not agrees:
        return "no"
    return "yes" if is_sure and "conditions" not in said else "perhaps"


def _price(row: LedgerOffer, price: Issue) -> Decimal | None:
    return coordinate(price.type, row.package.get(price.name))


def _prices(words: str, price: Issue | None) -> list[tuple[Decimal, ...]]:
    """The readings of each number that may be a price of this issue."""
    if price is None or price.range is None:
        return []
    reach = AROUND_RANGE * (price.range.max - price.range.min)
    low, high = price.range.min - reach, price.range.max + reach
    runs = number_runs(number_tokens(clean_text(words)))
    fitting = (tuple(at for at in run.readings if low <= at <= high) for run in runs)
    return [readings for readings in fitting if readings]


def _said(words: str) -> frozenset[str]:
    """The kinds of phrases that the words have."""
    tree = _phrases()
    spoken = split_words(clean_text(words).replace("?", " questionmark?"), tree.sets)
    found = [(*hit.tactic_id.split("."), spoken[at].sentence) for hit, at, _ in tree.find(spoken)]
    meant: set[str] = set()
    for name in _KINDS:
        said = {sentence for kind, member, sentence in found if (kind, member) == (name, "phrases")}
        said -= {at for kind, member, at in found if (kind, member) == (name, "unless_there")}
        if said and not any((kind, member) == (name, "unless") for kind, member, _ in found):
            meant.add(name)
    return frozenset(meant)


@cache
def _phrases() -> PhraseTree:
    file = files(__package__ or __name__).joinpath("answer_phrases.toml")
    content: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    return build_phrase_tree(
        tuple(
            TacticPhrase(f"{name}.{member}", "strong", text)
            for name, lists in content.items()
            for member in _MEMBERS
            for text in cast("list[str]", lists[member])
        ),
        {},
    )
