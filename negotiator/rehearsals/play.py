"""Plays a rehearsal: starts one, and lets the counterpart answer a turn of the user's. Nothing is stored here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from negotiator.advice.hearing.figures import Told
from negotiator.advice.hearing.hear import LIKELY, Heard, HeardFigure, hear
from negotiator.advice.hearing.named_terms import named_values
from negotiator.base import values
from negotiator.base.errors import Conflict, FieldError, ValidationFailed
from negotiator.base.search_terms import split_words
from negotiator.rehearsals.counterpart.latent import draw_counterpart
from negotiator.rehearsals.counterpart.person import (
    Hardness,
    Moment,
    PersonAnswer,
    PersonKind,
    PersonMemory,
    Turn,
    answer,
)
from negotiator.rehearsals.counterpart.remarks import remarks_in
from negotiator.rehearsals.counterpart.sentences import case_kind, sentence
from negotiator.rehearsals.stored import (
    RehearsalState,
    RehearsalTurn,
    Side,
    StoredRehearsal,
    TurnAction,
    canonical_package,
)
from negotiator.terms.issues import Issue, Package, Scalar, check_value, same_value
from negotiator.terms.short_forms import read_package
from negotiator.terms.terms import Terms
from negotiator.terms.utility import check_package, without_ranges
from negotiator.terms.wording import Wording

SHORTEST_LABEL_WORD: Final = 4
_WHICH: Final = frozenset({"which", "most"})
"""Words of a question about all issues."""
RESTS: Final = (", the rest as before", ", with the rest unchanged", ", and the rest stays")
MAX_TURNS: Final = 80
"""Turns of both sides; nobody's patience lasts as long."""


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """What the user does in one turn."""

    action: TurnAction
    package: Package | Scalar | None = None
    text: str = ""


def start_rehearsal(
    negotiation: str,
    terms: Terms,
    *,
    kind: PersonKind,
    hardness: Hardness,
    seed: int,
    key: str,
    offered: Package | None,
) -> StoredRehearsal:
    """A rehearsal that begins; 409 `missing_inputs` where nothing says what the other side might want.

    `key` is what the counterpart is drawn from; whoever knows it could draw the same. `offered` is what the other side
    really has on the table.
    """
    person = draw_counterpart(terms, kind, key, hardness=hardness, offered=offered)
    if person is None:
        raise Conflict(
            "To rehearse, the counterpart needs something to want: give an issue its range or options, or estimate "
            "the price at which the other side would walk away.",
            error="missing_inputs",
            members={"missing": ["issues/0/range", "their_estimate/walk_away"]},
        )
    now = values.now()
    begun = StoredRehearsal(
        id=values.new_id("reh"),
        negotiation=negotiation,
        seed=seed,
        state="running",
        terms=terms,
        person=person,
        memory=PersonMemory(),
        turns=(),
        result={},
        revision=1,
        created_at=now,
        updated_at=now,
    )
    return _answered(begun, Turn(), now)


def take_turn(rehearsal: StoredRehearsal, turn: OwnTurn) -> StoredRehearsal:
    """The rehearsal after a turn of the user's and the counterpart's answer.

    409 `rehearsal_over` after its end, and `nothing_to_accept`; 422 for an offer that the issues do not allow.
    """
    if rehearsal.state != "running":
        raise Conflict(
            "This rehearsal is over; read its debrief, or start another one.",
            error="rehearsal_over",
            members={"state": rehearsal.state},
        )
    now = values.now()
    match turn.action:
        case "accept":
            return _accepted(rehearsal, turn, now)
        case "leave":
            spoken = _spoken(rehearsal, turn, now, None)
            return replace(_with(rehearsal, spoken, now), state="left_by_me")
        case "offer":
            package = _checked(rehearsal, turn)
        case "say":
            package = _heard_offer(rehearsal, turn.text)
        case "wait":
            package = None
    whole = None if package is None else {**_standing(rehearsal), **package}
    made = turn if package is None else replace(turn, action="offer")
    spoken = _spoken(rehearsal, made, now, whole)
    heard = Turn(
        package,
        frozenset(spoken.remarks),
        silent=turn.action == "wait",
        about=_issue_named(rehearsal.terms, turn.text),
        wonders=_wondered(rehearsal.terms, turn),
    )
    return _answered(_with(rehearsal, spoken, now), heard, now)


