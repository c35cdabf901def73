"""The guides that give the service to an agent: what they tell to paste is of the form that each client reads.

`make hosts` runs what clients on a registry are given; here is what can be told without them.
"""

import ast
import json
import re
from importlib import resources
from typing import Any

import pytest

from negotiator.console.guides_content import EXAMPLE_BASE, JOBS, SIGNING_CLIENTS, all_guides
from tests.helpers.form_browser import FormBrowser
from tests.helpers.guide_snippets import fences
from tests.live.hosts.guides import PROGRAMS

GUIDES = resources.files("negotiator.console") / "guides"
CLIENTS = next(job.names for job in JOBS if job.key == "clients")
ADDRESS = f"{EXAMPLE_BASE}/mcp"
SERVERS = {"cursor": "mcpServers", "vs-code": "servers"}
"""The member that holds the servers in the file of each client."""


def text_of(name: str) -> str:
    return (GUIDES / f"{name}.md").read_text()


@pytest.mark.parametrize("name", SERVERS)
def test_a_client_s_file_is_json_of_its_own_form(name: str) -> None:
    files: list[dict[str, Any]] = [json.loads(each) for each in fences(text_of(name), "json")]
    assert len(files) == 2
    for one in files:
        entry = one[SERVERS[name]]["negotiator"]
        assert entry["url"] == ADDRESS
        assert ("type" in entry) == (name == "vs-code")
        assert entry.keys() <= {"type", "url", "headers"}
    signing, coded = (one[SERVERS[name]]["negotiator"] for one in files)
    assert "headers" not in signing
    assert re.fullmatch(r"Bearer \$\{(env|input):[\w-]+\}", coded["headers"]["Authorization"])


def test_a_secret_that_vs_code_asks_for_is_the_one_that_it_sends() -> None:
    whole = json.loads(fences(text_of("vs-code"), "json")[1])
    (asked,) = whole["inputs"]
    assert asked["password"] is True
    assert f"${{input:{asked['id']}}}" in json.dumps(whole["servers"])


@pytest.mark.parametrize("name", [*PROGRAMS, "agent-program"])
def test_a_program_is_python_that_names_this_server(name: str) -> None:
    (program,) = fences(text_of(name), "python")
    strings = {n.value for n in ast.walk(ast.parse(program)) if isinstance(n, ast.Constant)}
    assert strings & {ADDRESS, EXAMPLE_BASE}


def test_claude_code_is_given_the_address_and_told_how_to_forget_it() -> None:
    added, with_code, removed = (each.strip() for each in fences(text_of("claude"), "shell"))
    assert added == f"claude mcp add --transport http negotiator {ADDRESS}"
    assert with_code.startswith(added)
    assert removed == "claude mcp remove negotiator"


@pytest.mark.parametrize("name", CLIENTS)
def test_each_guide_says_how_to_take_it_away(name: str) -> None:
    text = text_of(name)
    assert re.search(r"^## (Take it away|See it and end it)$", text, re.MULTILINE)
    assert "**Agents**" in text
    assert re.search(r"\*(Checked|Run by a test) on \d{4}-\d\d-\d\d", text) or name in {
        "give-to-your-agent",
        "agent-program",
    }


def test_every_link_between_guides_leads_to_a_heading_that_is_there() -> None:
    headings = {guide.name: {each.fragment for each in guide.headings} for guide in all_guides()}
    for name in CLIENTS:
        for found, fragment in re.findall(r"\]\(([\w-]+)\.md(?:#([\w-]+))?\)", text_of(name)):
            assert found in headings, (name, found)
            assert not fragment or fragment in headings[found], (name, fragment)


@pytest.mark.asyncio
async def test_the_agents_page_shows_what_the_guides_say_and_links_to_them(browser: FormBrowser) -> None:
    page = (await browser.open("/agents")).text
    assert EXAMPLE_BASE not in page
    assert "claude mcp add --transport http negotiator https://negotiator.example/mcp" in page
    assert "&quot;url&quot;: &quot;https://negotiator.example/mcp&quot;" in page
    for name in SIGNING_CLIENTS:
        assert f'href="/docs/guides/{name}"' in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len({*ids})
    assert {*re.findall(r'data-copy="([^"]+)"', page)} <= {*ids}
