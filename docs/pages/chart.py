"""The chart that the README shows: four tables of `docs/benchmarks` as bars."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

_NUMBER: Final = re.compile(r"\d*\.\d+|\d+")
_PANEL: Final = 280
_COLUMNS: Final = 3
_BAR: Final = 250
_ROW: Final = 36
_TOP: Final = 62
_STYLE: Final = """
    rect.card { fill: #ffffff; stroke: #d0d7de }
    rect.own { fill: #0b6b58 }
    rect.other { fill: #b6c2bd }
    text { fill: #1f2328 }
    text.small { font-size: 11px; fill: #57606a }
    text.title { font-weight: 600 }
"""


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar: its label, the first cells of its figure's row, divided by ` | `, and the column (from 1)."""

    label: str
    row: str
    column: int


@dataclass(frozen=True, slots=True)
class ChartPanel:
    """Bars from one section of the benchmarks; those whose label begins with Negotiator are its own."""

    section: str
    title: str
    note: str
    bars: tuple[ChartBar, ...]


RATIO: Final = 5
"""The column of requests a second as a share of the ceiling's."""
OURS: Final = "negotiator, 1 worker"
ANONYMOUS: Final = "anonymous registration"
ASSERTED: Final = "ID-JAG registration"
TOKENS: Final = "client credentials"
BESIDE: Final = "beside a ceiling, the least work on this stack; longer is better"


def _http_bar(label: str, row: str, contestant: str) -> ChartBar:
    return ChartBar(label, f"{row} | {contestant}", RATIO)


PANELS: Final = (
    ChartPanel(
        "Haggling with scripted people",
        "Share of the possible gain",
        "800 talks with scripted people; longer is better",
        (
            ChartBar("Negotiator's advice for people", "the advice for people", 3),
            ChartBar("meeting in the middle", "as the case says: meet in the middle", 3),
            ChartBar("a fixed path to the limit", "fixed path to the walk-away, late steps larger", 3),
            ChartBar("a strategy made for programs", "the engine for agents", 3),
        ),
    ),
    ChartPanel(
        "The forecast of the price",
        "Error of the expected price",
        "after four offers, as a share of the first distance; shorter is better",
        (
            ChartBar("Negotiator's forecast", "**the forecast**", 3),
            ChartBar("middle of the last offers, limit kept", "the same, not past the user's limit", 3),
            ChartBar("middle of the last offers", "midpoint of the last offers", 3),
            ChartBar("middle of the first offers", "midpoint of the first offers", 3),
        ),
    ),
    ChartPanel(
        "Memory: how good",
        "Memories found by a description",
        "recall in the first five, questions held out; longer is better",
        (
            ChartBar("Negotiator", "**hybrid**", 3),
            ChartBar("meaning alone", "meaning alone", 3),
            ChartBar("words alone", "words alone", 3),
            ChartBar("plain BM25", "plain BM25, to compare", 3),
        ),
    ),
    ChartPanel(
        "HTTP",
        "Agents registered a second",
        BESIDE,
        (
            _http_bar("Negotiator, stored", ANONYMOUS, OURS),
            _http_bar("the ceiling", ANONYMOUS, "ceiling"),
            _http_bar("fastmcp, in memory", ANONYMOUS, "fastmcp, memory"),
            _http_bar("oidc-provider, stored", ANONYMOUS, "oidc-provider, opaque, sqlite"),
            _http_bar("better-auth, stored", ANONYMOUS, "better-auth, JWT, sqlite"),
        ),
    ),
    ChartPanel(
        "HTTP",
        "Access tokens issued a second",
        BESIDE,
        (
            _http_bar("Negotiator, JWT, stored", TOKENS, OURS),
            _http_bar("the ceiling", TOKENS, "ceiling"),
            _http_bar("oidc-provider, JWT, not stored", TOKENS, "oidc-provider, JWT, memory"),
            _http_bar("Authlib on Flask, JWT, stored", TOKENS, "Authlib on Flask, JWT, sqlite"),
            _http_bar("better-auth, JWT, not stored", TOKENS, "better-auth, JWT, sqlite"),
        ),
    ),
    ChartPanel(
        "HTTP",
        "Other requests a second",
        BESIDE,
        (
            _http_bar("Negotiator, list of 20", "list of 20, one token", OURS),
            _http_bar("Negotiator, one negotiation", "one negotiation", OURS),
            _http_bar("Negotiator, assertion", ASSERTED, OURS),
            _http_bar("fastmcp, assertion, in memory", ASSERTED, "fastmcp, memory"),
            _http_bar("the ceiling of each", ASSERTED, "ceiling"),
        ),
    ),
)


def figure(benchmarks: str, section: str, row: str, column: int, place: int = 0) -> float:
    """The number at this place of a cell, in the first row of the section that begins with these cells.

    Raises `LookupError`.
    """
    body = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", benchmarks, re.DOTALL | re.M)
    for line in (body[1] if body else "").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        start = row.split(" | ")
        if cells[: len(start)] == start and len(cells) > column and (found := _NUMBER.findall(cells[column])[place:]):
            return float(found[0])
    raise LookupError(f"docs/benchmarks, {section}: no figure in column {column} of “{row}”")


def benchmark_chart(benchmarks: str) -> str:
    """The chart as SVG, its figures read from the text of the pages in `docs/benchmarks`."""
    rows = [PANELS[start : start + _COLUMNS] for start in range(0, len(PANELS), _COLUMNS)]
    heights = [_TOP + _ROW * max(len(panel.bars) for panel in row) + 14 for row in rows]
    width, height = _PANEL * _COLUMNS + 20, sum(heights)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="13" role="img" aria-labelledby="t">',
        f'  <title id="t">{escape(_spoken(benchmarks))}</title>',
        f"  <style>{_STYLE}  </style>",
        f'  <rect class="card" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="8"/>',
    ]
    for number, row in enumerate(rows):
        for place, panel in enumerate(row):
            lines += _panel(benchmarks, panel, 20 + place * _PANEL, sum(heights[:number]))
    return "\n".join([*lines, "</svg>", ""])


def _figures(benchmarks: str, panel: ChartPanel) -> list[float]:
    return [figure(benchmarks, panel.section, bar.row, bar.column) for bar in panel.bars]


def _panel(benchmarks: str, panel: ChartPanel, x: int, top: int) -> Iterable[str]:
    figures = _figures(benchmarks, panel)
    yield f'  <text class="title" x="{x}" y="{top + 26}">{escape(panel.title)}</text>'
    what, _, better = panel.note.rpartition("; ")
    yield f'  <text class="small" x="{x}" y="{top + 42}">{escape(what)};</text>'
    yield f'  <text class="small" x="{x}" y="{top + 55}">{escape(better)}</text>'
    for place, (bar, value) in enumerate(zip(panel.bars, figures, strict=True)):
        y, length = top + _TOP + place * _ROW, (_BAR - 40) * value / max(figures)
        yield f'  <text class="small" x="{x}" y="{y + 14}">{escape(bar.label)}</text>'
        kind = "own" if bar.label.startswith("Negotiator") else "other"
        yield f'  <rect class="{kind}" x="{x}" y="{y + 18}" width="{length:.1f}" height="12" rx="2"/>'
        yield f'  <text class="small" x="{x + length + 5:.1f}" y="{y + 28}">{value:g}</text>'


def _spoken(benchmarks: str) -> str:
    """The chart in words, for those who cannot see it."""
    return " ".join(
        f"{panel.title} ({panel.note}): "
        + ", ".join(
            f"{bar.label} {value:g}" for bar, value in zip(panel.bars, _figures(benchmarks, panel), strict=True)
        )
        + "."
        for panel in PANELS
    )
