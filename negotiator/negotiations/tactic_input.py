"""The facts of a negotiation, stored or described, that tactics are chosen by; an unknown fact is None.

A `TacticSituation` contains no limit, alternative or weight, and its `sayable` texts repeat only offers already made
and the names of issues.
"""

from collections.abc import Sequence
from typing import Any, Final, get_args

from negotiator.advice.leverage.assessment import Leverage, assess_leverage
from negotiator.advice.leverage.concessions import LedgerOffer, completed_offers
from negotiator.advice.leverage.power import FACTOR_NAMES, alternative_strength
from negotiator.advice.tactics.facts import NegotiationKind, PublicWords, Relationship, TacticSituation
from negotiator.advice.tactics.tactic import ROLES, Phase
from negotiator.base.errors import ValidationFailed
from negotiator.negotiations.engine_input import described_terms
from negotiator.negotiations.schemas_tactics import MatchTactics
from negotiator.terms.issues import Package
from negotiator.terms.limits import utility_floor
from negotiator.terms.plain_text import noun_phrase
from negotiator.terms.terms import OtherParty, Terms, days_left
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.utility import check_package, package_utility, utility_of_alternative, without_ranges
from negotiator.terms.voice import COMPANY, PRIVATE
from negotiator.terms.wording import Wording

STRONG_ALTERNATIVE_SHARE: Final = 0.7
"""An alternative counts as strong from this share of the way to the target."""
INFORMED_SHARE: Final = 0.6
MIN_PRIORITY_DIFFERENCE: Final = 0.1
"""Priorities differ when half the sum of the differences of all weights is above this."""
MIN_ROOM: Final = 0.02
"""Utility above the least the user would take from which on there is room to give."""
MAX_OFFER_CHARACTERS: Final = 60
"""A longer offer is said by its price alone."""
STANDARDS: Final = {"salary": "published pay for comparable roles", "lease": "rents for comparable homes"}
"""By kind of deal, what comparisons are made with; for any other kind the lines say "comparable deals"."""
HALF_PRESSURE_DAYS: Final = 7.0
"""Days to a deadline at which the pressure is one half."""
OPEN_POINT_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "volume_open": ("volume", "quantity", "seats", "units", "committed"),
    "term_open": ("term", "duration", "months", "years", "contract length"),
    "payment_open": ("payment", "invoice", "up front", "upfront", "net days"),
    "scope_open": ("scope", "support", "service", "feature", "deliverable"),
}


def known_leverage(terms: Terms, ledger: Sequence[LedgerOffer], *, now: int) -> Leverage | None:
    """The leverage; None where an issue has no known values."""
    return None if terms.unvalued else assess_leverage(terms, ledger, now=now)


