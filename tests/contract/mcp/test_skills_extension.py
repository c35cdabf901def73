"""The extension `io.modelcontextprotocol/skills` (SEP-2640, final): one set of skills at two places."""

import hashlib
from typing import Any, Final

import httpx2
import pytest
import yaml

from negotiator.config.settings import Settings
from tests.conftest import Register, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.mcp_client import NEWEST, OLDER, McpClient, error, official

EXTENSION: Final = "io.modelcontextprotocol/skills"
INDEX: Final = "/.well-known/agent-skills/index.json"


async def listed(line: McpClient) -> list[dict[str, Any]]:
    """The entries of `skills/list`."""
    found: list[dict[str, Any]] = (await line.ask("skills/list")).json()["result"]["skills"]
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, *OLDER])
@covers("10.5:skills", "10.5:same")
async def test_each_skill_is_that_of_the_public_documents(
    client: httpx2.AsyncClient, register: Register, version: str
) -> None:
    line = McpClient(client, bearer(await register()), version)
    public = {skill["name"]: skill for skill in (await client.get(INDEX)).json()["skills"]}
    entries = await listed(line)
    assert {entry["frontmatter"]["name"] for entry in entries} == public.keys()
    for entry in entries:
        name = entry["frontmatter"]["name"]
        assert entry["uri"] == f"skill://{name}/SKILL.md"
        read = (await line.ask("resources/read", uri=entry["uri"])).json()["result"]
        (contents,) = read["contents"]
        assert (contents["uri"], contents["mimeType"]) == (entry["uri"], "text/markdown")
        content = contents["text"].encode()
        assert content == (await client.get(public[name]["url"])).content
        assert entry["frontmatter"] == yaml.safe_load(content.decode().split("---\n")[1])
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert public[name]["digest"] == digest
        assert entry["resources"] == [{"uri": entry["uri"], "digest": digest, "size": len(content)}]
        got = (await line.ask("skills/get", uri=entry["uri"])).json()["result"]
        assert got["skill"] == entry


@pytest.mark.asyncio
@covers("10.5:skills")
async def test_results_say_how_long_they_are_fresh_where_the_revision_has_words_for_it(
    client: httpx2.AsyncClient, register: Register
) -> None:
    headers = bearer(await register())
    uri = "skill://run-a-negotiation/SKILL.md"
    for version in (NEWEST, OLDER[0]):
        line = McpClient(client, headers, version)
        for method, params in (("skills/list", {}), ("skills/get", {"uri": uri}), ("resources/read", {"uri": uri})):
            result = (await line.ask(method, **params)).json()["result"]
            told = {result.get(name) for name in ("resultType", "ttlMs", "cacheScope")}
            assert told == ({"complete", 300_000, "public"} if version == NEWEST else {None})


@pytest.mark.asyncio
@covers("10.5:skills")
async def test_the_extension_is_declared_and_its_files_are_resources(
    client: httpx2.AsyncClient, register: Register
) -> None:
    line = McpClient(client, bearer(await register()))
    declared = (await line.ask("server/discover")).json()["result"]["capabilities"]
    assert declared["extensions"][EXTENSION] == {}
    assert "resources" in declared
    entries = {entry["uri"]: entry for entry in await listed(line)}
    shown = (await line.ask("resources/list")).json()["result"]["resources"]
    files = {one["uri"]: one for one in shown if one["uri"].startswith("skill://")}
    assert files.keys() == entries.keys()
    for uri, file in files.items():
        front = entries[uri]["frontmatter"]
        assert (file["name"], file["description"]) == (front["name"], front["description"])
        assert (file["mimeType"], file["size"]) == ("text/markdown", entries[uri]["resources"][0]["size"])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "uri",
    [
        "skill://nothing/SKILL.md",
        "skill://run-a-negotiation",
        "skill://run-a-negotiation/skill.md",
        "skill://run-a-negotiation/../get-a-token/SKILL.md",
        "skill://index.json",
        "negotiator://tactics",
    ],
)
@covers("10.5:unknown")
async def test_what_is_no_skill_is_an_invalid_parameter(
    client: httpx2.AsyncClient, register: Register, uri: str
) -> None:
    line = McpClient(client, bearer(await register()))
    assert error(await line.ask("skills/get", uri=uri), 400, -32602)["data"] == {"uri": uri}
    error(await line.ask("skills/get"), 400, -32602)
    error(await line.ask("skills/list", cursor="x"), 400, -32602)


@pytest.mark.asyncio
@covers("10.5:skills")
async def test_the_list_of_the_drafts_is_still_read(client: httpx2.AsyncClient, register: Register) -> None:
    """Hosts built on drafts of SEP-2640 read the resource `skill://index.json`."""
    async with official(McpClient(client, bearer(await register())), NEWEST) as connected:
        contents: Any = (await connected.read_resource("skill://index.json")).contents[0]
    assert contents.mime_type == "application/json"
    drafted: dict[str, Any] = yaml.safe_load(contents.text)
    public = (await client.get(INDEX)).json()
    assert drafted["$schema"] == public["$schema"]
    plain = [{**skill, "url": f"skill://{skill['name']}/SKILL.md"} for skill in public["skills"]]
    assert drafted["skills"] == plain


@pytest.mark.asyncio
@covers("10.5:skills")
async def test_where_the_directory_is_alone_its_skill_needs_no_token(settings: Settings) -> None:
    alone = make_settings(settings.data_dir, settings.keys_dir, services=["directory"])
    async with running(alone) as application, connect(application) as client:
        line = McpClient(client)
        (entry,) = await listed(line)
        assert entry["frontmatter"]["name"] == "search-the-tools-directory"
        read = await line.ask("resources/read", uri=entry["uri"])
        assert "{base}" not in read.json()["result"]["contents"][0]["text"]


@pytest.mark.asyncio
@covers("10.5:skills")
async def test_the_skill_to_rehearse_leaves_the_other_side_to_the_service(
    client: httpx2.AsyncClient, register: Register
) -> None:
    line = McpClient(client, bearer(await register()))
    read = await line.ask("resources/read", uri="skill://rehearse/SKILL.md")
    text: str = read.json()["result"]["contents"][0]["text"]
    for rule in (
        "invent no sentence, offer or number of theirs",
        "Never ask for it, guess it",
        "read the debrief to the user, with its amounts",
        "Keep its lesson only when the user says so",
    ):
        assert rule in text, rule
    tools = (await line.ask("tools/list")).json()["result"]["tools"]
    assert "rehearse" in {tool["name"] for tool in tools}
    described = (await client.get("/openapi.json")).json()["paths"]
    paths = {path.split("/rehearsals")[-1] for path in described if "/rehearsals" in path}
    assert {"", "/{rehearsal_id}", "/{rehearsal_id}/turns", "/{rehearsal_id}/debrief"} <= paths
