"""`GET /api/negotiations/outcomes`: where each agreement lies between the user's walk-away and target."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import orjson
from sqlalchemy import bindparam, or_, select
from sqlmodel import col
from typing_extensions import TypedDict

from negotiator.base.schema import NoInput
from negotiator.base.scopes import NEGOTIATIONS_READ
from negotiator.http.operation import Call, Operation
from negotiator.negotiations import states
from negotiator.negotiations.tables import Negotiation
from negotiator.store.statement import Query, Transaction
from negotiator.store.store import Store
from negotiator.terms.terms import Terms, decode_terms
from negotiator.terms.utility import package_utility, utility_of_worth

OutcomePlace = Literal["below_walk_away", "first_quarter", "second_quarter", "third_quarter", "last_quarter", "target"]
PLACES: Final[tuple[OutcomePlace, ...]] = get_args(OutcomePlace)
_AGREED: Final = (states.AGREED, states.WON)
_NEWEST: Final = 1000
_EVEN: Final = 1e-9
_ROWS = Query(
    select(col(Negotiation.document), col(Negotiation.terms))
    .where(col(Negotiation.owner) == bindparam("holder"), or_(*(col(Negotiation.state) == state for state in _AGREED)))
    .order_by(col(Negotiation.id).desc())
    .limit(_NEWEST),
    lambda row: (orjson.loads(row[0]), decode_terms(row[1])),
)


class OutcomeView(TypedDict):
    """One agreement. `share` is 0 at the walk-away and 1 at the target, in the user's own valuation."""

    negotiation_id: str
    title: str
    counterparty: str | None
    at: str
    share: float
    place: OutcomePlace


class OutcomesView(TypedDict):
    """The agreements whose value, walk-away and target are known, newest first, and how many lie in each place.

    The quarters divide the way from the walk-away to the target. `n_unknown` counts the other agreements.
    """

    items: list[OutcomeView]
    places: dict[OutcomePlace, int]
    n_unknown: int


@dataclass(frozen=True, slots=True)
class OutcomeRoutes:
    store: Store

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="list_outcomes",
                method="GET",
                path="/api/negotiations/outcomes",
                summary="Where each agreement lies between your walk-away and your target",
                run=self.list,
                output=OutcomesView,
                scopes=frozenset({NEGOTIATIONS_READ}),
                tag="negotiations",
            )
        ]

    async def list(self, call: Call[NoInput]) -> OutcomesView:
        owner = call.caller.principal
        return await self.store.scan(lambda tx: _outcomes(tx, owner))


def _outcomes(tx: Transaction, owner: str) -> OutcomesView:
    rows = tx.all(_ROWS, holder=owner)
    items = [found for view, terms in rows if (found := _outcome(view, terms)) is not None]
    counts = Counter(item["place"] for item in items)
    return {"items": items, "places": {place: counts[place] for place in PLACES}, "n_unknown": len(rows) - len(items)}


def _outcome(view: Mapping[str, Any], terms: Terms) -> OutcomeView | None:
    ended = view["outcome"]
    if not ended or not ended.get("package") or terms.unvalued:
        return None
    share = outcome_share(terms, ended["package"])
    if share is None:
        return None
    party = view["counterparty"]
    return {
        "negotiation_id": view["id"],
        "title": view["title"],
        "counterparty": party["name"] if isinstance(party, dict) else party,
        "at": ended.get("closed_at") or ended["agreed_at"],
        "share": share,
        "place": place_of_share(share),
    }


def outcome_share(terms: Terms, package: Mapping[str, Any]) -> float | None:
    """The place of a package on the way from the walk-away, 0, to the target, 1; None where one is unknown or both
    are worth the same. What a package leaves out counts half.
    """
    preferences = terms.preferences
    least = utility_of_worth(preferences, terms.walk_away, fill="low")
    most = utility_of_worth(preferences, terms.target, fill="high")
    if least is None or most is None or most - least < _EVEN:
        return None
    return round((package_utility(preferences, package).middle - least) / (most - least), 6)


def place_of_share(share: float) -> OutcomePlace:
    """The part of the way that a share lies in; each quarter begins at its lower end."""
    if share < 0:
        return "below_walk_away"
    return PLACES[1 + min(int(share * 4), 4)]
