"""Floors: imports go down only; the schema in the tables is the schema that migrations make."""

import ast
import subprocess
import sys
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from importlinter.cli import lint_imports
from sqlalchemy import create_engine
from sqlmodel import SQLModel

from negotiator.compose.application import build_application
from tests.house.source_tree import PACKAGE, ROOT, label, sources

ROUTES_LEFT = {"negotiator/cli/demo": "paths of requests", "negotiator/cli/doctor.py": "paths of requests"}
"""Files and folders outside `compose` that import a route file, and what they take from it; the aim is none."""


def test_imports_go_down_only() -> None:
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_route_files_are_imported_by_the_composition_alone() -> None:
    importers = {
        label(path)
        for path in sources(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and _is_route_file(node.module or "")
    }
    elsewhere = {name for name in importers if not name.startswith("negotiator/compose/")}
    known = {name if name in ROUTES_LEFT else name.rpartition("/")[0] for name in elsewhere}
    assert known == set(ROUTES_LEFT), sorted(elsewhere)


def _is_route_file(module: str) -> bool:
    return module.startswith("negotiator.") and module.endswith((".routes", "_routes"))


def test_migrations_make_the_tables(migrated: Path) -> None:
    assert build_application, "the composition root has imported every table"
    engine = create_engine(f"sqlite:///{migrated}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        difference = compare_metadata(context, SQLModel.metadata)
    engine.dispose()
    assert difference == []


def test_the_directory_loads_its_arithmetic_only_once_there_is_something_to_search() -> None:
    asked = "import sys, negotiator.compose.directory as _; print({'numpy', 'rapidfuzz'} & sys.modules.keys())"
    said = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
