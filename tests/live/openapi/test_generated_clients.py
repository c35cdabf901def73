"""Clients made by independent generators: nothing is left out, and what they make works against a server."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.helpers.live_server import Server
from tests.helpers.neighbours import missing
from tests.live.openapi.installed import HERE, NotInstalled, environment, node_tool, python
from tests.live.openapi.lint import findings, write_document

_SECONDS: Final = 300
_IGNORED: Final = {"position", "added_at", "status", "token_type_hint"}
"""Members that the server takes and does not look at: anything fits."""


def run(*command: str | Path, folder: Path) -> str:
    """The standard output of a command that must succeed."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_SECONDS, check=False, cwd=folder, env=environment()
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document as a file."""
    return write_document(tmp_path_factory.mktemp("openapi"))


@pytest.fixture(scope="module")
def made(described: Path) -> tuple[Path, str]:
    """The folder with the generated Python package, and what its generator said."""
    try:
        interpreter = python()
    except NotInstalled as fault:
        missing(str(fault))
    folder = described.parent
    said = run(
        interpreter,
        *("-m", "openapi_python_client", "generate", "--path", described),
        *("--config", HERE / "python-client.yaml", "--meta", "none"),
        *("--output-path", folder / "generated"),
        folder=folder,
    )
    return folder, said


def test_two_linters_find_nothing(described: Path) -> None:
    try:
        assert findings(described) == []
    except NotInstalled as fault:
        missing(str(fault))


def test_the_python_generator_leaves_no_operation_and_no_schema_out(described: Path, made: tuple[Path, str]) -> None:
    folder, said = made
    document: dict[str, Any] = json.loads(described.read_text())
    names = {operation["operationId"] for methods in document["paths"].values() for operation in methods.values()}
    generated = {path.stem for path in (folder / "generated" / "api").glob("*/*.py")}
    assert names <= generated
    assert "Unable to process schema" not in said
    assert "WARNING" not in said


def test_a_generated_python_client_opens_and_changes_a_negotiation(made: tuple[Path, str], server: Server) -> None:
    folder, _ = made
    said = run(python(), HERE / "journey.py", folder, server.base, folder=folder)
    views = json.loads(said)
    assert views["opened"]["title"] == "Laptops"
    assert views["opened"]["max_rounds"] == 5
    assert (views["read"]["title"], views["read"]["max_rounds"]) == ("Servers", None)


def test_generated_typescript_types_compile_and_refuse_what_the_schema_refuses(described: Path) -> None:
    folder = described.parent
    try:
        generator, compiler = node_tool("openapi-typescript"), node_tool("tsc")
    except NotInstalled as fault:
        missing(str(fault))
    # Without the option a member with a default is required, of requests too.
    options = ("--default-non-nullable", "false", "-o", folder / "api.d.ts")
    run(*generator, described, *options, folder=folder)
    (folder / "types.ts").write_bytes((HERE / "types.ts").read_bytes())
    run(*compiler, "--noEmit", "--strict", "--module", "nodenext", "types.ts", folder=folder)
    types = (folder / "api.d.ts").read_text()
    document: dict[str, Any] = json.loads(described.read_text())
    for methods in document["paths"].values():
        for operation in methods.values():
            assert f"{operation['operationId']}: {{" in types
    assert set(re.findall(r"^ +(\w+)\??: unknown;", types, re.MULTILINE)) == _IGNORED
