"""The chart of offers: values lie where the scale puts them, and no two labels overlap."""

import random
import re
from itertools import combinations

import pytest

from negotiator.console.offers_chart import Band, Line, OffersChart, Point, offers_chart

LETTER = 6.4
"""The width that a browser gives a letter of 12 units, on average."""


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """The boxes of all texts: left, top, right, bottom."""
    found: list[tuple[float, float, float, float]] = []
    for kind, x, y, text in re.findall(r'<text class="([^"]*)" x="([\d.-]+)" y="([\d.-]+)">([^<]*)', svg):
        wide = len(text) * LETTER
        left = float(x) - (0 if kind == "level-name" else wide / 2)
        found.append((left, float(y) - 10, left + wide, float(y) + 2))
    return found


def random_chart(count: int, seed: int) -> OffersChart:
    dice = random.Random(seed)  # noqa: S311
    points = [
        Point(
            place,
            value := dice.uniform(0, 100),
            value,
            dice.choice([f"{value:.0f}", f"€{value * 900:,.0f}"]),
            f"{1 + place // 3} Dec",
            ["Cash"] * dice.choice([0, 0, 1, 2, 5]),
        )
        for place in range(count)
    ]
    near = dice.uniform(0, 100)
    lines = [Line(near, "Target €43,200"), Line(near + dice.uniform(-4, 4), "Limit €51,840")]
    band = Band("Room for a deal, 93% likely", near - dice.uniform(2, 30), near)
    return OffersChart("c", "Offers", points[::2], points[1::2], lines, band, (0.0, 100.0))


@pytest.mark.parametrize("width", [720, 350])
@pytest.mark.parametrize("count", [1, 4, 12, 30])
@pytest.mark.parametrize("seed", range(5))
def test_no_two_labels_overlap(count: int, width: int, seed: int) -> None:
    svg = offers_chart(random_chart(count, seed), width=width)
    for one, other in combinations(boxes(svg), 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)
    assert all(left >= 0 and right <= width for left, _, right, _ in boxes(svg))


def test_without_offers_there_is_no_chart() -> None:
    assert not offers_chart(OffersChart("c", "Offers", [], []), width=720)


def test_a_better_offer_stands_higher_and_an_open_one_has_a_bar() -> None:
    mine = [Point(0, 80, 80, "80"), Point(2, 60, 70, "60–70", conditions=["Cash", "Friday"])]
    svg = offers_chart(OffersChart("c", "Offers", mine, [Point(1, 20, 20, "20")], ends=(0.0, 100.0)), width=720)
    heights = [float(y) for y in re.findall(r'<circle [^>]*cy="([\d.]+)"', svg)]
    assert heights[0] < heights[1]
    assert svg.count('class="mine open"') == 1
    assert svg.count("h8l-4-7z") == 2
    assert "<title>Cash; Friday</title>" in svg


def test_a_value_s_label_keeps_off_the_line_of_a_level() -> None:
    points = [Point(0, 20, 20, "20"), Point(1, 32, 32, "32"), Point(2, 44, 44, "44")]
    lines = [Line(37, "Limit 37"), Line(80, "Target 80")]
    svg = offers_chart(OffersChart("c", "Offers", points, [], lines, None, (0.0, 100.0)), width=350)
    names = re.findall(r'<text class="point-name" x="[\d.-]+" y="([\d.-]+)">', svg)
    levels = [float(y) for y in re.findall(r'class="level" d="M0 ([\d.]+)H', svg)]
    assert len(names) == 3
    assert not [y for y in names for at in levels if float(y) - 10 < at < float(y) + 2]
