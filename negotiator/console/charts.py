"""Charts as SVG text: data in, markup out; no script, no inline style, readable without colour.

Colours and fonts come from the page's stylesheet by class. Every chart has a text for screen readers; the table beside
a chart on the page has the same figures. A width of about 340 suits a phone, 720 a screen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import Final

_LETTER: Final = 6.8
"""The width of a letter at most, on average, in the chart's units."""
_GAP: Final = 8.0
_BAR_ROW: Final = 42
_STRIP_ROW: Final = 38


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a value lies on the paper: `low` at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; `value` is in the unit of the axis, `label` is the value in words."""

    name: str
    value: float
    label: str


def column_chart(title: str, bars: Sequence[Bar], *, width: int, height: int = 200) -> str:
    """Columns from zero, in their order; values below zero hang down.

    Where the labels of all columns do not fit side by side, only the largest and the smallest value is labelled, and
    every second, third … column is named, the last one always.
    """
    if not bars:
        return ""
    low, high = min(0.0, *(bar.value for bar in bars)), max(0.0, *(bar.value for bar in bars))
    up = Scale(low, high if high > low else low + 1, height - 24 - (14 if low < 0 else 0), 22)
    step = width / len(bars)
    thick = min(step * 0.62, 64)
    longest = max(len(bar.name) for bar in bars) * _LETTER + _GAP
    every = max(1, ceil((longest + max(longest - step, 0)) / step))  # names at the edges move inward
    labelled = _labelled_columns(bars, step)
    parts: list[str] = []
    for place, bar in enumerate(bars):
        x, zero, end = (place + 0.5) * step, up.at(0), up.at(bar.value)
        top, tall = min(zero, end), abs(end - zero)
        kind = "column" if bar.value >= 0 else "column loss"
        told = f"<title>{escape(f'{bar.name}: {bar.label}')}</title>" if bar.label else ""
        parts.append(
            f'<rect class="{kind}" x="{x - thick / 2:.1f}" y="{top:.1f}" width="{thick:.1f}" '
            f'height="{max(tall, 1):.1f}">{told}</rect>'
        )
        if place in labelled:
            beside = top - 5 if bar.value >= 0 else top + tall + 13
            at = _within(x, bar.label, width)
            parts.append(f'<text class="value" x="{at:.1f}" y="{beside:.1f}">{escape(bar.label)}</text>')
        if (len(bars) - 1 - place) % every == 0:
            at = _within(x, bar.name, width)
            parts.append(f'<text class="name" x="{at:.1f}" y="{height - 6}">{escape(bar.name)}</text>')
    return _svg(title, width, height, "".join(parts), "chart column-chart")


def _labelled_columns(bars: Sequence[Bar], step: float) -> set[int]:
    """The columns whose value is written beside them: all, or the two ends of the values."""
    if max(len(bar.label) for bar in bars) * _LETTER + _GAP <= step:
        return set(range(len(bars)))
    by_value = sorted(range(len(bars)), key=lambda place: bars[place].value)
    ends = {by_value[-1]}
    if bars[by_value[0]].value < 0:
        ends.add(by_value[0])
    return ends


def _within(x: float, text: str, width: float) -> float:
    """The middle of a text that stays inside the chart."""
    half = len(text) * _LETTER / 2
    return min(max(x, half), width - half) if width > 2 * half else width / 2


def bar_chart(title: str, bars: Sequence[Bar], *, width: int) -> str:
    """Bars to the right of zero, losses to the left, one below the other; name and value stand above each bar."""
    if not bars:
        return ""
    low, high = min(0.0, *(bar.value for bar in bars)), max(0.0, *(bar.value for bar in bars))
    across = Scale(low, high if high > low else low + 1, 0, width)
    parts: list[str] = []
    for place, bar in enumerate(bars):
        y, zero, end = place * _BAR_ROW, across.at(0), across.at(bar.value)
        room = int((width - len(bar.label) * _LETTER - _GAP) / _LETTER)
        name = bar.name if len(bar.name) <= room else f"{bar.name[: max(room - 1, 1)]}…"
        kind = "bar" if bar.value >= 0 else "bar loss"
        parts.append(
            f'<text class="row-name" x="0" y="{y + 14}">{escape(name)}</text>'
            f'<text class="row-value" x="{width}" y="{y + 14}">{escape(bar.label)}</text>'
            f'<rect class="{kind}" x="{min(zero, end):.1f}" y="{y + 20}" '
            f'width="{max(abs(end - zero), 1):.1f}" height="10">'
            f"<title>{escape(f'{bar.name}: {bar.label}')}</title></rect>"
        )
    return _svg(title, width, _BAR_ROW * len(bars), "".join(parts), "chart bar-chart")


def balance_bar(id: str, value: float, label: str) -> str:
    """One bar left or right of an even middle, without words; it fits any width. `value` is from -1 to 1."""
    length = max(min(abs(value), 1.0) * 98, 1.0)
    kind, turned = ("for", "") if value >= 0 else ("against", ' transform="translate(200) scale(-1 1)"')
    return (
        f'<svg class="chart balance-bar" viewBox="0 0 200 14" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}"><rect class="ground" x="0" y="2" width="200" height="10"/>'
        f'<rect id="{id}" class="{kind}" x="100" y="2" width="{length:.1f}" height="10"{turned}/>'
        f'<line class="level" x1="100" x2="100" y1="0" y2="14"/></svg>'
    )


def share_bar(id: str, share: float, ends: tuple[float, float], label: str) -> str:
    """One side's share of a whole, with the ends between which it lies and a mark at even; it fits any width."""
    low, high = (end * 200 for end in ends)
    return (
        f'<svg class="chart share-bar" viewBox="0 0 200 24" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}"><rect class="ground" x="0" y="3" width="200" height="12"/>'
        f'<rect id="{id}" class="for" x="0" y="3" width="{share * 200:.1f}" height="12"/>'
        f'<line class="level" x1="100" x2="100" y1="0" y2="18"/>'
        f'<line class="ends" x1="{low:.1f}" x2="{high:.1f}" y1="21" y2="21"/></svg>'
    )


