"""Paths of operations and scopes are each written once in the package, so that `git grep` finds the one place.

Docstrings, templates and Markdown texts may repeat them.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from tests.house.source_tree import PACKAGE, label, sources

AFTER_A_PATH: Final = r"(?![\w/{.-])"
"""What may not follow a path: with one of these characters the literal is another, longer path."""


def literals() -> list[tuple[str, str]]:
    """Each string literal of the package with its file; docstrings are left out."""
    return [(label(path), text) for path in sources(PACKAGE) for text in strings(path.read_text())]


def strings(source: str) -> Iterator[str]:
    """The string constants of a file; a string that stands alone is a docstring."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_each_path_of_an_operation_is_written_once(settings: Settings) -> None:
    operations = build_application(settings).service.operations
    paths = {path for each in operations for path in (each.path, *each.aliases)}
    found = literals()
    faults = {path: files for path in paths if len(files := places(path, found)) != 1}
    assert not faults


def places(path: str, found: list[tuple[str, str]]) -> list[str]:
    """The files in which the path is written, one entry for each literal."""
    pattern = re.compile(re.escape(path) + AFTER_A_PATH)
    return [file for file, text in found if path in text and pattern.search(text)]


def test_each_scope_is_written_in_one_file() -> None:
    found = literals()
    for scope in (*ASSISTANT, *DIRECTORY):
        files = {file for file, text in found if text == scope}
        assert files == {"negotiator/base/scopes.py"}, scope
