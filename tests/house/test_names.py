"""Names are told apart and lead somewhere: classes, modules, package paragraphs, test files."""

import ast
import re
from collections import Counter
from typing import Final

from sqlmodel import SQLModel

from negotiator.compose.application import build_application
from tests.house.source_tree import PACKAGE, ROOT, label, sources, tracked

_FORBIDDEN_NAMES: Final = {"utils", "helpers", "common", "base", "manager", "service"}
# Built from parts, so that this file may be tracked too.
_HOSTS: Final = ("py" + "pi.org", "pythonhosted" + ".org", "registry.npm" + "js.org", "test.py" + "pi")
_MACHINE: Final = re.compile(r"(?<![\w./])/(?:home|root|Users|work|mnt|opt/work)/[\w.-]+")
_CONTENT: Final = PACKAGE / "directory" / "content" / "__init__.py"
"""Its docstring describes the members of TOML files, not modules."""

_DEFINITIONS: Final = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def test_a_class_name_means_one_thing_in_the_whole_package() -> None:
    names = Counter(
        node.name
        for path in sources(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_a_package_paragraph_names_only_what_exists() -> None:
    assert build_application, "the composition root has imported every table"
    tables = set(SQLModel.metadata.tables)
    defined = {
        node.name
        for path in sources(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, _DEFINITIONS)
    }
    strange: list[str] = []
    for path in sorted(PACKAGE.rglob("__init__.py")):
        paragraph = ast.get_docstring(ast.parse(path.read_text()))
        assert paragraph, label(path)
        if path == _CONTENT:
            continue
        for word in re.findall(r"`([A-Za-z_][\w.]*)`", paragraph):
            if word.rpartition(".")[2] in defined | tables or word == "negotiator":
                continue
            folders = [path.parent, *path.parent.parents][: len(path.relative_to(ROOT).parts)]
            parts = word.replace(".", "/")
            files = (folder / each for folder in folders for each in (word, parts, f"{parts}.py"))
            if not any(each.exists() for each in files) and not any(path.parent.rglob(word)):
                strange.append(f"{label(path)}: {word}")
    assert strange == []


def test_no_module_is_named_for_nothing() -> None:
    for path in sources(PACKAGE):
        assert path.stem not in _FORBIDDEN_NAMES, label(path)


def test_a_test_file_name_is_used_once_in_each_folder_of_tests() -> None:
    for root in (path for path in (ROOT / "tests").iterdir() if path.is_dir()):
        names = Counter(path.name for path in root.rglob("test_*.py"))
        assert [name for name, count in names.items() if count > 1] == [], root.name


def test_unit_and_api_tests_mirror_the_package() -> None:
    for root in (ROOT / "tests" / "unit", ROOT / "tests" / "api"):
        folders = {path.parent.relative_to(root) for path in root.rglob("test_*.py")}
        assert [str(folder) for folder in folders if not (PACKAGE / folder).is_dir()] == []


def test_no_test_file_imports_another() -> None:
    shared = re.compile(r"^from tests\.[\w.]*\btest_\w+ import", re.M)
    assert [label(path) for path in sources(ROOT / "tests") if shared.search(path.read_text())] == []


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
