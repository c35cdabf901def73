"""Every `sh` fence of the guides and of the documentation is run as it stands, and its `text` fence must be answered.

A reader has a checkout, the programs of the system, and a running server. The pages run one after the other against one
server, so none may need what another one made, or trip over it. Nothing may appear in the checkout.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

from negotiator.cli.demo.server import DemoServer, run_own_server
from negotiator.console.guides_content import EXAMPLE_BASE, JOBS
from tests.helpers.guide_snippets import SHELL, Snippet, languages, snippets

pytestmark = pytest.mark.usefixtures("built_models")
ROOT: Final = Path(__file__).parents[3]
GUIDES: Final = ROOT / "negotiator" / "console" / "guides"
ALL: Final = (
    *(GUIDES / f"{name}.md" for job in JOBS for name in job.names),
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)
PAGES: Final = [page for page in ALL if SHELL in languages(page.read_text())]
HEAD: Final = """\
export PATH="$PWD/.venv/bin:$PATH"   # in the checkout, after make run; \
not needed where Negotiator was installed as a package
cd "$(mktemp -d)"                    # what this page writes stays out of the checkout
"""
OTHER_SHELLS: Final = {"bash", "shell", "console", "zsh"}
RUN_BY_HOSTS: Final = {name for job in JOBS if job.key == "clients" for name in job.names}
"""Their `shell` and `python` fences are run by `make hosts`."""
RUN_ON_A_MACHINE: Final = {"server"}
"""Its `bash` fences are run as root on a machine of their own, by `make server-check`."""
USES_COMMAND: Final = re.compile(r"^[^#'\"]*\bnegotiator [a-z]", re.MULTILINE)
FUNCTION: Final = re.compile(r"^\s*\w+ *\(\) *\{|^function ", re.MULTILINE)
WRITES: Final = re.compile(r" -o (?!/dev/null)\S|[^&2]> *\w|\btee\b")


@pytest.fixture(scope="module")
def site() -> Generator[DemoServer]:
    """The one server of all pages; its administrator is no page's, since pages erase the users they make."""
    with run_own_server() as running:
        subprocess.run(
            [sys.executable, "-m", "negotiator", "users", "add", "operator@example.com"],
            env=running.environment,
            capture_output=True,
            check=True,
        )
        yield running


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder like the checkout: its files, and the virtual environment where `make run` puts it."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for entry in ROOT.iterdir():
        if entry.name not in {".venv", ".git"}:
            (folder / entry.name).symlink_to(entry)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def test_answers_are_compared_line_by_line_in_order() -> None:
    page = "```sh\nls\n```\n```text\nx…z\n…\nend\n```\n```toml\na = 1\n```\n```sh\npwd\n```\n"
    first, second = snippets(page)
    assert (first, second) == (Snippet("ls\n", ["x…z", "end"]), Snippet("pwd\n", []))
    assert first.missing("w\nxyz\nmore\nend\n") is None
    assert first.missing("end\nxyz\n") == "end"
    assert Snippet("", ["x.z"]).missing("xyz") == "x.z"


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.stem)
def test_a_page_hides_nothing_and_is_checked_whole(page: Path) -> None:
    text = page.read_text()
    shown = "".join(each.shell for each in snippets(text))
    if page.stem not in RUN_BY_HOSTS | RUN_ON_A_MACHINE:
        assert not languages(text) & OTHER_SHELLS, "only `sh` fences are run"
    assert not FUNCTION.search(shown), "a function hides what is sent"
    if USES_COMMAND.search(shown):
        assert snippets(text)[0].shell == HEAD
    elif WRITES.search(shown):
        assert 'cd "$(mktemp -d)"' in snippets(text)[0].shell


@pytest.mark.skipif(shutil.which("curl") is None, reason="the guides use curl")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_does_what_it_says(page: Path, site: DemoServer, checkout: Path, tmp_path: Path) -> None:
    found = snippets(page.read_text())
    script = "".join(f"{each.shell}\nprintf '\\n=== {number}\\n'\n" for number, each in enumerate(found))
    home = tmp_path / "home"
    home.mkdir()
    before = _files(checkout)
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail"],
        input=script.replace(EXAMPLE_BASE, site.url),
        env=_environment(site, home),
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = re.split(r"^=== \d+\n", done.stdout, flags=re.MULTILINE)
    assert done.returncode == 0, f"snippet {len(said)} failed:\n{done.stdout}\n{done.stderr}"
    for each, output in zip(found, said, strict=False):
        assert (missed := each.missing(output)) is None, f"{missed}\nis not in\n{output}"
    assert _files(checkout) == before


def _environment(site: DemoServer, home: Path) -> dict[str, str]:
    """What `env -i` leaves, and the settings of the server, which has its data in a folder of its own."""
    settings = {name: value for name, value in site.environment.items() if name.startswith("NEGOTIATOR_")}
    plain = {"PATH": "/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(home), "COLUMNS": "200"}
    return {**settings, **plain}


def _files(checkout: Path) -> list[str]:
    """The files of the checkout that Git knows or would report, or those of its folder where there is no Git."""
    names = sorted(entry.name for entry in checkout.iterdir())
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return names
    listed = subprocess.run(
        [git, "status", "--porcelain"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
    )
    return [*names, *listed.stdout.splitlines()]