def _accepted(rehearsal: StoredRehearsal, turn: OwnTurn, now: int) -> StoredRehearsal:
    theirs = last_offer(rehearsal, "them")
    if theirs is None:
        raise Conflict("They have made no offer yet.", error="nothing_to_accept")
    spoken = _spoken(rehearsal, turn, now, theirs)
    return replace(_with(rehearsal, spoken, now), state="agreed")


def _spoken(rehearsal: StoredRehearsal, turn: OwnTurn, now: int, package: Package | None) -> RehearsalTurn:
    return RehearsalTurn(
        number=len(rehearsal.turns) + 1,
        at=now,
        by="me",
        action=turn.action,
        package=package,
        said=turn.text,
        remarks=tuple(sorted(remarks_in(turn.text))),
    )


def _with(rehearsal: StoredRehearsal, turn: RehearsalTurn, now: int) -> StoredRehearsal:
    return replace(rehearsal, turns=(*rehearsal.turns, turn), updated_at=now, worded_by="engine")


def _answered(rehearsal: StoredRehearsal, turn: Turn, now: int) -> StoredRehearsal:
    """The counterpart's answer, with its words, and the state it leads to."""
    given, memory = answer(rehearsal.person, rehearsal.memory, turn, rounds_left=_rounds_left(rehearsal))
    if given.action != "accept" and len(rehearsal.turns) + 1 >= MAX_TURNS:
        given = PersonAnswer("leave", "leaves_patience")
    states: Mapping[str, RehearsalState] = {"accept": "agreed", "leave": "left_by_them"}
    package = None if given.package is None else {**_standing(rehearsal), **given.package}
    spoken = RehearsalTurn(
        number=len(rehearsal.turns) + 1,
        at=now,
        by="them",
        action=given.action,
        package=package,
        said=_words(rehearsal, given),
        final=given.claimed_final,
        withdraws=given.withdraws,
        ploy=given.ploy,
    )
    after = replace(rehearsal, memory=memory, state=states.get(given.action, "running"))
    return _with(after, spoken, now)


def _rounds_left(rehearsal: StoredRehearsal) -> int | None:
    """Further offers of the user's after the present one, where the negotiation has a number of rounds."""
    most = rehearsal.terms.max_rounds
    if most is None:
        return None
    made = sum(turn.by == "me" and turn.action == "offer" for turn in rehearsal.turns)
    return max(0, most - made)


def _checked(rehearsal: StoredRehearsal, turn: OwnTurn) -> Package:
    """The package with canonical values; 422 where it is missing, or names no value of an issue."""
    terms = rehearsal.terms
    package, found = read_package(terms, turn.package)
    if not package and not found:
        raise ValidationFailed([FieldError("/package", "An offer names a value of an issue.")])
    if found := found or check_package(without_ranges(terms.issues), package):
        raise ValidationFailed(found)
    return canonical_package(terms, package)


def _heard_offer(rehearsal: StoredRehearsal, text: str) -> Package | None:
    made = [turn for turn in rehearsal.turns if turn.action == "offer"]
    mine, theirs = (tuple(one.package for one in made if one.by == side and one.package) for side in ("me", "them"))
    return offer_in(rehearsal.terms, text, mine=mine, theirs=theirs) or None


def _standing(rehearsal: StoredRehearsal) -> dict[str, Scalar]:
    """What the user's next offer leaves out stays as they named it before, else as the other side named it."""
    theirs = last_offer(rehearsal, "them") or {}
    return {**theirs, **(last_offer(rehearsal, "me") or {})}


def last_offer(rehearsal: StoredRehearsal, side: Side) -> Package | None:
    """What a side has on the table."""
    made = (
        turn.package
        for turn in reversed(rehearsal.turns)
        if turn.by == side and turn.action == "offer" and turn.package is not None
    )
    return next(made, None)


def outcome(rehearsal: StoredRehearsal) -> Package | None:
    return rehearsal.turns[-1].package if rehearsal.state == "agreed" else None


def last_words(rehearsal: StoredRehearsal) -> str:
    """The counterpart's last sentence; its farewell where the user ended the talk."""
    last = rehearsal.turns[-1]
    if last.by == "them":
        return last.said
    moment: Moment = "accepts" if rehearsal.state == "agreed" else "hears_leaving"
    return _sentence(rehearsal, moment, {}, [])


