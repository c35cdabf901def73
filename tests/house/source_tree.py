"""The tree as the house rules see it: tracked files, modules, functions."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "negotiator"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class: where it is, how long it is, what it says of itself."""

    name: str
    lines: int
    docstring: str | None
    is_class: bool
    bases: tuple[str, ...]
    owner: "Definition | None"


def tracked() -> list[Path]:
    """Every file that is or would be committed."""
    asked = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


def sources(*folders: Path) -> list[Path]:
    """The Python files of these folders, migrations left out: they are written once."""
    return sorted(
        path
        for folder in folders
        for path in folder.rglob("*.py")
        if path.parent.name != "versions" and not {"bench", "node_modules"} & set(path.parts)
    )


def label(path: Path) -> str:
    """A file's name from the root."""
    return path.relative_to(ROOT).as_posix()


def definitions(path: Path) -> Iterator[Definition]:
    """Every function and class of a file, the nested ones too."""
    yield from _within(ast.parse(path.read_text()), label(path), None)


def _within(node: ast.AST, prefix: str, owner: Definition | None) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _DEFINITIONS):
            yield from _within(child, prefix, owner)
            continue
        is_class = isinstance(child, ast.ClassDef)
        bases = tuple(map(ast.unparse, child.bases)) if isinstance(child, ast.ClassDef) else ()
        name = f"{prefix}:{child.name}" if owner is None else f"{prefix}.{child.name}"
        lines = (child.end_lineno or child.lineno) - child.lineno + 1
        found = Definition(name, lines, ast.get_docstring(child), is_class, bases, owner)
        yield found
        yield from _within(child, name, found)
