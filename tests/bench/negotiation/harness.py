"""Plays an advisor against the negotiators of NegMAS (AGPL, so it stays in an environment of its own).

An advisor is a function from one JSON view a turn to `{"action": "accept" | "counter" | "walk_away", "offer": {issue:
value}}`; with `"opponent_utility": {issue: [[value, score]]}` its model of the other side is compared with the truth.
"""

import importlib
import itertools
import json
import math
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from negmas.inout import Scenario
from negmas.preferences import LinearAdditiveUtilityFunction
from negmas.preferences.ops import calc_reserved_value, calc_scenario_stats
from negmas.preferences.value_fun import TableFun
from negmas.sao import ResponseType, SAOMechanism, SAOResponse
from negmas.sao import negotiators as builtin
from negmas.sao.negotiators import SAOCallNegotiator

ADVISOR: Final = "ADVISOR"
STRONG: Final = (
    "BoulwareTBNegotiator",
    "ConcederTBNegotiator",
    "MiCRONegotiator",
    "genius:AgentK",
    "genius:HardHeaded",
    "genius:NiceTitForTat",
    "genius:CUHKAgent",
    "genius:TheFawkes",
    "genius:Atlas3",
    "genius:Caduceus",
    "genius:PonPokoAgent",
    "genius:AgreeableAgent2018",
    "genius:AgentGG",
)
"""Baselines of NegMAS, and finalists of ANAC as `negmas-genius-agents` has them in Python."""
SAMPLED: Final = 300
"""Outcomes over which a model of the other side is ranked."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The advisor as `module:function`, the rounds, and the floors: `file`, `clamp` (not below 0) or `fraction:x`."""

    advisor: str
    n_steps: int
    reserve: str


@dataclass(frozen=True, slots=True)
class AdvisorUse:
    """What the advisor cost in a talk, and the rank correlation of its model with the truth."""

    calls: int
    errors: int
    seconds: float
    rank_correlation: float | None


@dataclass(frozen=True, slots=True)
class TalkResult:
    """A talk; `advantages` are shares of what each side could gain over its floor at most."""

    names: tuple[str, str]
    agreed: bool
    has_room: bool
    advantages: tuple[float, float]
    below_floor: tuple[bool, bool]
    uses: dict[int, AdvisorUse] = field(default_factory=dict)


def load(folder: Path, reserve: str) -> Scenario:
    """A bilateral scenario with utilities in [0, 1]."""
    scenario = Scenario.load(folder, safe_parsing=False, ignore_discount=True)
    if scenario is None or len(scenario.ufuns) != 2:
        raise ValueError(f"{folder} holds no bilateral scenario")
    scenario.ufuns = tuple(standard_form(each, scenario.outcome_space) for each in scenario.ufuns)
    for each in scenario.ufuns:
        value = float(each.reserved_value)
        if reserve.startswith("fraction:"):
            value = float(calc_reserved_value(each, fraction=float(reserve.partition(":")[2])))
        each.reserved_value = value if reserve == "file" else max(0.0, value)
    return scenario


def additive_tables(ufun: Any, issues: Sequence[Any]) -> tuple[float, dict[str, dict[Any, float]]]:
    """A constant and each issue's values from 0, by differences. Raises `ValueError` where they do not add up."""
    base = tuple(next(iter(issue.all)) for issue in issues)
    at_base = float(ufun(base))
    tables = {
        issue.name: {value: float(ufun((*base[:place], value, *base[place + 1 :]))) - at_base for value in issue.all}
        for place, issue in enumerate(issues)
    }
    rng, values = random.Random(0), [list(issue.all) for issue in issues]
    for _ in range(30):
        outcome = tuple(rng.choice(each) for each in values)
        added = sum(tables[i.name][value] for i, value in zip(issues, outcome, strict=True))
        if abs(at_base + added - float(ufun(outcome))) > 1e-6:
            raise ValueError("the utility is not additive")
    lows = {name: min(table.values()) for name, table in tables.items()}
    shifted = {name: {value: worth - lows[name] for value, worth in table.items()} for name, table in tables.items()}
    return at_base + sum(lows.values()), shifted


