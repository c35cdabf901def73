"""The catalogue: built-in tactics, read from package data and checked once, and the user's own tactics."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeGuard, cast

from pydantic import TypeAdapter

from negotiator.advice.tactics.facts import FACTS
from negotiator.advice.tactics.tactic import FAMILIES, OPERATORS, Operator, Owner, Tactic, TacticClause, TacticCondition

_Raw = Mapping[str, Any]
_TACTIC = TypeAdapter(Tactic)


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
    works = tomllib.loads(here.joinpath("sources.toml").read_text("utf-8"))
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
    try:
        clauses = {name: [parse_clause(one) for one in raw.get(name, ())] for name in ("use_when", "avoid_when")}
        tests = [parse_condition(one) for one in raw.get("preconditions", ())]
        return _TACTIC.validate_python({**raw, **clauses, "preconditions": tests, "owner": owner})
    except ValueError as error:
        raise ValueError(f"tactic {raw.get('id', '?')}: {error}") from error


def parse_clause(item: str | _Raw) -> TacticClause:
    """A reason in words, or one with a condition; ValueError as for `parse_condition`."""
    if isinstance(item, str):
        return TacticClause(item)
    test = {key: value for key, value in item.items() if key != "text"}
    return TacticClause(str(item["text"]), parse_condition(test) if test else None)


def parse_condition(item: _Raw) -> TacticCondition:
    """A condition with one fact, exactly one operator for its kind, and a value that the fact can have.

    Raises ValueError for any other.
    """
    if "fact" not in item:
        raise ValueError("fact is missing")
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
