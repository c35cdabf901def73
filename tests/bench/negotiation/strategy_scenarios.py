"""Fresh two-party scenarios by seed, in the files the bench harness reads.

The eight shapes carry the issue and outcome counts of the ANAC core scenarios;
every preference is drawn here. An issue is opposed (what one side likes the other dislikes),
shared (both like the same end) or free (drawn apart); `conflict` is the share of opposed ones.
The family `opposed` has the conflict of its shape, `cooperative` has little or none. The issues of
the family `ordered` are numbers, on which a side's worth rises, falls or has a peak.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Shape:
    """Name, number of values per issue, and the share of issues the sides fight over."""

    name: str
    sizes: tuple[int, ...]
    conflict: float


SHAPES = (
    Shape("components180", (5, 4, 3, 3), 0.8),
    Shape("treaty576", (3, 4, 4, 4, 3), 0.6),
    Shape("takeover384", (4, 4, 4, 3, 2), 0.6),
    Shape("salary540", (5, 4, 3, 3, 3), 0.75),
    Shape("hiring3125", (5, 5, 5, 5, 5), 0.75),
    Shape("rental60", (5, 4, 3), 0.9),
    Shape("barter80", (5, 4, 4), 1.0),
    Shape("phone12000", (6, 5, 5, 5, 4, 4), 0.4),
)


ORDERED_SHAPES = (
    Shape("purchase330", (11, 6, 5), 0.67),
    Shape("delivery168", (21, 8), 0.5),
    Shape("contract1715", (7, 7, 7, 5), 0.5),
    Shape("lease1200", (15, 5, 4, 4), 0.25),
)
FAMILIES = {"opposed": SHAPES, "cooperative": SHAPES, "ordered": ORDERED_SHAPES}


def write_shapes(folder: Path, seed: int, family: str = "opposed") -> list[str]:
    """Write one scenario per shape of the family under `folder`; the same seed writes the same bytes."""
    prefix = "" if family == "opposed" else f"{family}/"
    for place, shape in enumerate(FAMILIES[family]):
        rng = random.Random(f"{prefix}{seed}/{shape.name}")
        if family == "ordered":
            _write(folder / shape.name, _draw_ordered(shape, rng), numbers=True)
            continue
        if family == "cooperative":
            shape = Shape(shape.name, shape.sizes, 0.25 * (place % 2))
        _write(folder / shape.name, _draw(shape, rng, cooperative=family == "cooperative"))
    return [shape.name for shape in FAMILIES[family]]


Tables = list[list[float]]


def _draw(shape: Shape, rng: random.Random, *, cooperative: bool = False) -> tuple[Tables, Tables]:
    mine: Tables = []
    theirs: Tables = []
    kinds = _kinds(shape, rng, cooperative=cooperative)
    for size, kind, mine_weight, their_weight in zip(
        shape.sizes, kinds, _weights(kinds, rng), _weights(kinds, rng), strict=True
    ):
        first = _curve(size, rng)
        second = {"opposed": _curve(size, rng)[::-1], "shared": _curve(size, rng)}.get(kind)
        if second is None:
            second = _curve(size, rng)
            rng.shuffle(second)
        order = list(range(size))
        if rng.random() < 0.5:
            rng.shuffle(order)
        mine.append([mine_weight * first[k] for k in order])
        theirs.append([their_weight * second[k] for k in order])
    return mine, theirs


def _draw_ordered(shape: Shape, rng: random.Random) -> tuple[Tables, Tables]:
    mine: Tables = []
    theirs: Tables = []
    kinds = _kinds(shape, rng, cooperative=False)
    for size, kind, mine_weight, their_weight in zip(
        shape.sizes, kinds, _weights(kinds, rng), _weights(kinds, rng), strict=True
    ):
        first = _curve(size, rng)
        second = _curve(size, rng)
        if kind == "opposed":
            second.reverse()
        if rng.random() < 0.5:
            first.reverse()
            second.reverse()
        if kind == "free":
            first, second = _peaked(size, rng), _peaked(size, rng)
        mine.append([mine_weight * worth for worth in first])
        theirs.append([their_weight * worth for worth in second])
    return mine, theirs


def _peaked(size: int, rng: random.Random) -> list[float]:
    """Worths that rise to one value and fall after it; the peak may be at an end."""
    peak = rng.randrange(size)
    worths = [(k + 1) / (peak + 1) if k <= peak else (size - k) / (size - peak) for k in range(size)]
    least = min(worths)
    return [(worth - least) / (1.0 - least) for worth in worths]


def _kinds(shape: Shape, rng: random.Random, *, cooperative: bool) -> list[str]:
    count = len(shape.sizes)
    opposed = max(0 if cooperative else 1, round(shape.conflict * count))
    others = ["shared", "shared", "free"] if cooperative else ["shared", "free"]
    kinds = ["opposed"] * opposed + [rng.choice(others) for _ in range(count - opposed)]
    rng.shuffle(kinds)
    return kinds


def _weights(kinds: list[str], rng: random.Random) -> list[float]:
    raw = [rng.gammavariate(2.0, 1.0) + 0.05 for _ in kinds]
    return [x / sum(raw) for x in raw]


def _curve(size: int, rng: random.Random) -> list[float]:
    bend = rng.choice([0.6, 1.0, 1.0, 1.6])
    inner = sorted(min(1.0, max(0.0, (k / (size - 1)) ** bend + rng.uniform(-0.08, 0.08))) for k in range(1, size - 1))
    return [0.0, *inner, 1.0]


def _write(folder: Path, tables: tuple[Tables, Tables], *, numbers: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    issues = "issues:\n" + "".join(
        f"- name: issue{i}\n  type: CategoricalIssue\n  values:\n"
        + "".join(f"  - {_value(k, numbers=numbers)}\n" for k in range(len(table)))
        for i, table in enumerate(tables[0])
    )
    (folder / "space.yml").write_text(issues + "name: space\ntype: CartesianOutcomeSpace\n")
    for side, party in zip(("first", "second"), tables, strict=True):
        (folder / f"{side}.yml").write_text(_preferences(side, party, numbers=numbers))


def _value(place: int, *, numbers: bool) -> str:
    return str(10 * place) if numbers else f"'v{place}'"


def _preferences(side: str, tables: Tables, *, numbers: bool) -> str:
    values = "".join(
        "- mapping:\n"
        + "".join(f"    {_value(k, numbers=numbers)}: {x!r}\n" for k, x in enumerate(table))
        + "  type: TableFun\n"
        for table in tables
    )
    return (
        f"name: {side}\nreserved_value: 0.0\ntype: LinearAdditiveUtilityFunction\n"
        f"values:\n{values}weights:\n" + "- 1.0\n" * len(tables)
    )