def stored_tactic_situation(
    terms: Terms,
    leverage: Leverage | None,
    ledger: Sequence[LedgerOffer] | None,
    *,
    now: int,
    phase: Phase | None = None,
    utterance: str | None = None,
) -> TacticSituation:
    """The facts of a negotiation.

    A `ledger` of None means that the offers are unknown; an empty one means that there are none. `now` is in
    milliseconds since the epoch.
    """
    rows = completed_offers(ledger or ())
    mine, theirs = ([row.package for row in rows if row.by == side] for side in ("me", "them"))
    finals = [row.claimed_final for row in rows if row.by == "them"]
    words = Wording(terms)
    other = terms.other_party or OtherParty()
    known = ledger is not None
    kinds: tuple[NegotiationKind, ...] = get_args(NegotiationKind)
    relationships: tuple[Relationship, ...] = get_args(Relationship)
    return TacticSituation(
        role=next((role for role in ROLES if role == terms.role), None),
        kind=next((kind for kind in kinds if kind == terms.kind), None),
        category=terms.category,
        phase=phase or _phase(len(mine), len(theirs)),
        n_issues=len(terms.issues),
        price_only=len(terms.issues) == 1 and terms.issues[0].type == "money",
        priorities_differ=_priorities_differ(terms),
        volume_open=_names_one(terms, "volume_open"),
        term_open=_names_one(terms, "term_open"),
        payment_open=_names_one(terms, "payment_open"),
        scope_open=_names_one(terms, "scope_open"),
        has_batna=True if terms.batna is not None else None,
        batna_known_to_be_strong=_strong(terms),
        well_informed=None if terms.me.information is None else terms.me.information >= INFORMED_SHARE,
        zopa_probability=leverage.position.zopa.probability if leverage else None,
        my_power=_power(leverage),
        gap=_gap(terms, mine, theirs),
        has_deadline=True if terms.deadline is not None else None,
        deadline_pressure_mine=_pressure(terms.deadline, now),
        deadline_pressure_theirs=_pressure(terms.their_deadline, now),
        rounds_left=max(0, terms.max_rounds - len(mine)) if known and terms.max_rounds else None,
        my_offers=len(mine) if known else None,
        their_offers=len(theirs) if known else None,
        their_last_move=_last_move(leverage),
        their_claimed_final=finals[-1] if finals else None,
        finals_moved=_finals_moved(leverage) if theirs else None,
        their_decider={"yes": True, "no": False}.get(other.decision_maker or ""),
        my_authority_limited=True if terms.authority.least or terms.authority.prices else None,
        relationship=next((one for one in relationships if one == other.relationship), None),
        competition=terms.me.rivals,
        room_to_give=_room_to_give(terms, mine),
        middle_in_reach=_middle_in_reach(terms, mine, theirs),
        for_company=not words.voice.is_private,
        utterance=utterance,
        sayable=_public_words(terms, words, mine, theirs),
    )


def described_tactic_situation(body: MatchTactics, now: int) -> tuple[Terms | None, TacticSituation]:
    """The terms and the facts of a described negotiation; 422 for an invalid value.

    Without issues and preferences the terms are None and only a few facts are known, such as the role and the phase.
    """
    if not body.issues and body.my_preferences is None:
        return None, TacticSituation(
            role=body.role if "role" in body.model_fields_set else None,
            category=body.category if "category" in body.model_fields_set else None,
            phase=body.phase,
            relationship=body.counterparty.relationship if body.counterparty else None,
            utterance=body.utterance,
            sayable=PublicWords(voice=COMPANY if body.role == "employer" else PRIVATE),
        )
    valued = all(
        issue.type in {"enum", "boolean"} or issue.range or issue.options or issue.value_points for issue in body.issues
    )
    terms = described_terms(body) if valued else parse_terms(body, lenient=True)
    ledger = _offers(body, terms)
    leverage = assess_leverage(terms, ledger or (), now=now) if valued else None
    return terms, stored_tactic_situation(terms, leverage, ledger, now=now, phase=body.phase, utterance=body.utterance)


def _offers(body: MatchTactics, terms: Terms) -> tuple[LedgerOffer, ...] | None:
    """The described offers; None when they are unknown, 422 for a value that an issue does not have."""
    if body.offers is None:
        return None
    wrong = [
        error
        for place, offer in enumerate(body.offers)
        for error in check_package(
            without_ranges(terms.issues) if offer.by == "them" else terms.issues,
            offer.package,
            f"/offers/{place}/package",
        )
    ]
    if wrong:
        raise ValidationFailed(wrong)
    return tuple(
        LedgerOffer(seq=place + 1, by=one.by, package=one.package, claimed_final=one.claimed_final)
        for place, one in enumerate(body.offers)
    )


def _phase(mine: int, theirs: int) -> Phase | None:
    """`bargain` once both sides have made an offer, `open` once one has, else unknown."""
    if mine and theirs:
        return "bargain"
    return "open" if mine or theirs else None


def _public_words(terms: Terms, words: Wording, mine: Sequence[Package], theirs: Sequence[Package]) -> PublicWords:
    topic = max(terms.issues, key=lambda issue: issue.weight)
    price = terms.price
    others = [i for i in terms.issues if i.tradeable and i is not topic and i is not price]
    give = min(others, key=lambda i: i.weight - (i.their_weight or 0.0)) if others else None
    return PublicWords(
        topic=noun_phrase(words.short_label(topic)),
        price=price and noun_phrase(words.short_label(price)),
        give=give and noun_phrase(words.short_label(give)),
        my_offer=_offer_in_words(words, mine[-1]) if mine else None,
        their_offer=_offer_in_words(words, theirs[-1]) if theirs else None,
        criterion=STANDARDS.get(terms.kind),
        voice=words.voice,
    )


