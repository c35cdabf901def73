"""Sizes: a file and a function that a reader can hold. Exceptions are named, and only shrink."""

from typing import Final

from tests.house.tree import PACKAGE, ROOT, definitions, label, sources

FILE: Final = 300
FUNCTION: Final = 40
FILES: Final[dict[str, int]] = {}
FUNCTIONS: Final[dict[str, int]] = {}


def test_no_file_is_longer_than_a_reader_s_patience() -> None:
    long = {
        label(path): lines
        for path in sources(PACKAGE, ROOT / "tests")
        if (lines := len(path.read_text().splitlines())) > FILE
    }
    assert long == FILES, "split what grew; lower the number of what shrank"


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        found.name: found.lines
        for path in sources(PACKAGE)
        for found in definitions(path)
        if not found.is_class and found.lines > FUNCTION
    }
    assert long == FUNCTIONS, "split what grew; lower the number of what shrank"
