"""Nothing grows unseen: who must raise a wall says why in the commit that raises it."""

from datetime import UTC, datetime

import pytest

from tests.house.size import WALLS, measured


@pytest.fixture(scope="module")
def sizes() -> dict[str, dict[str, int]]:
    return measured()


def test_no_measure_of_the_whole_grows_and_each_reaches_its_aim_in_time(sizes: dict[str, dict[str, int]]) -> None:
    today = datetime.now(UTC).date().isoformat()
    allowed = {
        name: wall["aim"] if today >= wall["by"] else max(wall["now"], wall["aim"])
        for name, wall in WALLS["whole"].items()
    }
    assert {name: size for name, size in sizes["whole"].items() if size > allowed[name]} == {}


def test_no_folder_has_more_lines_than_its_wall(sizes: dict[str, dict[str, int]]) -> None:
    assert {name: size for name, size in sizes["folders"].items() if size > WALLS["folders"].get(name, 0)} == {}
