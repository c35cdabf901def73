"""Rank the next-move engine against the bench harness's strong pool, regime by regime.

    python tests/bench/negotiation/strategy.py HARNESS --advisor URL --token T
    python tests/bench/negotiation/strategy.py HARNESS --advisor strategy_advisor:advise

HARNESS is the path of the harness script. The bench environment (NegMAS is AGPL and stays out of
the product) and the scenarios, made by seed, go to a git-ignored folder. Markdown tables go to
stdout: one over the regimes, with the standard error over talks, then one ranking a regime.
`--quick` plays a small part of it in a minute or two. Nothing is served here.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strategy_scenarios import FAMILIES, write_shapes

HERE = Path(__file__).resolve().parent
PACKAGES = ("negmas==0.16.0", "negmas-genius-agents==0.3.0", "anl==0.1.13", "numpy")
QUICK_POOL = "BoulwareTBNegotiator,MiCRONegotiator,genius:HardHeaded,genius:Atlas3"
QUICK_SHAPES = ("treaty576", "components180", "barter80", "purchase330", "delivery168")


@dataclass(frozen=True, slots=True)
class Regime:
    """A name, the scenarios it plays on, its rounds, and its floors (harness notation)."""

    name: str
    scenarios: str
    n_steps: int
    reserve: str


REGIMES = {
    regime.name: regime
    for regime in (
        Regime("10-loose", "opposed", 10, "clamp"),
        Regime("10-binding", "opposed", 10, "fraction:0.3"),
        Regime("100-loose", "opposed", 100, "clamp"),
        Regime("100-binding", "opposed", 100, "fraction:0.3"),
        Regime("10-cooperative", "cooperative", 10, "clamp"),
        Regime("100-cooperative", "cooperative", 100, "clamp"),
        Regime("10-ordered", "ordered", 10, "clamp"),
        Regime("100-ordered", "ordered", 100, "clamp"),
        Regime("anl", "anl", 100, "file"),
    )
}


def main() -> None:
    """Run the regimes asked for and print one table."""
    options = _options()
    python = _environment(options.work)
    heads = ("regime", "talks", "mean adv ± se", "median over seeds", "opp adv", "agree %")
    heads = (*heads, "HardHeaded gap", "below floor", "deals without room", "failed", "p95 ms")
    heads = (*heads, "Spearman")
    sys.stdout.write(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|\n")
    ranks: list[str] = []
    for name in options.regimes:
        runs = [_play(python, REGIMES[name], seed, options) for seed in options.seeds]
        sys.stdout.write(_row(name, runs) + "\n")
        sys.stdout.flush()
        ranks.append(_ranks(name, [row for rows in runs for row in rows]))
    sys.stdout.write("".join(ranks))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("harness", type=Path)
    parser.add_argument("--advisor", required=True, help="URL, or module:function")
    parser.add_argument("--token")
    parser.add_argument("--pool", default="strong")
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103])
    parser.add_argument("--regimes", nargs="+", choices=sorted(REGIMES), default=list(REGIMES))
    parser.add_argument("--quick", action="store_true", help="one seed, few scenarios and rivals")
    parser.add_argument("--full", action="store_true", help="rivals also play each other")
    parser.add_argument("--anl", type=int, default=16, help="scenarios per seed for `anl`")
    parser.add_argument("--only", nargs="+", help="scenario names, instead of all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=HERE / ".work")
    options = parser.parse_args()
    options.work = options.work.resolve()
    if options.quick:
        options.seeds, options.anl = options.seeds[:1], 3
        options.pool = QUICK_POOL if options.pool == "strong" else options.pool
    return options


def _environment(work: Path) -> Path:
    """The bench interpreter, made on first use."""
    work.mkdir(parents=True, exist_ok=True)
    (work / ".gitignore").write_text("*\n")
    python = work / "venv" / "bin" / "python"
    ready = work / "venv" / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", str(work / "venv")], check=True)
        install = [str(python), "-m", "pip", "install", "-q", *PACKAGES]
        subprocess.run(install, check=True)
        ready.touch()
    return python


def _play(python: Path, regime: Regime, seed: int, options: argparse.Namespace) -> list[Any]:
    """The harness's rows for one regime and seed."""
    family = regime.scenarios
    folder = options.work / f"{family}-{seed}"
    out = options.work / f"{regime.name}-{seed}.json"
    script = str(options.harness.resolve())
    if family in FAMILIES:
        write_shapes(folder, seed, family)
    elif not folder.exists():
        folder.mkdir()
        make = ["--make-anl", str(options.anl), "--seed", str(seed)]
        _run([str(python), script, "--scenarios", str(folder), *make])
    only = options.only or ["all"]
    if options.quick and family in FAMILIES:
        only = [shape.name for shape in FAMILIES[family] if shape.name in QUICK_SHAPES]
    command = [
        str(python), script, "--scenarios", str(folder), "--only", *only,
        "--pool", options.pool, "--advisor", options.advisor,
        "--reserve", regime.reserve, "--n-steps", str(regime.n_steps), "--seed", str(seed),
        "--jobs", str(options.jobs), "--out", str(out),
    ]  # fmt: skip
    command += [] if options.full else ["--advisor-only"]
    _run([*command, *(["--token", options.token] if options.token else [])])
    return json.loads(out.read_text())["rows"]