@dataclass(frozen=True, slots=True)
class Tick:
    """A named value on a strip; `own` marks the user's."""

    name: str
    value: float
    label: str
    own: bool = False


def strip_chart(title: str, ticks: Sequence[Tick], *, width: int) -> str:
    """Values along one line, such as percentiles with the user's own result among them, which stands above the line.

    A label that would run into its neighbour stands one row lower.
    """
    if not ticks:
        return ""
    across = Scale(min(tick.value for tick in ticks), max(tick.value for tick in ticks), 30, width - 30)
    line = 48 if any(tick.own for tick in ticks) else 14
    parts = [f'<line class="axis" x1="30" x2="{width - 30}" y1="{line}" y2="{line}"/>']
    ends: list[float] = []
    for tick in sorted(ticks, key=lambda one: one.value):
        x = across.at(tick.value)
        widest = max(tick.name, tick.label, key=len)
        at, half = _within(x, widest, width), len(widest) * _LETTER / 2
        kind = "own" if tick.own else "tick"
        y, stop = line - 22, line + 8
        if not tick.own:
            row = next((r for r, end in enumerate(ends) if at - half >= end), len(ends))
            ends[row : row + 1] = [at + half + _GAP]
            y, stop = line + 22 + row * _STRIP_ROW, line + 8 + row * _STRIP_ROW
        parts.append(
            f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{line - 8}" y2="{stop}"/>'
            f'<text class="{kind}-name" x="{at:.1f}" y="{y - 13 if tick.own else y}">{escape(tick.name)}</text>'
            f'<text class="{kind}-name" x="{at:.1f}" y="{y + (1 if tick.own else 14)}">{escape(tick.label)}</text>'
        )
    height = line + 8 + _STRIP_ROW * max(len(ends), 1)
    return _svg(title, width, height, "".join(parts), "chart strip")


def _svg(title: str, width: int, height: int, content: str, kind: str) -> str:
    return f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">{content}</svg>'
