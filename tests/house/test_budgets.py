"""What a start may load: packages, modules of our own, and memory. Nothing here measures time.

A budget that fails says which modules are new. Load what is large when it is first needed (`BuiltOnce`), or change the
budget and README's figures of memory with the reason in the commit.
"""

import compileall
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.house.source_tree import PACKAGE, ROOT


class StartBudget(NamedTuple):
    """The packages of others that a start may load, the most modules of all packages but the standard library's, and
    the most megabytes of anonymous memory, which no other process shares."""

    packages: frozenset[str]
    modules: int
    megabytes: int


_TYPER: Final = frozenset("typer annotated_doc shellingham dotenv".split())  # noqa: SIM905
_RICH: Final = frozenset("rich markdown_it mdurl pygments attr".split())  # noqa: SIM905
_STORE: Final = frozenset(
    """aiosqlite annotated_types cython_runtime greenlet opentelemetry orjson pydantic pydantic_core sqlalchemy sqlmodel
    structlog typing_extensions typing_inspection ulid_transform""".split()  # noqa: SIM905
)
_WORKER: Final = frozenset(
    """aiosmtplib anyio argon2 authlib cryptography dotenv jinja2 jwt markupsafe python_multipart
    starlette""".split()  # noqa: SIM905
)
BUDGETS: Final[dict[tuple[str, ...], StartBudget]] = {
    ("--help",): StartBudget(_TYPER | _RICH, 200, 23),
    ("issuers", "list"): StartBudget(_TYPER | _STORE, 325, 46),
    (): StartBudget(_STORE | _WORKER, 898, 87),
}
"""By the words of the command; without words, a worker at its first answer."""


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """A process that compiles its modules takes more memory than one that finds them compiled."""
    compileall.compile_dir(PACKAGE, quiet=1)


_NOT_COUNTED = ("negotiator", "sitecustomize")
"""The package itself, and what Debian's Python loads before any program."""


@pytest.mark.parametrize("words", BUDGETS, ids=lambda words: " ".join(words) or "worker")
def test_a_start_stays_within_its_budget(
    words: tuple[str, ...], tmp_path: Path, migrated: Path, signing_keys: Path
) -> None:
    budget = BUDGETS[words]
    data = tmp_path / "data"
    data.mkdir()
    (data / "negotiator.db").write_bytes(migrated.read_bytes())
    found = _started(words, data, signing_keys)
    counts = Counter(map(_package, found["modules"]))
    loaded = {name: count for name, count in counts.items() if name}
    new = [name for name in loaded if name.partition(".")[0] not in {*budget.packages, *_NOT_COUNTED}]
    assert not new, "new packages: " + ", ".join(module for module in found["modules"] if _package(module) in new)
    total, listed = sum(loaded.values()), dict(Counter(loaded).most_common())
    assert total <= budget.modules, f"{total} modules of {budget.modules}: {listed}"
    taken = found["megabytes"]
    assert taken <= budget.megabytes, f"{taken} MB of {budget.megabytes}: {listed}"


def _started(words: tuple[str, ...], data: Path, keys: Path) -> dict[str, Any]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("NEGOTIATOR")}
    places = {"NEGOTIATOR_DATA_DIR": str(data), "NEGOTIATOR_KEYS_DIR": str(keys)}
    said = subprocess.run(
        [sys.executable, "-m", "tests.house.first_answer", *words],
        cwd=ROOT,
        env={**own, **places, "XDG_STATE_HOME": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    return found


def _package(module: str) -> str:
    """Its package, with the slice of one of ours; empty for the standard library, for loaders and for tests."""
    first, *rest = module.split(".")
    if first in sys.stdlib_module_names or first.startswith("_") or first == "tests":
        return ""
    return f"{first}.{rest[0]}" if first == "negotiator" and rest else first
