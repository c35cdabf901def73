"""Sizes: a file and a function that a reader can hold. Exceptions are named, and only shrink."""

from typing import Final

from tests.house.tree import PACKAGE, ROOT, definitions, label, sources

FILE: Final = 450
FUNCTION: Final = 120
FILES: Final[dict[str, int]] = {}
FUNCTIONS: Final[dict[str, int]] = {}


def held(found: dict[str, int], allowed: dict[str, int]) -> None:
    """Nothing is longer than it was allowed to be, and no exception outlives its reason."""
    grown = {name: size for name, size in found.items() if size > allowed.get(name, 0)}
    assert grown == {}, "split what grew"
    assert allowed.keys() <= found.keys(), "strike what is short enough by now"


def test_no_file_is_longer_than_a_reader_s_patience() -> None:
    long = {
        label(path): lines
        for path in sources(PACKAGE, ROOT / "tests")
        if (lines := len(path.read_text().splitlines())) > FILE
    }
    held(long, FILES)


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        found.name: found.lines
        for path in sources(PACKAGE)
        for found in definitions(path)
        if not found.is_class and found.lines > FUNCTION
    }
    held(long, FUNCTIONS)