def _run(command: list[str]) -> None:
    paths = [str(HERE), str(HERE.parents[2]), os.environ.get("PYTHONPATH", "")]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = {**os.environ, **one_thread, "PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def _row(name: str, runs: list[list[Any]]) -> str:
    seats = [
        [(row, i) for row in rows for i in (0, 1) if (row["a"], row["b"])[i] == "ADVISOR"]
        for rows in runs
    ]
    every = [seat for part in seats for seat in part]
    mine = [row["adv"][i] for row, i in every]
    error = statistics.stdev(mine) / math.sqrt(len(mine)) if len(mine) > 1 else 0.0
    middle = statistics.median(statistics.fmean(r["adv"][i] for r, i in part) for part in seats)
    extra = [row["extra"][str(i)] for row, i in every]
    model = [e["model_spearman"] for e in extra if "model_spearman" in e]
    model = [x for x in model if x == x]
    gaps = [r["adv"][i] - r["adv"][1 - i] for r, i in every if "HardHeaded" in r["ab"[1 - i]]]
    cells = (
        str(len(mine)),
        f"{statistics.fmean(mine):.3f} ± {error:.3f}",
        f"{middle:.3f}",
        f"{statistics.fmean(row['adv'][1 - i] for row, i in every):.3f}",
        f"{100 * statistics.fmean(float(row['agreed']) for row, _ in every):.0f}",
        f"{statistics.fmean(gaps):+.3f}" if gaps else "none",
        str(sum(row["irrational"][i] for row, i in every)),
        str(sum(row["agreed"] and row["surplus"] != row["surplus"] for row, _ in every)),
        str(sum(e["errors"] for e in extra)),
        _p95(extra),
        f"{statistics.fmean(model):.3f}" if model else "none",
    )
    return f"| {name} | " + " | ".join(cells) + " |"


def _p95(extra: list[Any]) -> str:
    """The 95th percentile over talks of a talk's mean answer time, in milliseconds."""
    means = sorted(1000 * e["seconds"] / e["calls"] for e in extra if e["calls"])
    return f"{means[min(len(means) - 1, int(0.95 * len(means)))]:.1f}" if means else "none"


def _ranks(name: str, rows: list[Any]) -> str:
    """Everyone who played, best mean advantage first, with the standard error over talks.

    Without `--full` rivals meet only the advisor, so their rows rank them against it alone.
    """
    scores: dict[str, list[float]] = {}
    for row in rows:
        for seat, worth in zip("ab", row["adv"], strict=True):
            scores.setdefault(row[seat], []).append(worth)
    lines = [f"\n{name}\n\n| negotiator | talks | mean adv ± se |\n|---|---|---|"]
    for who, got in sorted(scores.items(), key=lambda pair: -statistics.fmean(pair[1])):
        error = statistics.stdev(got) / math.sqrt(len(got)) if len(got) > 1 else 0.0
        lines.append(f"| {who} | {len(got)} | {statistics.fmean(got):.3f} ± {error:.3f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
