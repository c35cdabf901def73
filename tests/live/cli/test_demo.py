"""The demo as a reader starts it: a process of its own, real servers, the exit code."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest

from negotiator.cli.demo.server import run_own_server
from tests.contract.requirements import covers

pytestmark = pytest.mark.usefixtures("built_models")
ROOT = Path(__file__).parents[3]
MILESTONES = {
    "access": [
        "Resource and authorization server have the same name, byte for byte",
        "The list has this negotiation and none of another agent",
        "Stored data needs an owner: the refusal names memories:write",
        "The old token is revoked",
    ],
    "negotiation": [
        "The battle plan has the steps of the price",
        "The sentence to say does not name the limit",
        "An offer past the limit is refused",
        "The advised steps go one way and never grow",
        "A price as good as the next step is accepted",
        "The plan is stored unchanged and marked as stale",
        "The server computes the savings to the cent",
    ],
    "memory": [
        "It is found by its meaning",
        "A figure past the limit takes precedence over phrases",
        "A heard offer stays unconfirmed until the user confirms it",
        "After deletion the call and its transcript are gone",
    ],
    "tools": ["A purpose in plain words finds suitable tools", "MCP and HTTP show the same negotiations"],
    "company": ["An assertion works once", "Their agent's token is revoked", "It contains no secret"],
    "leaving": ["The token is refused from the next request on, by every worker"],
}


def _run(
    *arguments: str, environment: Mapping[str, str] | None = None, folder: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "negotiator", *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@covers("5.4:demo")
def test_the_demo_reaches_every_milestone_on_a_server_of_its_own() -> None:
    done = _run("demo", "--verbose", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["ok"] is True
    assert list(told["chapters"]) == list(MILESTONES)
    missed = {name: {*MILESTONES[name]} - {*shown} for name, shown in told["chapters"].items()}
    assert not any(missed.values()), missed


def test_the_demo_tells_a_reader_and_leaves_no_trust_behind_on_somebodys_server() -> None:
    with run_own_server(allow_loopback_fetch="false") as site:
        done = _run("demo", "--verbose", "--url", site.url, environment=site.environment, folder=site.folder)
        assert done.returncode == 0, done.stderr
        sentences = [sentence for each in MILESTONES.values() for sentence in each]
        assert [sentence for sentence in sentences if sentence not in done.stdout] == []
        secrets = [word for word in done.stdout.split() if "eyJ" in word]
        assert secrets
        assert all(len(word) < 20 for word in secrets)
        assert site.operate("issuers", "list") == []
        assert all(user["disabled_at"] for user in site.operate("users", "list"))


def test_the_demo_tells_a_sale_in_words_that_a_stranger_reads(tmp_path: Path) -> None:
    """Advice, words to say, the deal and what it saved, then how the agent got in; no wire format."""
    done = _run("demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 45
    assert all(len(line) <= 100 for line in lines[:-2])
    said = [line.split()[0] for line in lines if re.match(r"  (Jens|Advice|Grace) ", line)]
    assert (said.count("Jens"), said.count("Advice"), said.count("Grace")) == (4, 6, 5)
    for sentence in (
        "“€13,700. That is my final offer, take it or leave it.”",
        "They seem to be calling this final",
        "Refused. This is worth less than your walk-away, by €100.",
        "then we agree on €12,800.",
        "Deal at €12,800: €2,100 or 14% below the listing",
        "its next request was refused",
    ):
        assert sentence in done.stdout
    assert not re.search(r"[{}\x1b]|\bhttp|_|\beyJ", done.stdout.rpartition("✓")[0])
    assert "demo --keep" in lines[-1]
    assert list(tmp_path.iterdir()) == []


def test_the_demo_keeps_a_database_and_finds_it_again(tmp_path: Path) -> None:
    """Both starts name one sign-in and the same negotiations; the second one stores nothing."""
    told = [_run("demo", "--keep", str(tmp_path / "kept"), "--json") for _ in range(2)]
    assert [one.returncode for one in told] == [0, 0], told
    first, second = (json.loads(one.stdout) for one in told)
    names = ("email", "password", "negotiations", "submission", "folder")
    assert [first[name] for name in names] == [second[name] for name in names]


def test_the_demo_ends_with_exit_1_and_one_line_when_nobody_answers() -> None:
    done = _run("demo", "--url", "http://127.0.0.1:1", environment=dict(os.environ))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "got no answer" in done.stderr


def test_the_first_start_names_the_command_that_makes_the_first_user() -> None:
    with run_own_server() as site:
        told = re.search("command line: (.*negotiator) (users add .*)", site.log())
        assert told is not None
        made = subprocess.run(
            ["bash", "-c", told[0].removeprefix("command line: ")],
            env=site.environment,
            input="a long enough password\n",
            capture_output=True,
            text=True,
            check=True,
        )
        assert "as the first user an administrator" in made.stdout
        (user,) = site.operate("users", "list")
        assert (user["email"], user["is_admin"]) == ("you@example.com", True)


def test_an_interrupted_demo_takes_its_server_with_it() -> None:
    command = [sys.executable, "-m", "negotiator", "demo", "--verbose"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        told = ""
        while (found := re.search(r"http://127\.0\.0\.1:\d+", told)) is None:
            line = demo.stdout.readline()
            assert line, told
            told += line
        assert httpx2.get(f"{found[0]}/api/health").is_success
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(timeout=60) == 130
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{found[0]}/api/health")
