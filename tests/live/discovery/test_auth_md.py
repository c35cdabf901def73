"""`/auth.md` followed literally: each of its commands, as it stands, by a real shell against a real server."""

import json
import re
import shutil
import subprocess
import sys
from typing import Any

import httpx2
import pytest

from negotiator.cli.demo.server import DemoServer, run_own_server
from tests.helpers.fake_issuer import FakeIssuer

pytestmark = pytest.mark.usefixtures("built_models")
EMAIL = "user@example.com"


def operate(site: DemoServer, *words: str) -> str:
    """What an operator does meanwhile."""
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", *words],
        env=dict(site.environment),
        cwd=site.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def shell(command: str) -> dict[str, Any]:
    """The answer to a command of the page."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page speaks curl")
def test_an_agent_that_follows_auth_md_to_the_letter_gets_in() -> None:
    with run_own_server() as site:
        idp = FakeIssuer(site.url)
        (site.folder / "jwks.json").write_text(json.dumps(idp.jwks()))
        operate(site, "issuers", "add", idp.name, "--jwks-file", "jwks.json", "--algorithm", "ES256")
        operate(site, "users", "add", EMAIL)
        page = httpx2.get(f"{site.url}/auth.md").text
        commands: list[str] = re.findall(r"(?:^    .*\n)+", page, re.MULTILINE)
        known: dict[str, str] = {}
        for command in commands:
            known["SIGNED_JWT_ASSERTION"] = idp.assertion()
            for name in ("USER_DELEGATION_CODE", "USER_CODE"):
                if f"<{name}>" in command:
                    made = operate(site, "delegations", "create", "--user", EMAIL, "--json")
                    known[name] = json.loads(made)["code"]
            told = command
            for name, value in known.items():
                told = told.replace(f"<{name}>", value)
            assert "<" not in told, told
            answer = shell(told)
            assert "error" not in answer, (command, answer)
            learn(known, answer)
        token = {"Authorization": f"Bearer {known['ACCESS_TOKEN']}"}
        assert httpx2.get(f"{site.url}/api/negotiations", headers=token).status_code == 200


def learn(known: dict[str, str], answer: dict[str, Any]) -> None:
    """What the agent keeps of an answer for the commands that follow."""
    # An agent that came with an assertion has its user already: only another one can be claimed.
    has_user = "identity" in answer and "status" not in answer
    told = {
        "ACCESS_TOKEN": None if has_user else answer.get("access_token"),
        "IDENTITY_ASSERTION": answer.get("identity_assertion"),
        "CLAIM_TOKEN": answer.get("claim_token"),
        "CLIENT_ID": answer.get("client_id"),
        "REFRESH_TOKEN": answer.get("refresh_token")
        or answer.get("identity", {}).get("refresh_token", {}).get("value"),
    }
    known |= {name: value for name, value in told.items() if value}
