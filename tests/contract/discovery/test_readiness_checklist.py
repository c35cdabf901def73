"""Agent-readiness, line by line. Lines 9 and 10 are in `test_pages` and `test_metadata`."""

import hashlib
import html
import re
from typing import Any, Final

import httpx2
import pytest

from negotiator.compose import app
from negotiator.config.settings import Settings
from tests.contract.requirements import covers
from tests.helpers.form_browser import BASE
from tests.helpers.published_documents import (
    ACCEPTED,
    addresses,
    documents,
    hrefs,
    is_reachable,
    links,
    located,
    media_type,
    read,
)

CRAWLERS: Final = (
    *("GPTBot", "OAI-SearchBot", "ChatGPT-User", "ClaudeBot", "Claude-Web", "anthropic-ai"),
    *("Google-Extended", "PerplexityBot", "Amazonbot", "Bytespider", "CCBot", "Applebot-Extended"),
)
SHOP: Final = re.compile(r"/(?:cart|checkout|product|products|shop|store|pricing|buy)\b", re.I)


@pytest.mark.asyncio
@covers("4.4:robots", "4.4:pages")
async def test_line_1_robots_are_told_everything_in_every_group(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/robots.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    lines = answer.text.splitlines()
    assert f"Sitemap: {BASE}/sitemap.xml" in lines
    assert f"Agentmap: {BASE}/.well-known/ard.json" in lines
    groups = answer.text.partition("\nSitemap:")[0].split("User-agent: ")[1:]
    assert [group.partition("\n")[0] for group in groups] == ["*", *CRAWLERS]
    rules = {group.partition("\n")[2].strip() for group in groups}
    assert len(rules) == 1, "each group repeats every rule"
    (shared,) = rules
    assert "Allow: /" in shared.split("\n")
    assert "Content-Signal: search=yes, ai-input=yes, ai-train=no" in shared
    closed = {line.removeprefix("Disallow: ") for line in shared.split("\n") if "Disallow" in line}
    assert {"/api/", "/oauth/", "/approve/", "/sign-in", "/account"} <= closed
    assert not closed & {"/", "/docs", "/tools", "/auth.md", "/llms.txt", "/console.css"}


@pytest.mark.asyncio
@covers("4.4:sitemap")
async def test_line_2_every_address_of_the_sitemap_answers(client: httpx2.AsyncClient) -> None:
    found = await located(client, "/sitemap.xml")
    assert f"{BASE}/" in found
    assert f"{BASE}/docs" in found
    assert len(found) == len(set(found))
    for address in found[:50]:
        assert (await client.get(address)).status_code == 200, address


@pytest.mark.asyncio
@covers("4.4:home")
async def test_line_3_every_link_of_the_home_page_is_of_the_stated_type(client: httpx2.AsyncClient) -> None:
    for asked in ({}, {"accept": "text/markdown"}):
        found = links(await client.get("/", headers=asked))
        relations = {link.relation for link in found}
        documented = {"api-catalog", "service-desc", "service-doc", "describedby"}
        assert relations == {*documented, "ard", "ai-catalog"}
        for link in found:
            answer = await client.get(link.target)
            assert answer.status_code == 200, link
            if link.media_type:
                stated, real = (media_type(link.media_type), media_type(answer.headers["content-type"]))
                assert stated == real, link


@pytest.mark.asyncio
@pytest.mark.parametrize("accept", ACCEPTED)
@covers("4.4:home")
async def test_line_4_the_home_page_speaks_html_or_markdown(client: httpx2.AsyncClient, accept: str | None) -> None:
    answer = await client.get("/", headers={"accept": accept} if accept else {"accept": ""})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{ACCEPTED[accept]}; charset=utf-8"
    assert "Accept" in answer.headers["vary"].split(", ")
    tokens = answer.headers.get("x-markdown-tokens")
    if ACCEPTED[accept] == "text/markdown":
        assert answer.text.startswith("# ")
        assert tokens
        assert len(answer.text) / 8 < int(tokens) < len(answer.text)
    else:
        assert answer.text.startswith("<!doctype html>")
        assert tokens is None


@pytest.mark.asyncio
@covers("4.3:catalog")
async def test_line_5_the_catalogue_answers_with_the_types_it_states(client: httpx2.AsyncClient) -> None:
    path = "/.well-known/api-catalog"
    wanted = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
    for method in ("GET", "HEAD"):
        answer = await client.request(method, path)
        assert answer.headers["content-type"] == wanted
        assert answer.headers["link"] == f'<{path}>; rel="api-catalog"'
    catalogue, *described = (await read(client, path))["linkset"]
    assert catalogue["anchor"] == f"{BASE}{path}"
    assert f"{BASE}/api/negotiations" in {item["href"] for item in catalogue["item"]}
    assert described
    for link in described:
        assert {"anchor", "service-desc", "service-doc", "status"} == link.keys()
        for targets in (link["service-desc"], link["service-doc"], link["status"]):
            for target in targets:
                answer = await client.get(target["href"])
                assert answer.status_code == 200
                real = media_type(answer.headers["content-type"])
                assert media_type(target["type"]) == real, target


@pytest.mark.asyncio
@covers("4.1:exists", "4.1:documents")
async def test_line_7_every_address_in_every_document_is_there(client: httpx2.AsyncClient, settings: Settings) -> None:
    found: dict[str, str] = {}
    for path in documents(settings):
        text = (await client.get(path)).text
        if text.startswith("<!doctype"):
            named = addresses(html.unescape(text)) | hrefs(text, path)
        else:
            named = addresses(text)
        found |= dict.fromkeys(named, path)
    assert len(found) >= 25
    assert "/mcp" in found
    # Names of linksets, which nobody asks; the endpoint of MCP is no such name.
    for address in sorted(found.keys() - {"/api", "/api/v1"}):
        assert await is_reachable(client, address), f"{address}, named by {found[address]}"


@pytest.mark.asyncio
@covers("4.2:agent-auth")
async def test_line_8_each_way_in_is_complete(client: httpx2.AsyncClient) -> None:
    block = (await read(client, "/.well-known/oauth-authorization-server"))["agent_auth"]
    assert {"skill", "register_uri", "claim_uri", "revocation_uri"} <= block.keys()
    for door in ("identity_endpoint", "claim_endpoint", "events_endpoint"):
        assert await is_reachable(client, block[door].removeprefix(BASE))
    assert await is_reachable(client, f"{block['claim_endpoint']}/complete".removeprefix(BASE))
    assert "https://schemas.workos.com/events/agent/auth/identity/assertion/revoked" in (block["events_supported"])
    for name in block["identity_types_supported"]:
        way = block[name]
        assert way["credential_types_supported"]
        assert set(way["credential_types_supported"]) <= set(block["credential_types_supported"])
        assert {"register_uri", "claim_uri"} <= way.keys(), name
        for door in ("register_uri", "claim_uri"):
            assert await is_reachable(client, way[door].removeprefix(BASE))
    assert block["identity_assertion"]["assertion_types_supported"]


@pytest.mark.asyncio
@covers("4.3:skills")
async def test_line_13_a_skill_is_served_as_its_digest_says(client: httpx2.AsyncClient) -> None:
    index = await read(client, "/.well-known/agent-skills/index.json")
    assert index["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    names = {skill["name"] for skill in index["skills"]}
    assert {"get-a-token", "run-a-negotiation", "rehearse"} <= names
    for skill in index["skills"]:
        assert skill.keys() == {"name", "type", "description", "url", "digest"}
        assert skill["type"] == "skill-md"
        assert 0 < len(skill["description"]) <= 1024
        answer = await client.get(skill["url"])
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        assert skill["digest"] == f"sha256:{hashlib.sha256(answer.content).hexdigest()}"
        head = f"---\nname: {skill['name']}\ndescription: {skill['description']}\n---\n"
        assert answer.text.startswith(head)
        assert "{base}" not in answer.text


@pytest.mark.asyncio
@covers("4.3:resources")
async def test_line_14_both_catalogues_of_resources_are_one_list(client: httpx2.AsyncClient) -> None:
    ours = await read(client, "/.well-known/ai-catalog.json")
    assert ours == await read(client, "/.well-known/ard.json")
    assert ours["specVersion"] == "1.0"
    assert {"displayName", "identifier"} <= ours["host"].keys()
    assert "collections" not in ours
    entries: list[dict[str, Any]] = ours["entries"]
    assert len({entry["identifier"] for entry in entries}) == len(entries) >= 3
    for entry in entries:
        assert re.fullmatch(r"urn:air:[a-z0-9.-]+:[a-z0-9-]+:[a-z0-9-]+", entry["identifier"])
        assert entry["displayName"]
        assert ("url" in entry) != ("data" in entry)
        assert 2 <= len(entry["representativeQueries"]) <= 5
        answer = await client.get(entry["url"])
        assert answer.status_code == 200
        assert media_type(entry["type"]) == media_type(answer.headers["content-type"])


@pytest.mark.asyncio
@covers("4.3:catalog-type")
async def test_line_14_the_ai_catalogue_has_its_own_media_type(client: httpx2.AsyncClient) -> None:
    path, wanted = "/.well-known/ai-catalog.json", "application/ai-catalog+json"
    for method in ("GET", "HEAD"):
        assert (await client.request(method, path)).headers["content-type"] == wanted
    linked = {link.target: link.media_type for link in links(await client.get("/"))}
    assert linked[path] == wanted
    beside = await client.get("/.well-known/ard.json")
    assert beside.headers["content-type"] == "application/json"


@pytest.mark.asyncio
@covers("4.4:llms")
async def test_line_15_the_map_for_models_has_working_links(client: httpx2.AsyncClient) -> None:
    text = (await client.get("/llms.txt")).text
    assert text.startswith("# Negotiator\n\n> ")
    found = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", text, re.MULTILINE)
    assert len(found) >= 6
    for address in found:
        assert (await client.get(address)).status_code == 200, address
    full = (await client.get("/llms-full.txt")).text
    assert full.startswith("# Negotiator")
    assert len(full) > 2 * len(text)


@pytest.mark.asyncio
@covers("4.4:home")
async def test_line_18_nothing_here_looks_like_a_shop(client: httpx2.AsyncClient, settings: Settings) -> None:
    house = app.build_application(settings)
    paths = [document.path for document in house.documents]
    paths += [operation.path for operation in house.service.operations]
    assert not [path for path in paths if SHOP.search(path)]
    text = (await client.get("/")).text.lower()
    assert not [word for word in ("add to cart", "buy now", "checkout", "€", "$") if word in text]


@pytest.mark.asyncio
@covers("1.13:openapi")
async def test_line_19_the_description_is_what_answers(client: httpx2.AsyncClient, settings: Settings) -> None:
    described = (await read(client, "/openapi.json"))["paths"]
    offered = {(each.path, each.method.lower()) for each in app.build_application(settings).service.operations}
    assert {(path, method) for path, methods in described.items() for method in methods} == offered


@pytest.mark.asyncio
@covers("1.1:base")
async def test_line_20_no_document_depends_on_who_is_asked(client: httpx2.AsyncClient, settings: Settings) -> None:
    forged = {
        "host": "evil.example",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
        "x-forwarded-for": "1.2.3.4",
        "forwarded": "host=evil.example;proto=http",
    }
    for path in (*documents(settings), "/api/nothing", "/api/negotiations", "/auth.md/", "/api"):
        for accept in ("*/*", "text/markdown"):
            plain = await client.get(path, headers={"accept": accept})
            lured = await client.get(path, headers={"accept": accept, **forged})
            assert lured.status_code == plain.status_code, path
            assert "evil.example" not in lured.text + str(lured.headers)
            assert "location" not in lured.headers
            if plain.status_code == 200:
                assert lured.content == plain.content, path
