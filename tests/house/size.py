"""How large the package is, by the measures that may only fall. `python -m tests.house.size` prints them."""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from negotiator.config.settings import Settings
from tests.house.source_tree import PACKAGE, ROOT, tracked

WALLS: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("size.toml").read_text("utf-8"))
"""`now` of each measure, and for some the `aim` that holds from the date `by`."""
_LAZY: Final = {"cli", "compose"}
"""Folders that import inside functions by design: a command loads what it needs."""
_UNTYPED: Final = ("console", "negotiations", "directory")


def measured() -> dict[str, dict[str, int]]:
    """Every measure: those of the whole, and the lines of each folder of the package."""
    files = tracked()
    python = [path for path in files if path.suffix == ".py"]
    package = {path: path.read_text("utf-8") for path in python if PACKAGE in path.parents}
    arrows = {arrow for path, text in package.items() for arrow in _arrows(path, text)}
    folders = Counter[str]()
    for path, text in package.items():
        folders[_room(path)] += text.count("\n")
    tests = [path.read_text("utf-8") for path in python if ROOT / "tests" in path.parents]
    records = [path for path in files if path.parent == ROOT / "docs/decisions"]
    return {
        "whole": {
            "product lines": sum(folders.values()),
            "product files": len(package),
            "rooms": len({room for arrow in arrows for room in arrow}),
            "arrows": len(arrows),
            "test lines": sum(text.count("\n") for text in tests),
            "imports inside functions": sum(
                _inner_imports(text) for path, text in package.items() if _room(path) not in _LAZY
            ),
            "lines with dict[str, Any]": sum(
                text.count("dict[str, Any]") for path, text in package.items() if _room(path) in _UNTYPED
            ),
            "settings": len(Settings.model_fields),
            "make targets listed": len(re.findall(r"^[a-z-]+:.*[^#]## ", (ROOT / "Makefile").read_text("utf-8"), re.M)),
            "bytes of decision records": sum(path.stat().st_size for path in records),
        },
        "folders": dict(sorted(folders.items())),
    }


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _arrows(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """Which folder of the package imports from which."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (parts := (node.module or "").split("."))[0] == PACKAGE.name:
            for room in parts[1:2] or [each.name for each in node.names]:
                if room != _room(path):
                    yield _room(path), room


def _inner_imports(text: str) -> int:
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    found = {each for function in functions for each in ast.walk(function)}
    return sum(isinstance(each, ast.Import | ast.ImportFrom) for each in found)


def main() -> None:
    """Print every measure beside its wall."""
    for group, measures in measured().items():
        for name, size in measures.items():
            sys.stdout.write(f"{group:8} {name:28} {size:>8,}  {WALLS[group].get(name, 'no wall')}\n")


if __name__ == "__main__":
    main()
