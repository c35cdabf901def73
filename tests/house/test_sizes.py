"""Sizes: a file and a function that a reader can hold. Exceptions are named, and only shrink."""

from typing import Final

from tests.house.tree import PACKAGE, ROOT, definitions, label, sources

FILE: Final = 300
FUNCTION: Final = 40
FILES: Final[dict[str, int]] = {}
FUNCTIONS: Final = {
    # Typer reads options from the signature; text and lists of operations are data.
    "negotiator/cli/identity.py:add_issuer": 60,
    "negotiator/discovery/openapi.py:_operation": 54,
    "negotiator/memory/memories/routes.py:Memories._reading": 52,
    "negotiator/memory/memories/routes.py:Memories._writing": 54,
    "negotiator/memory/wins/routes.py:Wins._writing": 42,
    "negotiator/negotiations/advice/routes.py:Advice.operations": 56,
    "negotiator/negotiations/routes.py:Negotiations._life": 58,
    "negotiator/negotiations/routes.py:Negotiations._sessions": 69,
    "negotiator/negotiations/plans/making/words.py:branches": 44,
    "negotiator/negotiations/plans/routes.py:BattlePlans.operations": 46,
    "negotiator/negotiations/suggestions/routes.py:Tactics._writing": 42,
    "negotiator/negotiations/suggestions/situation.py:tactic_situation": 57,
    "negotiator/tokens/routes.py:TokenEndpoints.operations": 43,
}


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
