"""One screen of benchmarks: eight ratios with what they are held against and the goal, from the tables beside it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from docs.pages.chart import figure
from docs.pages.markdown import grid


@dataclass(frozen=True, slots=True)
class TableCell:
    """The number `place` (from 0) of a cell: section, first cells of its row divided by ` | `, column (from 1)."""

    section: str
    row: str
    column: int
    place: int = 0

    def number(self, tables: str) -> float:
        return figure(tables, self.section, self.row, self.column, self.place)


@dataclass(frozen=True, slots=True)
class Ratio:
    """What was measured beside what; a table that has the ratio itself needs no `beside`.

    The goal is one of the figure itself where `of_figure`, else of the ratio; `is_cost` says that less is better.
    """

    what: str
    page: str
    peer: str
    ours: TableCell
    goal: float
    beside: TableCell | None = None
    of_figure: bool = False
    is_cost: bool = False


_HTTP: Final = "HTTP"
_PEOPLE: Final = "Haggling with scripted people"
_PRICE: Final = "The forecast of the price"
_UNSEEN: Final = "On texts that guided nobody"
RATIOS: Final = (
    Ratio(
        "agents registered a second",
        "http",
        "the least work on this stack",
        TableCell(_HTTP, "anonymous registration | negotiator, 1 worker", 5),
        0.90,
    ),
    Ratio(
        "lists of twenty a second",
        "http",
        "the least work on this stack",
        TableCell(_HTTP, "list of 20, one token | negotiator, 1 worker", 5),
        0.85,
    ),
    Ratio(
        "access tokens a second",
        "http",
        "oidc-provider, which stores none of them",
        TableCell(_HTTP, "client credentials | oidc-provider, JWT, memory | 1.00", 3),
        1.0,
    ),
    Ratio(
        "CPU of reading a negotiation on PostgreSQL with Redis",
        "engines",
        "the same on SQLite",
        TableCell("PostgreSQL beside SQLite", "one negotiation", 3),
        2.0,
        is_cost=True,
    ),
    Ratio(
        "share of the possible gain in talks with scripted people",
        "advice",
        "meeting in the middle",
        TableCell(_PEOPLE, "the advice for people", 3),
        1.0,
        TableCell(_PEOPLE, "as the case says: meet in the middle", 3),
    ),
    Ratio(
        "error of the expected price after four offers",
        "advice",
        "the middle of the last offers, limit kept",
        TableCell(_PRICE, "**the forecast**", 3),
        1.0,
        TableCell(_PRICE, "the same, not past the user's limit", 3),
        is_cost=True,
    ),
    Ratio(
        "memories found among the first five, unseen questions",
        "unseen",
        "BM25",
        TableCell(_UNSEEN, "Memory: 110 questions, recall@5", 2),
        0.92,
        TableCell(_UNSEEN, "meaning alone; words alone; plain BM25; by ranks", 2, 2),
        of_figure=True,
    ),
    Ratio(
        "tools in their best order (nDCG@10), unseen queries",
        "unseen",
        "BM25",
        TableCell(_UNSEEN, "Directory: 100 queries, nDCG@10", 2),
        0.85,
        TableCell(_UNSEEN, "BM25; vectors; fused by ranks", 2),
        of_figure=True,
    ),
)


def read_tables(folder: Path) -> str:
    """The text of every page of tables, one after the other."""
    return "\n".join(page.read_text() for page in sorted(folder.glob("*.md")))


def page(folder: Path) -> Iterable[str]:
    """The screen, and the list of the pages of tables."""
    tables = read_tables(folder)
    yield "# Benchmarks\n"
    yield (
        "Eight ratios, each beside a peer and a goal; the tables that they are from, and their conditions, are a\n"
        "link away. On two cores that other programs use too, so ratios say more than absolute numbers. The people\n"
        "are models and the notes are made up: nothing is measured with real negotiators yet.\n"
    )
    yield from grid(("What", "Reached", "Beside", "Ratio", "Goal", ""), (_row(ratio, tables) for ratio in RATIOS))
    yield (
        "`make bench` measures most of this and keeps its tables in `.bench/tables`; `make bench-docs` puts them into\n"
        "the pages below. Figures there are medians over the rounds with their range in brackets; a ratio is taken\n"
        "inside one round, between contestants that ran one after the other. CPU is user and system time of the\n"
        "server's processes for each request. Peers have pinned versions and hashes\n"
        "(`tests/bench/node/package-lock.json` and the lock files in `tests/bench`).\n"
    )
    for path in sorted(folder.glob("*.md")):
        text = path.read_text()
        title = text.partition("\n")[0].removeprefix("# ")
        sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
        yield f"- [{title}](benchmarks/{path.name}): {'; '.join(sections)}"


def _row(ratio: Ratio, tables: str) -> tuple[str, ...]:
    ours = ratio.ours.number(tables)
    peer = ratio.beside.number(tables) if ratio.beside else None
    share = ours / peer if peer else ours
    held = ours if ratio.of_figure else share
    met = held <= ratio.goal if ratio.is_cost else held >= ratio.goal
    goal = f"{'≤' if ratio.is_cost else '≥'} {ratio.goal:.2f}{' reached' if ratio.of_figure else ''}"
    reached = f"{ours:g} against {peer:g}" if peer else ""
    return (
        f"[{ratio.what}](benchmarks/{ratio.page}.md)",
        reached,
        ratio.peer,
        f"{share:.2f}",
        goal,
        "met" if met else "missed",
    )
