"""Words: every package says what it owns, every public name what it is, and none what a machine is called."""

import ast
import re
from typing import Final

from tests.house.source_tree import PACKAGE, ROOT, Definition, definitions, label, sources, tracked

_PARAGRAPH: Final = 100
_FORBIDDEN_NAMES: Final = {"utils", "helpers", "common", "base", "manager", "service"}
# Built from parts, so that this file may be tracked too.
_HOSTS: Final = (
    "py" + "pi.org",
    "pythonhosted" + ".org",
    "registry.npm" + "js.org",
    "test.py" + "pi",
)
_PENDING: Final = {"negotiator/cli/demo.py:demo"}
_MACHINE: Final = re.compile(r"(?<![\w./])/(?:home|root|Users|work|mnt|opt/work)/[\w.-]+")


def test_every_package_has_a_paragraph() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        paragraph = ast.get_docstring(ast.parse(path.read_text()))
        assert paragraph, label(path)
        assert len(paragraph) >= _PARAGRAPH, f"{label(path)} says too little"


def test_every_module_says_what_it_is() -> None:
    for path in sources(PACKAGE):
        assert ast.get_docstring(ast.parse(path.read_text())), label(path)


def _is_public(found: Definition) -> bool:
    """A function or class that others name, methods of private classes and nested functions left out."""
    if found.name.rpartition(".")[2].rpartition(":")[2].startswith("_"):
        return False
    if found.owner is None:
        return True
    return found.owner.is_class and _is_public(found.owner)


def _is_told_elsewhere(found: Definition, documented: set[str]) -> bool:
    """A method that a base or a protocol of ours documents, or that overrides a library's."""
    if found.owner is None:
        return False
    return bool(found.owner.bases) or found.name.rpartition(".")[2] in documented


def test_every_public_name_has_a_docstring() -> None:
    found = [entry for path in sources(PACKAGE) for entry in definitions(path)]
    documented = {
        entry.name.rpartition(".")[2]
        for entry in found
        if entry.owner and "Protocol" in " ".join(entry.owner.bases) and entry.docstring
    }
    silent = [
        entry.name
        for entry in found
        if _is_public(entry) and not entry.docstring and not _is_told_elsewhere(entry, documented)
    ]
    assert set(silent) <= _PENDING


def test_no_module_is_named_for_nothing() -> None:
    for path in sources(PACKAGE):
        assert path.stem not in _FORBIDDEN_NAMES, label(path)


def test_no_tracked_file_knows_a_machine_or_a_registry() -> None:
    found: list[str] = []
    for path in tracked():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{label(path)}: {hit}" for hit in _MACHINE.findall(text)]
        found += [f"{label(path)}: {host}" for host in _HOSTS if host in text]
    assert found == []


def test_every_setting_is_documented() -> None:
    reference = ROOT / "docs" / "reference"
    if not reference.exists():
        assert not any(label(path).startswith("docs/reference/") for path in tracked())
        return
    page = (reference / "settings.md").read_text()
    fields = re.findall(r"^    (\w+): .*= Field\($|^    (\w+): .*= Field\(.*\)$", _settings(), re.M)
    names = {left or right for left, right in fields}
    assert len(names) > 15
    assert not [name for name in names if f"NEGOTIATOR_{name.upper()}" not in page]


def _settings() -> str:
    return (PACKAGE / "settings.py").read_text()
