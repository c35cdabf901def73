"""`make bench-strategy`: rank the next-move engine against public negotiators, regime by regime.

    python -m tests.bench.negotiation.strategy [--advisor MODULE:FUNCTION] [--regimes ...] [--seeds ...] [--quick]

Scenarios are made by seed in `.bench/scenarios`. Prints Markdown: one table over the regimes, with the standard error
over talks, then one ranking a regime. `--advisor tests.bench.negotiation.reference_advisor:advise` is the reference of
docs/benchmarks. `--quick` plays a small part in a minute or two.
"""

import argparse
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.negotiation.harness import ADVISOR, STRONG, AdvisorUse, Rules, TalkResult, make_anl, play_all
from tests.bench.negotiation.strategy_scenarios import FAMILIES, write_shapes

FOLDER: Final = Path(__file__).parents[3] / ".bench/scenarios"
QUICK_POOL: Final = ("BoulwareTBNegotiator", "MiCRONegotiator", "genius:HardHeaded", "genius:Atlas3")
QUICK_SHAPES: Final = ("treaty576", "components180", "barter80", "purchase330", "delivery168")


@dataclass(frozen=True, slots=True)
class Regime:
    """The scenarios of a regime, its rounds, and its floors as the harness names them."""

    scenarios: str
    n_steps: int
    reserve: str


REGIMES: Final = {
    "10-loose": Regime("opposed", 10, "clamp"),
    "10-binding": Regime("opposed", 10, "fraction:0.3"),
    "100-loose": Regime("opposed", 100, "clamp"),
    "100-binding": Regime("opposed", 100, "fraction:0.3"),
    "10-cooperative": Regime("cooperative", 10, "clamp"),
    "100-cooperative": Regime("cooperative", 100, "clamp"),
    "10-ordered": Regime("ordered", 10, "clamp"),
    "100-ordered": Regime("ordered", 100, "clamp"),
    "anl": Regime("anl", 100, "file"),
}
HEADS: Final = (
    *("Regime", "Talks", "Mean advantage ± SE", "Median over seeds", "Other side's", "Deals, %"),
    *("Lead over HardHeaded", "Below own floor", "Deals without room", "Failed calls"),
    *("p95, ms", "Rank correlation of the model"),
)


def main() -> None:
    """Play the regimes asked for and print the tables."""
    options = _options()
    print(f"| {' | '.join(HEADS)} |\n|---{'|---:' * (len(HEADS) - 1)}|")
    rankings: list[str] = []
    for name in options.regimes:
        runs = [_play(REGIMES[name], seed, options) for seed in options.seeds]
        print(_row(name, runs), flush=True)
        rankings.append(_ranking(name, [talk for talks in runs for talk in talks]))
    print("\n".join(rankings))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--advisor", default="tests.bench.negotiation.strategy_advisor:advise")
    parser.add_argument("--pool", nargs="+", default=STRONG)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    parser.add_argument("--regimes", nargs="+", choices=sorted(REGIMES), default=list(REGIMES))
    parser.add_argument("--quick", action="store_true", help="one seed, few scenarios and rivals")
    parser.add_argument("--full", action="store_true", help="rivals also play each other")
    parser.add_argument("--anl", type=int, default=16, help="scenarios per seed for `anl`")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.anl, options.pool = options.seeds[:1], 3, QUICK_POOL
    return options


def _play(regime: Regime, seed: int, options: argparse.Namespace) -> list[TalkResult]:
    """The talks of one regime and seed."""
    family = regime.scenarios
    folder = FOLDER / f"{family}-{seed}"
    if family in FAMILIES:
        names = write_shapes(folder, seed, family)
        chosen = [name for name in names if not options.quick or name in QUICK_SHAPES]
    else:
        folder = folder.with_name(f"{folder.name}-{options.anl}")
        if not folder.exists():
            folder.mkdir(parents=True)
            make_anl(folder, options.anl, seed)
        chosen = sorted(each.name for each in folder.iterdir())
    rules = Rules(options.advisor, regime.n_steps, regime.reserve)
    scenarios = [folder / name for name in chosen]
    return play_all(scenarios, options.pool, seed, rules, jobs=options.jobs, full=options.full)


def _row(name: str, runs: Sequence[Sequence[TalkResult]]) -> str:
    seats = [[(talk, seat) for talk in talks for seat in (0, 1) if talk.names[seat] == ADVISOR] for talks in runs]
    every = [each for part in seats for each in part]
    uses = [talk.uses[seat] for talk, seat in every]
    ranks = [use.rank_correlation for use in uses if use.rank_correlation is not None]
    leads = [
        talk.advantages[seat] - talk.advantages[1 - seat]
        for talk, seat in every
        if "HardHeaded" in talk.names[1 - seat]
    ]
    middle = statistics.median(statistics.fmean(talk.advantages[seat] for talk, seat in part) for part in seats)
    cells = (
        str(len(every)),
        _mean_and_error([talk.advantages[seat] for talk, seat in every]),
        f"{middle:.3f}",
        f"{statistics.fmean(talk.advantages[1 - seat] for talk, seat in every):.3f}",
        f"{100 * statistics.fmean(talk.agreed for talk, _ in every):.0f}",
        f"{statistics.fmean(leads):+.3f}" if leads else "none",
        str(sum(talk.below_floor[seat] for talk, seat in every)),
        str(sum(talk.agreed and not talk.has_room for talk, _ in every)),
        str(sum(use.errors for use in uses)),
        _p95(uses),
        f"{statistics.fmean(ranks):.3f}" if ranks else "none",
    )
    return f"| {name} | {' | '.join(cells)} |"


def _mean_and_error(values: Sequence[float]) -> str:
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{statistics.fmean(values):.3f} ± {error:.3f}"


def _p95(uses: Sequence[AdvisorUse]) -> str:
    """The 95th percentile over talks of a talk's mean answer time, in milliseconds."""
    means = sorted(1000 * use.seconds / use.calls for use in uses if use.calls)
    return f"{means[min(len(means) - 1, int(0.95 * len(means)))]:.1f}" if means else "none"


def _ranking(name: str, talks: Sequence[TalkResult]) -> str:
    """Everyone who played, best mean advantage first.

    Without `--full` rivals meet only the advisor, so their rows rank them against it alone.
    """
    scores: dict[str, list[float]] = {}
    for talk in talks:
        for seat in (0, 1):
            scores.setdefault(talk.names[seat], []).append(talk.advantages[seat])
    lines = [f"\n{name}\n", "| Negotiator | Talks | Mean advantage ± SE |", "|---|---:|---:|"]
    for who, found in sorted(scores.items(), key=lambda pair: -statistics.fmean(pair[1])):
        lines.append(f"| {who} | {len(found)} | {_mean_and_error(found)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
