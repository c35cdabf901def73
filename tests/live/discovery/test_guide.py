"""Every `sh` fence of the guide is run as it stands, and what it promises in the `text` fence below must come."""

import re
import shutil
import subprocess
import sys
from importlib import resources

import pytest

from negotiator.cli.demo.server import run_own_server
from negotiator.console.guides_content import JOBS
from tests.helpers.guide_snippets import Snippet, snippets

pytestmark = pytest.mark.usefixtures("built_models")
GUIDES = resources.files("negotiator.console") / "guides"
WRITTEN_FOR = "http://127.0.0.1:8000"


def pattern(promised: str) -> str:
    """A promised line as a regular expression over whole lines."""
    return f"^{'.*'.join(re.escape(part) for part in promised.split('…'))}$"


def test_a_text_fence_belongs_to_the_shell_before_it() -> None:
    page = "a\n```sh\nls\n```\n```text\nx…\n```\n```sh\npwd\n```\n"
    assert snippets(page) == [Snippet("ls\n", ["x…"]), Snippet("pwd\n", [])]
    assert re.search(pattern("x…z"), "w\nxyz", re.MULTILINE)
    assert not re.search(pattern("x.z"), "xyz", re.MULTILINE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the guide speaks curl")
@pytest.mark.parametrize(
    "name", [name for job in JOBS if job.key not in {"use", "clients"} for name in job.names]
)
def test_the_guide_does_what_it_says(name: str) -> None:
    found = snippets((GUIDES / f"{name}.md").read_text())
    assert found
    python = f'"{sys.executable}"'
    head = f'python() {{ {python} "$@"; }}\npython3() {{ {python} "$@"; }}\n'
    head += f'negotiator() {{ {python} -m negotiator "$@"; }}\n'
    script = head + "".join(f"{each.shell}\necho '=== {n}'\n" for n, each in enumerate(found))
    with run_own_server() as site:
        done = subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=script.replace(WRITTEN_FOR, site.url),
            env={**site.environment, "COLUMNS": "200"},
            cwd=site.folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    said = re.split(r"^=== \d+\n", done.stdout, flags=re.MULTILINE)
    assert done.returncode == 0, f"snippet {len(said)} failed:\n{done.stdout}\n{done.stderr}"
    for each, output in zip(found, said, strict=False):
        for line in each.promised:
            assert re.search(pattern(line), output, re.MULTILINE), (line, output)
