"""What both sides got in talks at the table: `python -m tests.quality.table.score FOLDER`, where each talk is a file.

A file `CONDITION-CASE.jsonl` has a message a line, with `offer` (all terms, binding), `accept` (the package) or `walk`.
The user's side is played alone, by a reader who relays the advice word for word, or by one who words a brief. The other
side is a reader who knows neither the user's page nor which of these it meets.
"""

import itertools
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Deal = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TableCase:
    """A case: its terms, the one of money first, and what a package is worth to both sides above their limits."""

    name: str
    terms: tuple[str, ...]
    user: Mapping[str, Any]
    other: Mapping[str, Any]

    def surplus(self, deal: Deal) -> tuple[float, float]:
        """What the user and the other side gain by a package, in the case's money."""

        def of(side: Mapping[str, Any], term: str) -> float:
            worth = side[term]
            if isinstance(worth, int | float):
                return worth * float(deal[term])
            return float(worth[str(deal[term])])

        user, other = (
            side["constant"] + sum(of(side, term) for term in self.terms) for side in (self.user, self.other)
        )
        return user, other

    @property
    def room(self) -> float:
        """What both can gain together; the money only moves it from one to the other."""
        options = {term: list(self.user[term]) for term in self.terms[1:]}
        packages = (
            {self.terms[0]: 0, **dict(zip(options, each, strict=True))} for each in itertools.product(*options.values())
        )
        return max(sum(self.surplus(package)) for package in packages)


def table_cases() -> dict[str, TableCase]:
    """The cases by name."""
    raw = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))["case"]
    return {
        one["name"]: TableCase(one["name"], tuple(one["terms"]), one["user_worth"], one["other_worth"]) for one in raw
    }


def scores(folder: Path) -> Iterator[tuple[str, str, float, float]]:
    """Condition, case, the user's share of the room, and the share that both got together; 0 without a deal."""
    cases = table_cases()
    for file in sorted(folder.glob("*.jsonl")):
        condition, _, name = file.stem.partition("-")
        last = json.loads(file.read_text("utf-8").splitlines()[-1])
        user, other = cases[name].surplus(last["accept"]) if last.get("accept") else (0.0, 0.0)
        yield condition, name, user / cases[name].room, (user + other) / cases[name].room


if __name__ == "__main__":
    for condition, name, share, joint in scores(Path(sys.argv[1])):
        sys.stdout.write(f"{condition:10} {name:24} {share:.2f} of the room, {joint:.2f} together\n")