def _sentence(rehearsal: StoredRehearsal, moment: Moment, slots: Mapping[str, str], avoid: Sequence[str]) -> str:
    return sentence(
        moment,
        style=rehearsal.person.style,
        case=case_kind(rehearsal.terms),
        draw=f"{rehearsal.person.key} {len(rehearsal.turns)} {moment}",
        slots=slots,
        avoid=avoid,
    )


def _wondered(terms: Terms, turn: OwnTurn) -> Package | None:
    """The values other than money that a question names: "what would you need for 24 months?"."""
    if turn.action != "say" or "?" not in turn.text:
        return None
    named = named_values(terms.issues, turn.text)
    kinds = {issue.name: issue.type for issue in terms.issues}
    return {name: value for name, value in named.items() if kinds[name] != "money"} or None


def _issue_named(terms: Terms, text: str) -> str | None:
    """The issue that a text is about, by the words of its label and unit; None where it asks about all of them."""
    said, words = set(split_words(text)), Wording(terms)
    if _WHICH & said:
        return None
    best: Issue | None = None
    share = 0.0
    for issue in terms.issues:
        label = [*split_words(words.label(issue)), *split_words(issue.unit or "")]
        own = [word for word in label if len(word) >= SHORTEST_LABEL_WORD]
        found = sum(word in said for word in own) / len(own) if own else 0.0
        is_price = best is not None and best.type == "money"
        if found > share or (found == share > 0 and is_price):
            best, share = issue, found
    return None if best is None else best.name


def _words(rehearsal: StoredRehearsal, given: PersonAnswer) -> str:
    """What the counterpart says; a question or a reason that came with the user's offer is answered first."""
    about = rehearsal.terms.issue(given.about or "") or rehearsal.person.interests.heaviest().issue
    slots = {
        "offer": "" if given.package is None else _offer_words(rehearsal, given.package),
        "issue": Wording(rehearsal.terms).short_label(about),
    }
    said = [turn.said for turn in rehearsal.turns if turn.by == "them"]
    moments: list[Moment] = [given.moment] if given.beside is None else [given.beside, given.moment]
    return " ".join(_sentence(rehearsal, moment, slots, said) for moment in moments)


def _offer_words(rehearsal: StoredRehearsal, package: Package) -> str:
    """The package in words; after their first offer only what changed, what they give first."""
    words, before = Wording(rehearsal.terms), last_offer(rehearsal, "them")
    if before is None:
        return words.package(package, with_total=False)
    given: dict[str, Scalar] = {}
    taken: dict[str, Scalar] = {}
    for stake in rehearsal.person.interests.stakes:
        name = stake.name
        if not same_value(stake.issue.type, package[name], before.get(name)):
            part = given if stake.worth(package[name]) < stake.worth(before[name]) else taken
            part[name] = package[name]
    if not given:
        return words.package(package, with_total=False)
    changed = {**given, **taken}
    rest = RESTS[len(rehearsal.turns) // 2 % len(RESTS)] if len(changed) < len(package) else ""
    return f"{words.package(changed, with_total=False)}{rest}"


def offer_in(terms: Terms, text: str, *, mine: tuple[Package, ...] = (), theirs: tuple[Package, ...] = ()) -> Package:
    """The values that the user offers in a text, the last of each issue; empty where none is offered."""
    turned = tuple(replace(one, direction="lower" if one.direction == "higher" else "higher") for one in terms.issues)
    heard = hear(text, Told(turned, theirs, mine, terms.currency, "call"))
    named = {
        one.issue: one.value
        for one in heard.figures
        if one.kind == "mine" and one.issue and one.value is not None and _is_taken(heard, one)
    }
    for offer in heard.offers:
        named |= offer.package if offer.chance >= LIKELY else {}
    return {
        issue.name: named[issue.name]
        for issue in terms.issues
        if issue.name in named and not check_value(issue, named[issue.name], "/package")
    }


def _is_taken(heard: Heard, figure: HeardFigure) -> bool:
    """Whether the sentence that repeats a figure of the other side agrees to it."""
    acts = {act.name for act in heard.acts if figure.quote in act.quote}
    return bool(acts & {"yes", "offer"}) and not acts & {"ask", "claim"}
