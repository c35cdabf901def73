"""Charts of results: nothing leaves the drawing, labels do not run into each other."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.console.charts import Bar, Tick, bar_chart, column_chart, strip_chart

WIDTHS = (720, 350)
LETTER = 6.8
TEXT = re.compile(r'<text class="([\w-]+)" x="([\d.-]+)" y="([\d.-]+)">([^<]*)</text>')
RECT = re.compile(r'<rect class="[\w -]+" x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)"')
VALUES = st.floats(min_value=-1e6, max_value=1e6)


def middles(drawn: str) -> dict[float, list[tuple[float, float]]]:
    """The ends of the texts of each line, from left to right."""
    found: dict[float, list[tuple[float, float]]] = {}
    for _, x, y, text in TEXT.findall(drawn):
        half = len(text) * LETTER / 2
        found.setdefault(float(y), []).append((float(x) - half, float(x) + half))
    return {y: sorted(ends) for y, ends in found.items()}


@pytest.mark.parametrize("width", WIDTHS)
@given(values=st.lists(VALUES, min_size=1, max_size=24))
def test_columns_stay_inside_and_their_names_apart(width: int, values: list[float]) -> None:
    bars = [Bar(f"Q{n % 4 + 1} {2020 + n // 4}", value, f"€{value:,.0f}") for n, value in enumerate(values)]
    drawn = column_chart("Savings", bars, width=width)
    for x, y, wide, tall in RECT.findall(drawn):
        assert 0 <= float(x) <= float(x) + float(wide) <= width + 0.2
        assert 0 <= float(y) <= float(y) + float(tall) <= 200.2
    names = [(float(x), len(text) * LETTER / 2) for kind, x, _, text in TEXT.findall(drawn) if kind == "name"]
    assert all(x + half <= y - other + 0.2 for (x, half), (y, other) in pairwise(names))
    assert names, "the last one is always named"


@pytest.mark.parametrize("width", WIDTHS)
@given(rows=st.lists(st.tuples(st.text(max_size=80), VALUES), min_size=1, max_size=12))
def test_bars_stay_inside_and_name_and_value_apart(width: int, rows: list[tuple[str, float]]) -> None:
    bars = [Bar(name.replace("&", ""), value, f"€{value:,.2f}") for name, value in rows]
    drawn = bar_chart("By category", bars, width=width)
    for x, _, wide, _ in RECT.findall(drawn):
        assert -0.2 <= float(x) <= float(x) + float(wide) <= width + 1.2
    for bar in bars:
        room = width - len(bar.label) * LETTER
        assert min(len(bar.name), int(room / LETTER)) * LETTER <= room
    assert drawn.count("row-value") == len(bars)


@pytest.mark.parametrize("width", WIDTHS)
@given(values=st.lists(st.floats(min_value=-1, max_value=1), min_size=1, max_size=5))
def test_percentiles_are_all_told_without_running_into_each_other(width: int, values: list[float]) -> None:
    ticks = [Tick(f"quarter {n}", value, f"{value:.1%}") for n, value in enumerate(sorted(values))]
    drawn = strip_chart("Savings", [*ticks, Tick("yours", values[0], "yours", own=True)], width=width)
    for ends in middles(drawn).values():
        assert all(left[1] <= right[0] + 0.2 for left, right in pairwise(ends))
    for tick in ticks:
        assert tick.label in drawn


def test_nothing_is_drawn_of_nothing() -> None:
    assert column_chart("", [], width=350) == bar_chart("", [], width=350) == ""
    assert strip_chart("", [], width=350) == ""