def standard_form(ufun: Any, space: Any) -> LinearAdditiveUtilityFunction:
    """The same preferences with weights that sum to 1 and values in [0, 1].

    NegMAS 0.16's own `normalize` puts both sides on one common range, or leaves some scenarios outside [0, 1].
    """
    constant, tables = additive_tables(ufun, space.issues)
    tops = {name: max(table.values()) for name, table in tables.items()}
    span = sum(tops.values())
    floor = ufun.reserved_value
    floor = constant if floor is None or not math.isfinite(floor) else float(floor)
    values = {
        name: TableFun({v: x / tops[name] if tops[name] else 0.0 for v, x in table.items()})
        for name, table in tables.items()
    }
    weights = {name: top / span for name, top in tops.items()}
    return LinearAdditiveUtilityFunction(
        values=values, weights=weights, outcome_space=space, name=ufun.name, reserved_value=(floor - constant) / span
    )


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    return value.item() if isinstance(value, np.generic) else value


class AdvisedNegotiator(SAOCallNegotiator):
    """Does what the advisor says, one call a turn; a call that fails costs the turn and is counted."""

    advise: Callable[[dict[str, Any]], dict[str, Any]]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.history: list[dict[str, Any]] = []
        self.model: dict[str, Any] | None = None
        self.calls, self.errors, self.seconds = 0, 0, 0.0
        self._told_preferences: dict[str, Any] | None = None

    def told_preferences(self) -> dict[str, Any]:
        """The advisor's own preferences, part by part."""
        if self._told_preferences is None:
            constant, tables = additive_tables(self.ufun, self.nmi.outcome_space.issues)
            self._told_preferences = {
                "reservation_utility": float(self.reserved_value),
                "constant": constant,
                "part_worths": {
                    name: [[plain(value), worth] for value, worth in table.items()] for name, table in tables.items()
                },
            }
        return self._told_preferences

    def view(self, state: Any) -> dict[str, Any]:
        """What the advisor is told at a turn."""
        issues = self.nmi.outcome_space.issues
        offer = state.current_offer
        return {
            "session_id": self.id,
            "protocol": "alternating_offers",
            "issues": [{"name": i.name, "values": [plain(v) for v in i.all]} for i in issues],
            "my_preferences": self.told_preferences(),
            "progress": {"step": state.step, "n_steps": self.nmi.n_steps, "relative_time": float(state.relative_time)},
            "history": self.history,
            "on_table": None if offer is None else {"offer": self.named(offer), "my_utility": float(self.ufun(offer))},
        }

    def named(self, outcome: Sequence[Any]) -> dict[str, Any]:
        issues = self.nmi.outcome_space.issues
        return {issue.name: plain(value) for issue, value in zip(issues, outcome, strict=True)}

    def record(self, state: Any, by: str, outcome: Sequence[Any]) -> None:
        utility = float(self.ufun(outcome))
        row = {"step": state.step, "by": by, "offer": self.named(outcome), "my_utility": utility}
        self.history.append(row)

    def __call__(self, state: Any, dest: Any = None) -> SAOResponse:
        """The advisor's answer; its best outcome where the advisor fails."""
        issues, current = self.nmi.outcome_space.issues, state.current_offer
        self.told_preferences()
        if current is not None:
            self.record(state, "them", current)
        self.calls += 1
        began = time.perf_counter()
        try:
            answer = type(self).advise(self.view(state))
            self.model = answer.get("opponent_utility") or self.model
            if answer["action"] == "accept" and current is not None:
                return SAOResponse(ResponseType.ACCEPT_OFFER, current)
            if answer["action"] == "walk_away":
                return SAOResponse(ResponseType.END_NEGOTIATION, None)
            offer = tuple(
                next(value for value in issue.all if plain(value) == answer["offer"][issue.name]) for issue in issues
            )
        except Exception:  # the advisor's fault, whatever it is
            self.errors += 1
            offer = self.ufun.best()
        finally:
            self.seconds += time.perf_counter() - began
        self.record(state, "me", offer)
        return SAOResponse(ResponseType.REJECT_OFFER, offer)


