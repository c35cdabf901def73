"""The catalogue: built-in tactics, read from package data and checked once, and the user's own tactics."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeGuard, TypeVar, cast, get_args

from negotiator.advice.tactics.facts import FACTS
from negotiator.advice.tactics.tactic import (
    FAMILIES,
    OPERATORS,
    PHASES,
    ROLES,
    Ethics,
    Gain,
    Grade,
    Operator,
    Owner,
    SeenIn,
    Size,
    Tactic,
    TacticClause,
    TacticCondition,
    TacticEffect,
    TacticLine,
    TacticSource,
    TacticStats,
)

_Word = TypeVar("_Word", bound=str)
_Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TacticCatalogue:
    """Tactics by id, in a stable order, with their counters linked both ways."""

    tactics: tuple[Tactic, ...]
    by_id: Mapping[str, Tactic] = field(repr=False)

    def get(self, tactic_id: str) -> Tactic | None:
        """The tactic with this id, or None."""
        return self.by_id.get(tactic_id)

    def with_own(self, own: Iterable[Tactic]) -> "TacticCatalogue":
        """The catalogue with the user's own tactics. Raises ValueError when an id is taken.

        References of an own tactic to a deleted one are dropped, so that deleting one tactic does not make others
        unusable.
        """
        added = tuple(own)
        if not added:
            return self
        known = {tactic.id for tactic in (*self.tactics, *added)}
        return _joined((*self.tactics, *(_without_dangling(tactic, known) for tactic in added)))


@cache
def built_in_catalogue() -> TacticCatalogue:
    """The built-in catalogue. Raises ValueError for the first entry that violates the schema."""
    here = files(__package__ or __name__)
    works = {
        key: TacticSource(**work)
        for key, work in tomllib.loads(here.joinpath("sources.toml").read_text("utf-8")).items()
    }
    tactics: list[Tactic] = []
    for family in FAMILIES:
        page = here.joinpath("built_in", f"{family}.toml").read_text("utf-8")
        for raw in cast("list[dict[str, Any]]", tomllib.loads(page)["tactic"]):
            cited = [works[key] for key in raw["sources"]]
            tactics.append(parse_tactic({**raw, "family": family, "sources": cited}))
    return _joined(tactics)


def parse_tactic(raw: _Raw, *, owner: Owner = "catalogue") -> Tactic:
    """A tactic from a mapping in the schema of `built_in/*.toml`.

    Raises ValueError for a missing `id`, `name`, `family`, `summary` or `effect`, an unknown member, fact or operator,
    a word outside its enumeration, or a risk outside 0 to 3.
    """
    tactic_id = str(raw.get("id", "?"))
    try:
        return _parsed(raw, owner)
    except KeyError as missing:
        raise ValueError(f"tactic {tactic_id}: {missing.args[0]} is missing") from missing
    except (TypeError, ValueError) as error:
        raise ValueError(f"tactic {tactic_id}: {error}") from error


def _parsed(raw: _Raw, owner: Owner) -> Tactic:
    if unknown := set(raw) - _MEMBERS:
        raise ValueError(f"unknown members {sorted(unknown)}")
    effect = raw["effect"]
    risk = raw.get("risk", 0)
    if isinstance(risk, bool) or not isinstance(risk, int) or not 0 <= risk <= 3:
        raise ValueError("risk must be a whole number from 0 to 3")
    return Tactic(
        id=str(raw["id"]),
        name=str(raw["name"]),
        family=_one_of(raw["family"], FAMILIES),
        summary=str(raw["summary"]),
        effect=TacticEffect(
            on=_one_of(effect["on"], _args(Gain)),
            size=_one_of(effect["size"], _args(Size)),
            evidence=_one_of(effect["evidence"], _args(Grade)),
        ),
        aliases=_texts(raw, "aliases"),
        use_when=tuple(_clause(item) for item in raw.get("use_when", ())),
        avoid_when=tuple(_clause(item) for item in raw.get("avoid_when", ())),
        preconditions=tuple(_condition(item) for item in raw.get("preconditions", ())),
        steps=_texts(raw, "steps"),
        lines=tuple(TacticLine(_one_of(line["role"], ROLES), str(line["text"])) for line in raw.get("lines", ())),
        counter_to=_texts(raw, "counter_to"),
        countered_by=_texts(raw, "countered_by"),
        risk=risk,
        ethics=_one_of(raw.get("ethics", "fine"), _args(Ethics)),
        legality_notes=str(raw.get("legality_notes", "")),
        roles=tuple(_one_of(role, ROLES) for role in raw.get("roles", ("party",))),
        phases=tuple(_one_of(phase, PHASES) for phase in raw.get("phases", PHASES)),
        seen_in=_one_of(raw.get("seen_in", "talk"), _args(SeenIn)),
        sources=tuple(_source(work) for work in raw.get("sources", ())),
        owner=owner,
        stats=TacticStats(**raw["stats"]) if raw.get("stats") else None,
    )


_MEMBERS = set(Tactic.__dataclass_fields__) - {"owner"}


def _args(literal: Any) -> tuple[Any, ...]:
    return get_args(literal)


def _one_of(value: object, allowed: Sequence[_Word]) -> _Word:
    for word in allowed:
        if word == value:
            return word
    raise ValueError(f"{value!r} is not one of {', '.join(allowed)}")


def _texts(raw: _Raw, member: str) -> tuple[str, ...]:
    items = raw.get(member, ())
    if isinstance(items, str):
        raise TypeError(f"{member} must be a list")
    return tuple(str(item) for item in items)


def _source(work: TacticSource | _Raw) -> TacticSource:
    return work if isinstance(work, TacticSource) else TacticSource(**work)


def _clause(item: str | _Raw) -> TacticClause:
    if isinstance(item, str):
        return TacticClause(item)
    test = {key: value for key, value in item.items() if key != "text"}
    return TacticClause(str(item["text"]), _condition(test) if test else None)


def _condition(item: _Raw) -> TacticCondition:
    """A condition with one fact, exactly one operator for its kind, and a value that the fact can have."""
    fact = FACTS.get(item["fact"])
    operators: list[Operator] = [name for name in OPERATORS if item.get(name) is not None]
    if fact is None or len(operators) != 1 or len(item) != 2:
        raise ValueError(f"condition {dict(item)} needs a known fact and one operator")
    operator = operators[0]
    value: object = item[operator]
    if operator == "is" and fact.kind == "flag" and isinstance(value, bool):
        return TacticCondition(item["fact"], operator, value)
    if operator == "in" and fact.kind in {"word", "set"} and isinstance(value, list | tuple):
        words = tuple(str(word) for word in cast("Sequence[object]", value))
        if not fact.values or set(words) <= set(fact.values):
            return TacticCondition(item["fact"], operator, words)
    bound: object = item[operator]
    if operator in {"at_least", "at_most"} and fact.kind == "number" and _is_number(bound):
        return TacticCondition(item["fact"], operator, bound)
    raise ValueError(f"condition {dict(item)} does not suit a {fact.kind} fact")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _joined(tactics: Sequence[Tactic]) -> TacticCatalogue:
    """A catalogue with the counter relation completed both ways; ValueError for a duplicate or unknown id."""
    by_id = {tactic.id: tactic for tactic in tactics}
    if len(by_id) != len(tactics):
        seen = [tactic.id for tactic in tactics]
        raise ValueError(f"ids used twice: {sorted({one for one in seen if seen.count(one) > 1})}")
    answers = {tactic.id: dict.fromkeys(tactic.countered_by) for tactic in tactics}
    answered = {tactic.id: dict.fromkeys(tactic.counter_to) for tactic in tactics}
    for tactic in tactics:
        named = (*tactic.countered_by, *tactic.counter_to)
        if tactic.owner == "catalogue":
            named += tuple(_ids_in_conditions(tactic))
        for other in named:
            if other not in by_id:
                raise ValueError(f"tactic {tactic.id}: {other} is not in the catalogue")
        for answer in tactic.countered_by:
            answered[answer].setdefault(tactic.id)
        for move in tactic.counter_to:
            answers[move].setdefault(tactic.id)
    linked = tuple(replace(t, countered_by=tuple(answers[t.id]), counter_to=tuple(answered[t.id])) for t in tactics)
    return TacticCatalogue(linked, {tactic.id: tactic for tactic in linked})


def _without_dangling(tactic: Tactic, known: set[str]) -> Tactic:
    return replace(
        tactic,
        countered_by=tuple(one for one in tactic.countered_by if one in known),
        counter_to=tuple(one for one in tactic.counter_to if one in known),
    )


def _ids_in_conditions(tactic: Tactic) -> Iterable[str]:
    tests = [*tactic.preconditions]
    tests += [clause.condition for clause in (*tactic.use_when, *tactic.avoid_when) if clause.condition]
    for test in tests:
        if test.fact == "facing" and isinstance(test.value, tuple):
            yield from test.value
