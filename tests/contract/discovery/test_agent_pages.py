"""The pages for agents, and their commands run as they stand."""

import re
import shlex

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from tests.conftest import Mint, Register
from tests.contract.requirements import covers
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.form_browser import BASE


def commands(page: str) -> list[list[str]]:
    """Every command of a page, split as a shell would."""
    blocks = re.findall(r"(?:^    .*\n)+", page, re.MULTILINE)
    joined = [re.sub(r"\\\n\s*", " ", block) for block in blocks]
    return [shlex.split(block) for block in joined if block.strip().startswith("curl")]


async def run(client: httpx2.AsyncClient, words: list[str], **given: str) -> httpx2.Response:
    """Send what a curl command says, with the placeholders replaced."""
    url, headers, data = "", dict[str, str](), None
    rest = iter(words[1:])
    for word in rest:
        if word == "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        elif word == "-d":
            data = f"{data}&{next(rest)}" if data else next(rest)
        elif word.startswith("http"):
            url = word
        else:
            assert word == "-s", f"a flag that this test does not know: {word}"
    for name, value in given.items():
        data = data.replace(f"<{name}>", value) if data else None
        headers = {key: text.replace(f"<{name}>", value) for key, text in headers.items()}
    assert url.startswith(BASE)
    method = "GET" if data is None else "POST"
    if data is not None:
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
    return await client.request(method, url, headers=headers, content=data)


async def secrets_for(client: httpx2.AsyncClient, idp: FakeIssuer, register: Register, mint: Mint) -> dict[str, str]:
    """What an agent that follows the page would have got by then, all of it fresh."""
    path, code = "/api/agent/identity", (await mint())[1]
    first, other = [(await client.post(path, json={"type": "anonymous"})).json() for _ in range(2)]
    told = {"claim_token": other["claim_token"], "user_code": (await mint())[1]}
    claimed = (await client.post(f"{path}/claim/complete", json=told)).json()
    return {
        "SIGNED_JWT_ASSERTION": idp.assertion(),
        "ACCESS_TOKEN": (await register())["access_token"],
        "USER_DELEGATION_CODE": code,
        "USER_CODE": code,
        "IDENTITY_ASSERTION": first["identity_assertion"],
        "CLAIM_TOKEN": first["claim_token"],
        "CLIENT_ID": claimed["id"],
        "REFRESH_TOKEN": claimed["identity"]["refresh_token"]["value"],
    }


@pytest.mark.asyncio
@covers("4.2:auth-md-runs", "4.4:pages")
async def test_every_command_of_auth_md_runs(
    client: httpx2.AsyncClient, idp: FakeIssuer, register: Register, mint: Mint
) -> None:
    page = (await client.get("/auth.md")).text
    found = commands(page)
    assert len(found) == page.count("curl ") >= 3
    for words in found:
        given = await secrets_for(client, idp, register, mint)
        answer = await run(client, words, **given)
        assert answer.status_code in {200, 201}, (words, answer.text)
    without_secret = [words for words in found if "<" not in " ".join(words)]
    assert without_secret
    for words in without_secret:
        assert (await run(client, words)).is_success


@pytest.mark.asyncio
@covers("4.4:pages", "1.14:eight-scopes")
async def test_the_pages_name_what_an_agent_needs(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/auth.md")).text
    for scope, meaning in ASSISTANT.items():
        assert f"| `{scope}` | {meaning} |" in page


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ["/auth.md", "/llms.txt", "/llms-full.txt"])
@covers("3.6:order")
async def test_metadata_documents_of_clients_are_named_before_registration(
    client: httpx2.AsyncClient, path: str
) -> None:
    text = (await client.get(path)).text
    assert 0 < text.index("client ID metadata document") < text.index("/oauth/register")
    assert "deprecate" in text


@pytest.mark.asyncio
@covers("3.6:order")
async def test_the_metadata_name_client_documents_before_the_registration_endpoint(client: httpx2.AsyncClient) -> None:
    for name in ("oauth-authorization-server", "openid-configuration"):
        members = list((await client.get(f"/.well-known/{name}")).json())
        documents = members.index("client_id_metadata_document_supported")
        assert documents < members.index("registration_endpoint")


@pytest.mark.asyncio
@covers("4.4:pages")
async def test_the_first_page_and_the_map_lead_to_submitting_a_tool(client: httpx2.AsyncClient) -> None:
    index = (await client.get("/llms.txt")).text
    begin = index.partition("## Skills")[0]
    found = re.search(r"\[Submit a tool\]\(([^)]+)\).*POST \S+/api/v1/tools`", begin)
    assert found, begin
    assert (await client.get(found[1])).status_code == 200
    markdown = (await client.get("/", headers={"accept": "text/markdown"})).text
    page = (await client.get("/", headers={"accept": "text/html"})).text
    assert found[1] in markdown
    assert '<a class="button quiet" href="/tools/submit">Submit a tool</a>' in page
    assert found[1].removeprefix(BASE) in page