def _offer_in_words(words: Wording, package: Package) -> str:
    """An offer without its total; one of many words by its price, or by its first value where it has no price."""
    whole = words.package(package, with_total=False)
    if len(whole) <= MAX_OFFER_CHARACTERS:
        return whole
    named = [issue for issue in words.terms.issues if issue.name in package]
    first = next((issue for issue in named if issue.type == "money"), named[0])
    return words.phrase(first, package[first.name])


def _room_to_give(terms: Terms, mine: Sequence[Package]) -> bool | None:
    """Whether the last offer is better than the least the user would take; None when either is unknown."""
    least = None if terms.unvalued else utility_floor(terms)
    if least is None or not mine:
        return None
    return package_utility(terms.preferences, mine[-1]).low > least + MIN_ROOM


def _middle_in_reach(terms: Terms, mine: Sequence[Package], theirs: Sequence[Package]) -> bool | None:
    """Whether the middle between the last offers, in utility, is at least the least the user would take."""
    least = None if terms.unvalued else utility_floor(terms)
    if least is None or not mine or not theirs:
        return None
    return (_middle(terms, mine[-1]) + _middle(terms, theirs[-1])) / 2.0 >= least


def _names_one(terms: Terms, fact: str) -> bool | None:
    """True when an issue's name contains a word of the fact, else None: an unlisted issue may be open too."""
    named = (f"{issue.name} {issue.label}".lower().replace("_", " ") for issue in terms.issues)
    return True if any(word in name for name in named for word in OPEN_POINT_WORDS[fact]) else None


def _priorities_differ(terms: Terms) -> bool | None:
    given = [issue.their_weight for issue in terms.issues if issue.their_weight is not None]
    if len(terms.issues) < 2 or len(given) < len(terms.issues) or sum(given) <= 0:
        return None
    pairs = zip(terms.issues, given, strict=True)
    return sum(abs(issue.weight - w / sum(given)) for issue, w in pairs) / 2 > MIN_PRIORITY_DIFFERENCE


def _strong(terms: Terms) -> bool | None:
    batna = None if terms.unvalued else terms.certain
    if batna is None and not terms.unvalued:
        batna = utility_of_alternative(terms.preferences, terms.batna)
    if batna is None or terms.target is None:
        return None
    return alternative_strength(terms.preferences, batna, terms.target) >= STRONG_ALTERNATIVE_SHARE


def _power(leverage: Leverage | None) -> float | None:
    """The split of power; None when no fact of any factor is known."""
    if leverage is None or len(leverage.power.missing) >= 2 * len(FACTOR_NAMES):
        return None
    return leverage.power.alpha


def _gap(terms: Terms, mine: Sequence[Package], theirs: Sequence[Package]) -> float | None:
    """The share of the distance between the sides' first offers that is left, in the user's utility."""
    if not mine or not theirs or terms.unvalued:
        return None
    first = _middle(terms, mine[0]) - _middle(terms, theirs[0])
    last = _middle(terms, mine[-1]) - _middle(terms, theirs[-1])
    return min(1.0, max(0.0, last / first)) if first > 0 else None


def _middle(terms: Terms, package: Package) -> float:
    return package_utility(terms.preferences, package).middle


def _pressure(deadline: int | None, now: int) -> float | None:
    days = days_left(deadline, now)
    return None if days is None else HALF_PRESSURE_DAYS / (HALF_PRESSURE_DAYS + days)


def _last_move(leverage: Leverage | None) -> Any:
    moves = leverage.concessions if leverage else None
    return moves.them.steps[-1].kind if moves and moves.them.steps else None


def _finals_moved(leverage: Leverage | None) -> int | None:
    if leverage is None:
        return None
    signs = [s for s in leverage.signals if s.by == "them" and s.name == "moved_after_final"]
    return sum(len(sign.evidence) for sign in signs)