def negotiator(name: str, rules: Rules) -> type:
    """The class of a negotiator of the pool, or of the advisor."""
    if name == ADVISOR:
        module, _, function = rules.advisor.partition(":")
        advise = getattr(importlib.import_module(module), function)
        return type("Advised", (AdvisedNegotiator,), {"advise": staticmethod(advise)})
    if name.startswith("genius:"):
        return getattr(importlib.import_module("negmas_genius_agents"), name.removeprefix("genius:"))
    return getattr(builtin, name)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's, over ranks by order; None where one side is constant."""
    ranks = [np.argsort(np.argsort(each)) for each in (first, second)]
    if not all(np.std(each) for each in (first, second)):
        return None
    return float(np.corrcoef(*ranks)[0, 1])


@lru_cache(maxsize=64)
def has_room(folder: Path, reserve: str) -> bool:
    """Whether some outcome gives both sides together more than their floors."""
    scenario = load(folder, reserve)
    floors = [float(each.reserved_value) for each in scenario.ufuns]
    points = calc_scenario_stats(tuple(scenario.ufuns)).pareto_utils
    gains = (sum(max(0.0, value - floor) for value, floor in zip(point, floors, strict=True)) for point in points)
    return max(gains, default=0.0) > 0


def play(folder: Path, names: tuple[str, str], seed: int, rules: Rules) -> TalkResult:
    """One talk."""
    scenario = load(folder, rules.reserve)
    random.seed(seed)
    np.random.seed(seed)
    mechanism = SAOMechanism(
        outcome_space=scenario.outcome_space, n_steps=rules.n_steps, time_limit=None, ignore_negotiator_exceptions=True
    )
    sides = [negotiator(name, rules)(name=name.split(":")[-1]) for name in names]
    for side, ufun in zip(sides, scenario.ufuns, strict=True):
        mechanism.add(side, ufun=ufun)
    mechanism.run()
    deal = mechanism.agreement
    floors = [float(each.reserved_value) for each in scenario.ufuns]
    tops = [float(each.minmax(above_reserve=False)[1]) for each in scenario.ufuns]
    gained = floors if deal is None else [float(each(deal)) for each in scenario.ufuns]
    uses = {
        seat: AdvisorUse(side.calls, side.errors, side.seconds, model_rank(side, scenario, seat))
        for seat, side in enumerate(sides)
        if isinstance(side, AdvisedNegotiator)
    }
    ends = list(zip(gained, floors, tops, strict=True))
    return TalkResult(
        names,
        deal is not None,
        has_room(folder, rules.reserve),
        tuple((got - low) / (high - low) if high > low else 0.0 for got, low, high in ends),
        tuple(deal is not None and got < low - 1e-9 for got, low, _ in ends),
        uses,
    )


def model_rank(side: AdvisedNegotiator, scenario: Scenario, seat: int) -> float | None:
    """How well an advisor's model orders outcomes as the other side does."""
    if not side.model:
        return None
    rng, issues = random.Random(1), scenario.outcome_space.issues
    outcomes = [tuple(rng.choice(list(issue.all)) for issue in issues) for _ in range(SAMPLED)]
    tables = {name: {json.dumps(value): score for value, score in table} for name, table in side.model.items()}
    guessed = [
        sum(tables[i.name][json.dumps(plain(v))] for i, v in zip(issues, outcome, strict=True)) for outcome in outcomes
    ]
    return rank_correlation(guessed, [float(scenario.ufuns[1 - seat](each)) for each in outcomes])


def play_all(
    folders: Sequence[Path], pool: Sequence[str], seed: int, rules: Rules, *, jobs: int, full: bool
) -> list[TalkResult]:
    """Each pair in both orders on each scenario; only those with the advisor unless `full`."""
    pairs = [pair for pair in itertools.product([*pool, ADVISOR], repeat=2) if full or ADVISOR in pair]
    work = [(folder, pair, seed * 1000, rules) for folder in folders for pair in pairs]
    if jobs == 1:
        return list(itertools.starmap(play, work))
    with ProcessPoolExecutor(jobs) as executor:
        size = max(1, len(work) // (jobs * 20))
        return list(executor.map(play, *zip(*work, strict=True), chunksize=size))


def make_anl(folder: Path, count: int, seed: int) -> None:
    """Write scenarios as ANL 2024 draws them."""
    runner: Any = importlib.import_module("anl.anl2024.runner")
    random.seed(seed)
    np.random.seed(seed)
    for number, scenario in enumerate(runner.mixed_scenarios(count, n_outcomes=(900, 1100))):
        scenario.dumpas(folder / f"anl{number:02d}", "yml")
