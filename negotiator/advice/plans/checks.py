"""Checks of every generated plan. A plan that fails one is a fault of the engine and is not returned."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import pairwise
from typing import Any, Final, TypeGuard, cast

from negotiator.advice.concession.aims import Aims
from negotiator.advice.plans.basis import PlanBasis
from negotiator.advice.plans.brief import package_figures
from negotiator.numbers.read import normalise_text, number_readings, numbers_in
from negotiator.terms.issues import Package, worth_of
from negotiator.terms.limits import allowed_by, private_numbers

PlanPlace = tuple[str | int, ...]

SOURCE_KINDS: Final = ("session", "offer", "leverage", "memory", "benchmark", "engine")
OUTWARD_PLACES: Final = (
    ("walk_away_script",),
    ("script", "*"),
    ("questions", "*", "question"),
    ("tactics", "*", "line"),
    ("objections", "*", "reply"),
    ("trades", "*", "say"),
    ("allowed_trades", "*", "say"),
    ("concession_schedule", "*", "say"),
    ("branches", "*", "say"),
)
"""The members of a plan that contain sentences for the other side; `*` stands for any index or name."""
TOLERANCE: Final = 1e-9
_CATALOGUE: Final = frozenset({"why", "when", "line", "how", "name"})
_IDS: Final = "memories"
_NAMES: Final = frozenset({"source", "tactic_id", "link", "missing", "issue", "op", "title", "case"})
_OF_OTHER_ENGINES: Final = (("leverage", "summary"), ("information_gaps", "*", "why"), ("expected", "words"))
"""Sentences that leverage and next move say as well; their figures are checked there."""


class BrokenPlan(Exception):
    """A plan fails one of the checks."""


def check_plan(plan: dict[str, Any], basis: PlanBasis) -> None:
    """Raise `BrokenPlan` for a package beyond a limit, a path that does not fall on an issue or in the whole, a number
    without a source, or a private number in a sentence for the other side.
    """
    _check_packages(basis)
    _check_schedule(basis)
    _check_prices(plan)
    _check_figures(plan)
    _check_sentences(plan, basis)
    _check_outward(plan, basis)


def outward_texts(plan: dict[str, Any]) -> Iterator[tuple[PlanPlace, str]]:
    """The sentences of a plan for the other side, each with its place (the members and indexes that lead to it)."""
    for place, text in texts_in(plan):
        if any(_fits(place, pattern) for pattern in OUTWARD_PLACES):
            yield place, text


def texts_in(plan: Any) -> Iterator[tuple[PlanPlace, str]]:
    """Every text of a plan with its place; the members of figures are not included."""
    return ((place, leaf) for place, leaf in _leaves(plan) if isinstance(leaf, str))


def figures_in(plan: Any) -> Iterator[dict[str, Any]]:
    """Every figure of a plan."""
    return (leaf for _, leaf in _leaves(plan) if _is_figure(leaf))


def _is_figure(part: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(part, dict) and set(cast(dict[str, Any], part)) == {"value", "source"}


def _leaves(part: Any, place: PlanPlace = ()) -> Iterator[tuple[PlanPlace, Any]]:
    """Every figure, as a whole, and every other value of a plan, with its place."""
    if isinstance(part, dict) and not _is_figure(part):
        for name, value in cast(dict[str, Any], part).items():
            yield from _leaves(value, (*place, name))
    elif isinstance(part, list):
        for n, item in enumerate(cast(list[Any], part)):
            yield from _leaves(item, (*place, n))
    else:
        yield place, part


def _packages(basis: PlanBasis) -> list[Package]:
    """Every package that the plan proposes."""
    found: list[Package] = []
    for step in basis.offers:
        found += [step.package, *step.alternatives]
    return [*found, *(trade.after for trade in basis.trades)]


def _check_packages(basis: PlanBasis) -> None:
    if basis.path is None:
        return
    aims = basis.path.aims
    for package in _packages(basis):
        if not aims.is_acceptable(package):
            raise BrokenPlan(f"a package breaks a limit: {package}")
    for trade in basis.path.allowed:
        if not allowed_by(aims.terms, trade.package):
            raise BrokenPlan(f"a trade passes a limit that it may not pass: {trade.package}")


def _check_schedule(basis: PlanBasis) -> None:
    if basis.path is None:
        return
    levels = [step.utility for step in basis.offers]
    if any(b >= a for a, b in pairwise(levels)):
        raise BrokenPlan("the schedule does not fall")
    given = [step.given for step in basis.path.steps]
    if any(one > given[0] + TOLERANCE for one in given) or any(one <= 0 for one in given):
        raise BrokenPlan("a step of the schedule is larger than the first")
    if any(level < basis.path.aims.floor - TOLERANCE for level in levels):
        raise BrokenPlan("the schedule crosses the floor")
    for before, after in pairwise(step.package for step in basis.offers):
        if taken := _taken_back(basis.path.aims, before, after):
            raise BrokenPlan(f"the schedule takes back {taken}")


def _taken_back(aims: Aims, before: Package, after: Package) -> list[str]:
    """The issues on which a package is better for the user than the one before."""
    return [
        issue.name
        for issue in aims.terms.issues
        if (worth_of(issue, after[issue.name]) or 0.0) > (worth_of(issue, before[issue.name]) or 0.0) + TOLERANCE
    ]


def _check_prices(plan: dict[str, Any]) -> None:
    for row in plan["allowed_trades"]:
        if row["cost"] is None and row["priced"]:
            raise BrokenPlan(f"a trade beyond a limit has no price: {row['words']}")


def _check_figures(plan: dict[str, Any]) -> None:
    """Raise for a figure without a known kind of source, and for a number that is no figure."""
    for place, leaf in _leaves(plan):
        if _is_figure(leaf):
            kind, _, rest = str(leaf["source"]).partition(":")
            if kind not in SOURCE_KINDS or not rest:
                raise BrokenPlan(f"{place} has the source {leaf['source']!r}")
        elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
            raise BrokenPlan(f"{place} is a number without a source")


def _check_sentences(plan: dict[str, Any], basis: PlanBasis) -> None:
    """Raise when a sentence has a number that is neither in a figure nor in a text of the brief."""
    values = [one["value"] for one in figures_in(plan)]
    known = number_readings([*values, *_engine_texts(basis)])
    known |= {abs(value) for value in known}
    given = _given_words(basis, values)
    for place, text in texts_in(plan):
        head, tail = place[0], place[-1]
        catalogue = head in {"tactics", "their_tactics"} and tail in _CATALOGUE
        if catalogue or tail in _NAMES or _IDS in place or head == "sources":
            continue
        if any(_fits(place[: len(pattern)], pattern) for pattern in _OF_OTHER_ENGINES):
            continue
        for number in numbers_in(normalise_text(_masked(text, given))):
            if not number.in_words and not number.readings & known:
                raise BrokenPlan(f"{place} has a number without a source: {text!r}")


def _engine_texts(basis: PlanBasis) -> list[str]:
    """Totals, the baseline as a price, and the ends of the path where the user named no limit: their numbers come from
    the issues' values.
    """
    found: list[str] = []
    price, baseline = basis.terms.price, basis.terms.baseline
    if price is not None and baseline is not None and baseline.value is not None:
        found.append(basis.words.value(price, baseline.value))
    for package in (*_packages(basis), basis.aim_package):
        total = basis.words.total(package)
        found += [total.text, total.assumption] if total else []
    if basis.path is not None:
        found += [basis.words.value(aim.issue, aim.values[-1]) for aim in basis.path.aims.issues]
    return found


def _check_outward(plan: dict[str, Any], basis: PlanBasis) -> None:
    terms, brief = basis.terms, basis.brief
    packages = [*(row.package for row in brief.ledger), *_packages(basis)]
    if basis.path is not None:
        packages += [trade.package for trade in basis.path.allowed]
        packages += [{trade.allowed.issue: trade.allowed.to} for trade in basis.path.allowed]
        packages += [trade.allowed.in_return for trade in basis.path.allowed]
    said = [figure["value"] for package in packages for figure in package_figures(terms, package, "").values()]
    totals = [total.text for one in packages if (total := basis.words.total(one)) is not None]
    public = number_readings([*said, *totals, *(mark.value for mark in brief.benchmarks if mark.public)])
    hidden = private_numbers(terms) - public
    given = _given_words(basis, said)
    for place, text in outward_texts(plan):
        found = numbers_in(normalise_text(_masked(text, given)))
        secret = [one for one in found if one.readings & hidden and not one.readings & public]
        if any(not one.in_words for one in secret):
            raise BrokenPlan(f"{place} reveals a private number")
        tactic = place[0] == "tactics"
        if not tactic and any(not n.in_words and not n.readings & public for n in found):
            raise BrokenPlan(f"{place} has a number that is not public: {text!r}")


def _given_words(basis: PlanBasis, values: Iterable[object]) -> list[str]:
    """Texts of the brief, and named options among `values`, that contain numbers; longest first."""
    brief, terms, found = basis.brief, basis.brief.terms, list[str]()
    for issue in terms.issues:
        found += [issue.name, issue.label, issue.unit or "", basis.words.label(issue)]
        found += [one.of for one in issue.multiples]
        found += [basis.words.value(issue, option.value) for option in issue.options
                  if any(map(str.isalpha, str(option.value)))]  # fmt: skip
    found += [terms.title, terms.category, terms.kind, terms.authority.approver or "", basis.words.them]
    found += [str(value) for value in asdict(terms.other_party).values() if value] if terms.other_party else []
    found += [v for v in values if isinstance(v, str) and any(map(str.isalpha, v))]
    found += [note.text for note in brief.memories]
    found += [text for mark in brief.benchmarks for text in (mark.label, mark.value)]
    found += [text for lead in brief.alternatives for text in (lead.name, lead.why)]
    found += brief.leverage.assumptions if brief.leverage else ()
    return sorted({text for text in found if any(c.isnumeric() for c in text)}, key=len, reverse=True)


def _masked(text: str, given: list[str]) -> str:
    """The text without the given texts; a number is only removed whole, not from within a longer one."""
    for words in given:
        before = r"(?<![\d.,])" if words[0].isnumeric() else ""
        after = r"(?!\d|[.,]\d)" if words[-1].isnumeric() else ""
        if words.lower() in text.lower():
            pattern = before + re.escape(words) + after
            text = re.sub(pattern, " · ", text, flags=re.IGNORECASE)
    return text


def _fits(place: PlanPlace, pattern: tuple[str, ...]) -> bool:
    return len(place) == len(pattern) and all(
        wanted in {"*", part} for part, wanted in zip(place, pattern, strict=True)
    )
