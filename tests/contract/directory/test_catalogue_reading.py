"""Reading the tools directory without a credential (docs/contract 9.4, 9.5)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from negotiator.config.settings import Settings
from negotiator.directory import exchange_import
from tests.conftest import Change, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import is_instant, limited, refused
from tests.helpers.command_line import CommandLine

pytestmark = pytest.mark.asyncio
PATHS = ("/api/v1/tools", "/api/v1/categories", "/api/health")


@pytest_asyncio.fixture(autouse=True)
async def bundled_catalogue(change: Change) -> None:
    """The catalogue as it is after the first start."""
    await change(exchange_import.import_bundled_content)


async def read(client: httpx2.AsyncClient, path: str, **params: Any) -> Any:
    """The body of a successful answer."""
    answer = await client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


@covers("9.4:search", "9.4:query", "9.4:version")
async def test_tools_are_searched_retrieved_and_filtered(client: httpx2.AsyncClient) -> None:
    found = await read(client, "/api/v1/tools", query="Postgres")
    assert found["items"]
    assert found["count"] == len(found["items"]) <= found["total"]
    first = found["items"][0]
    assert (await read(client, f"/api/v1/tools/{first['id']}"))["id"] == first["id"]
    filtered = await read(client, "/api/v1/tools", query="Postgres", kind="mcp_server")
    assert {item["kind"] for item in filtered["items"]} == {"mcp_server"}


@covers("9.5:taxonomy", "9.5:categories-get", "9.5:categories")
async def test_categories_are_the_taxonomy_with_counts(client: httpx2.AsyncClient) -> None:
    found = await read(client, "/api/v1/categories")
    assert found["total"] == len(found["categories"]) == 19
    assert [each["position"] for each in found["categories"]] == list(range(1, 20))
    assert min(each["tool_count"] for each in found["categories"]) >= 10
    whole = (await read(client, "/api/v1/tools", limit=1))["total"]
    assert sum(each["tool_count"] for each in found["categories"]) == whole
    for each in found["categories"]:
        assert is_instant(each["updated_at"])
        assert {"slug", "name", "description", "subcategories"} <= each.keys()


@covers(
    "9.4:public", "9.4:no-header", "9.4:public-reads", "1.10:headers-read"
)  # fmt: skip
async def test_public_endpoints_take_requests_without_a_credential(client: httpx2.AsyncClient) -> None:
    for path in PATHS:
        answer = await client.get(path)
        assert answer.status_code == 200
        limited(answer)


@covers("9.3:bearer-public")
async def test_a_credential_that_is_sent_is_looked_at(client: httpx2.AsyncClient, register: Register) -> None:
    for path in ("/api/v1/tools", "/api/v1/categories", "/v0.1/servers", "/api/v1/changes"):
        bad = await client.get(path, headers={"authorization": "Bearer nobody"})
        refused(bad, 401, "invalid_token")
        good = await client.get(path, headers=bearer(await register()))
        assert good.status_code == 200
        assert good.headers["cache-control"] == "private, max-age=0, must-revalidate"
        limited(good)


@covers("9.4:language")
async def test_a_query_in_another_language_is_read_in_english(client: httpx2.AsyncClient) -> None:
    for text, language, english in (
        ("Vektordatenbank", "de", "vector database"),
        ("générateur d'images", "fr", "image generation"),
        ("base de datos vectorial", "es", "vector database"),
        ("vector database", None, "vector database"),
    ):
        answer = await read(client, "/api/v1/tools", query=text, limit=2)
        assert answer["query"]["translated_from"] == language
        assert answer["query"]["normalized"] == english
        assert answer["total"] > 2
        if language:
            rest = await read(client, "/api/v1/tools", query=text, limit=100, cursor=answer["next_cursor"])
            keys = [item["id"] for item in (*answer["items"], *rest["items"])]
            assert len(keys) == len(set(keys)) == min(answer["total"], 102)


@covers("9.4:use")
async def test_an_entry_says_how_to_use_the_tool_and_by_what_evidence(client: httpx2.AsyncClient) -> None:
    use = (await read(client, "/api/v1/tools/stripe"))["use"]
    assert use.keys() == {
        "documentation", "sign_in", "rest_base", "pricing", "licence", "install",
    }  # fmt: skip
    assert use["documentation"]["value"] == "https://docs.stripe.com/"
    assert use["install"]["value"] == "pip install stripe"
    assert use["licence"] is None
    for fact in filter(None, use.values()):
        assert fact.keys() == {"value", "source", "source_url", "checked_at"}
        assert fact["source"]


@covers("9.5:registry")
async def test_the_registry_surface_answers_in_the_registry_s_shape(client: httpx2.AsyncClient) -> None:
    listed = await read(client, "/v0.1/servers", limit=5)
    assert listed["metadata"]["count"] == len(listed["servers"])
    assert listed["servers"] == [], "no registry names a server of the content, nor a version of one"
    assert (await read(client, "/v0/servers", limit=5))["servers"] == []


@covers("9.9:content")
async def test_every_entry_says_where_it_is_from(client: httpx2.AsyncClient) -> None:
    lines = (await client.get("/api/v1/export.ndjson")).text.splitlines()
    assert len(lines) >= 250
    for line in lines:
        tool = json.loads(line)
        assert tool["evidence"]
        assert all(each["source"] for each in tool["evidence"])
        assert tool["homepage_url"].startswith("https://")
        assert tool["publisher"]["verified"] is False


@covers("5.2:directory-import")
async def test_the_operator_takes_a_file_over(client: httpx2.AsyncClient, settings: Settings, tmp_path: Path) -> None:
    machine = CommandLine.of(settings)
    file = tmp_path / "servers.ndjson"
    file.write_text('{"name": "io.github.acme/pelican", "description": "Counts pelicans"}\nbad\n')
    dry = ("directory", "import", str(file), "--dry-run", "--json")
    said = await asyncio.to_thread(machine.run, *dry)
    assert said.value["counts"] == {"created": 1, "refused": 1}
    assert (await client.get("/api/v1/tools/pelican")).status_code == 404
    said = await asyncio.to_thread(machine.run, "directory", "import", str(file))
    assert said.exit_code == 0
    assert "1 created, 1 refused" in said.out
    assert "not JSON" in said.out
    assert (await client.get("/api/v1/tools/pelican")).status_code == 200
    found = await read(client, "/api/v1/tools", query="pelicans")
    assert [item["slug"] for item in found["items"]] == ["pelican"]
