"""The chart of the README has the figures of `docs/benchmarks`; `test_generated_docs` finds a stale one."""

import re

import pytest

from docs.generate import BENCHMARKS
from docs.pages.benchmarks import RATIOS, read_tables
from docs.pages.chart import PANELS, benchmark_chart, figure


def test_every_bar_has_the_length_of_its_figure() -> None:
    """Within a panel lengths are proportional, so a wrong cell or a wrong scale shows."""
    text = read_tables(BENCHMARKS)
    drawn = [float(one) for one in re.findall(r'<rect class="o.*? width="([\d.]+)"', benchmark_chart(text))]
    for panel in PANELS:
        lengths, drawn = drawn[: len(panel.bars)], drawn[len(panel.bars) :]
        figures = [figure(text, panel.section, bar.row, bar.column) for bar in panel.bars]
        assert all(value > 0 for value in figures)
        scale = max(lengths) / max(figures)
        assert lengths == pytest.approx([scale * value for value in figures], abs=0.06)
    assert drawn == []


def test_a_changed_figure_changes_the_chart() -> None:
    text, bar = read_tables(BENCHMARKS), PANELS[0].bars[0]
    before = rf"(?m)^(\| {bar.row} \|(?:[^|]*\|){{{bar.column - 1}}})[^|]*\|"
    changed = re.sub(before, r"\1 .987 |", text)
    assert ">0.987<" not in benchmark_chart(text)
    assert benchmark_chart(changed).count(">0.987<") == 1


def test_a_row_that_is_gone_is_named() -> None:
    with pytest.raises(LookupError, match="The next move: no figure in column 2 of “nobody”"):
        figure(read_tables(BENCHMARKS), "The next move", "nobody", 2)


def test_the_screen_has_eight_ratios_with_a_peer_and_a_goal() -> None:
    page = BENCHMARKS.with_suffix(".md").read_text()
    rows = re.findall(
        r"^\| \[[^]]+\]\(benchmarks/\w+\.md\) \|.*\| [≤≥] [\d.]+(?: reached)? \| (met|missed) \|$", page, re.M
    )
    assert len(rows) == len(RATIOS) == 8
