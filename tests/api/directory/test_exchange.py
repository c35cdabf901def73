"""The catalogue in other words: imports of every shape, the export, the MCP registry's surface."""

import gzip
import json
from pathlib import Path
from typing import Any, Final

import httpx2
import orjson
import pytest

from negotiator.directory import catalogue_queries, exchange_import
from negotiator.directory.exchange_import import ImportOutcome
from negotiator.directory.tool_record import FieldEvidence, ToolRecord
from negotiator.store.store import Store
from tests.conftest import Change
from tests.helpers.answer_checks import refused
from tests.helpers.directory_agents import record

pytestmark = pytest.mark.asyncio
_ENTRIES: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("exchange_entries.json").read_text())
WEATHER, SEED_SHAPE, FACTS = _ENTRIES["weather"], _ENTRIES["older_form"], _ENTRIES["facts"]


def official(status: str, **more: Any) -> dict[str, Any]:
    """A registry envelope around the weather server."""
    return {"server": WEATHER, "_meta": {exchange_import.OFFICIAL_NAMESPACE: {"status": status, **more}}}


async def run(store: Store, path: Path, text: str) -> list[ImportOutcome]:
    """Import a file."""
    path.write_text(text)
    lines = list(exchange_import.read_file(path))
    return await store.write(lambda tx: exchange_import.import_batch(tx, lines))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file to import."""
    return tmp_path / "entries.json"


async def test_a_server_json_becomes_a_record(store: Store, file: Path) -> None:
    outcome, *_ = await run(store, file, json.dumps({"servers": [official("active")]}))
    assert outcome.action == "created"
    view = (await store.read(lambda tx: catalogue_queries.require(tx, "weather"))).view
    assert (view.name, view.summary, view.version) == ("Weather", "Forecasts for any place", "1.2.0")
    assert view.external_ids.mcp_registry == "io.github.acme/weather"
    assert view.publisher is not None
    assert (view.publisher.name, view.publisher.verified) == ("acme", False)
    assert view.auth.type == "api_key"
    assert [each.type for each in view.interfaces] == ["streamable-http", "stdio"]
    assert view.category == "location-devices"
    assert view.evidence[0].method == "registry"


@pytest.mark.parametrize("form", ["array", "servers", "ndjson"])
async def test_every_form_of_file_and_every_age_of_entry_is_read(store: Store, file: Path, form: str) -> None:
    entries = [official("active"), SEED_SHAPE, FACTS]
    text = {
        "array": json.dumps(entries),
        "servers": json.dumps({"servers": entries}, indent=1),
        "ndjson": "\n".join(map(json.dumps, entries)) + "\n\n",
    }[form]
    found = await run(store, file, text)
    assert [each.action for each in found] == ["created", "created", "updated"]
    old = (await store.read(lambda tx: catalogue_queries.require(tx, "old"))).view
    assert old.packages[0].registry == "pypi"
    assert (old.version, old.auth.type) == ("0.1.0", "api_key")
    weather = (await store.read(lambda tx: catalogue_queries.require(tx, "weather"))).view
    assert (weather.licence, weather.summary) == ("MIT", "Forecasts for any place")
    assert {line.field: line.source for line in weather.evidence}["licence"] == "a/list"


async def test_importing_again_changes_nothing(store: Store, file: Path) -> None:
    text = json.dumps([official("active"), SEED_SHAPE])
    await run(store, file, text)
    before = await store.read(catalogue_queries.latest_change)
    assert [each.action for each in await run(store, file, text)] == ["unchanged", "unchanged"]
    assert await store.read(catalogue_queries.latest_change) == before


async def test_a_thousand_lines_with_a_bad_one_bring_nine_hundred_and_ninety_nine(store: Store, file: Path) -> None:
    each = [json.dumps({**WEATHER, "name": f"io.github.acme/w{n}", "repository": None,
                        "websiteUrl": None, "packages": [], "remotes": []}) for n in range(1000)]  # fmt: skip
    each[500] = '{"name": "io.github.acme/x", "name": "twice"}'
    found = await run(store, file, "\n".join(each))
    assert len(found) == 1000
    assert [line.line for line in found if line.action == "refused"] == [501]
    assert await store.read(catalogue_queries.latest_change) == 999


async def test_what_is_no_entry_is_refused_by_line(store: Store, file: Path) -> None:
    bad: list[Any] = [
        1, "x", {}, {"name": 5}, {"name": "a/b", "packages": 7, "description": ["x"]},
        {"server": {"name": "a/b"}, "_meta": {exchange_import.OFFICIAL_NAMESPACE: {"status": "odd"}}},
        {**FACTS, "kind": "toy"}, {**FACTS, "url": "javascript:alert(1)"},
        {**FACTS, "tags": 3, "transports": 4}, {**WEATHER, "name": "bad name/" + "x" * 300},
    ]  # fmt: skip
    found = await run(store, file, json.dumps(bad))
    assert [each.action for each in found] == [
        *["refused"] * 4, "created", *["refused"] * 5,
    ]  # fmt: skip
    assert all(each.reason for each in found if each.action == "refused")


async def test_a_deleted_entry_leaves_a_tombstone_and_an_older_version_is_passed_over(store: Store, file: Path) -> None:
    await run(store, file, json.dumps([official("active")]))
    found = await run(store, file, json.dumps([official("active", isLatest=False), official("deleted")]))
    assert [each.action for each in found] == ["skipped", "removed"]
    tool = await store.read(lambda tx: catalogue_queries.find(tx, "weather"))
    assert tool is not None
    assert tool.status == "deleted"
    again = await run(store, file, json.dumps([official("active"), official("deleted")]))
    assert [each.action for each in again] == ["skipped", "skipped"]


async def test_a_deprecated_entry_is_deprecated_here(store: Store, file: Path) -> None:
    await run(store, file, json.dumps([official("deprecated", statusMessage="Use another")]))
    view = (await store.read(lambda tx: catalogue_queries.require(tx, "weather"))).view
    assert (view.status, view.status_message) == ("deprecated", "Use another")


async def test_nothing_overwrites_what_is_better_attested(store: Store, file: Path) -> None:
    ours = record(
        "Weather",
        summary="Our own sentence",
        kind="mcp_server",
        category="location-devices",
        homepage_url="https://weather.example/",
        evidence=(FieldEvidence(source="owner", method="owner"),),
    )
    await store.write(lambda tx: catalogue_queries.put(tx, ours, actor="t"))
    outcome, *_ = await run(store, file, json.dumps([WEATHER]))
    assert outcome.action == "updated"
    view = (await store.read(lambda tx: catalogue_queries.require(tx, "weather"))).view
    assert view.summary == "Our own sentence"
    assert view.external_ids.mcp_registry == "io.github.acme/weather"
    assert view.packages[0].identifier == "@acme/weather"


async def test_two_tools_of_one_repository_stay_two(store: Store, file: Path) -> None:
    mono = {"url": "https://github.com/acme/mono"}
    entries = [{"name": f"io.github.acme/{name}", "description": name, "repository": mono} for name in ("maps", "mail")]
    found = await run(store, file, json.dumps(entries))
    assert [each.action for each in found] == ["created", "created"]


async def test_a_dry_run_says_what_would_be_and_leaves_nothing(store: Store, file: Path) -> None:
    file.write_text(json.dumps([official("active")]))
    batch = list(exchange_import.read_file(file))
    with pytest.raises(exchange_import.DryRunRollback) as undone:
        await store.write(lambda tx: exchange_import.import_batch(tx, batch, dry=True))
    assert [each.action for each in undone.value.outcomes] == ["created"]
    assert await store.read(catalogue_queries.latest_change) == 0


async def test_the_content_is_taken_over_once_per_version(store: Store) -> None:
    entries = list(exchange_import.read_content())
    assert await store.write(exchange_import.import_bundled_content) == len(entries)
    assert await store.write(exchange_import.import_bundled_content) == 0
    seq = await store.read(catalogue_queries.latest_change)
    assert seq == len(entries)
    again = await store.write(lambda tx: exchange_import.import_bundled_content(tx, "newer"))
    assert again == len(entries)
    assert await store.read(catalogue_queries.latest_change) == seq
    better: ToolRecord = entries[0].record.model_copy(
        update={"summary": "The owner's words", "evidence": (FieldEvidence(source="o", method="owner"),)}
    )
    first = await store.read(lambda tx: catalogue_queries.require(tx, entries[0].wanted_slug))
    await store.write(lambda tx: catalogue_queries.put(tx, better.model_copy(update={"id": first.id}), actor="o"))
    await store.write(lambda tx: exchange_import.import_bundled_content(tx, "newest"))
    kept = await store.read(lambda tx: catalogue_queries.require(tx, first.id))
    assert kept.view.summary == "The owner's words"


async def test_the_export_is_every_tool_with_its_licences(client: httpx2.AsyncClient, change: Change) -> None:
    lit = record("Lit", evidence=(FieldEvidence(source="l", licence="MIT", method="list"),))
    gone = await change(lambda tx: [catalogue_queries.put(tx, each, actor="t") for each in (lit, record())][1])
    await change(lambda tx: catalogue_queries.withdraw(tx, gone.id, "deleted", message="m", actor="op"))
    plain = await client.get("/api/v1/export.ndjson", headers={"accept-encoding": "identity"})
    (line,) = plain.content.splitlines()
    assert orjson.loads(line)["name"] == "Lit"
    assert orjson.loads(line)["licences"] == ["MIT"]
    assert plain.headers["content-type"] == "application/x-ndjson"
    async with client.stream("GET", "/api/v1/export.ndjson", headers={"accept-encoding": "gzip"}) as packed:
        raw = b"".join([chunk async for chunk in packed.aiter_raw()])
    assert gzip.decompress(raw) == plain.content
    for answer in (plain, packed):
        encoding = "gzip" if "content-encoding" in answer.headers else "identity"
        known = {"if-none-match": answer.headers["etag"], "accept-encoding": encoding}
        same = await client.get("/api/v1/export.ndjson", headers=known)
        assert same.status_code == 304


async def test_the_registry_surface_shows_the_same_servers(
    client: httpx2.AsyncClient, change: Change, file: Path
) -> None:
    file.write_text(json.dumps([official("active"), SEED_SHAPE]))
    batch = list(exchange_import.read_file(file))
    await change(lambda tx: exchange_import.import_batch(tx, batch))
    await change(lambda tx: catalogue_queries.put(tx, record("Mine", kind="mcp_server"), actor="t"))
    await change(lambda tx: catalogue_queries.put(tx, record("No server"), actor="t"))
    first = (await client.get("/v0.1/servers?limit=2")).json()
    rest = (await client.get("/v0.1/servers", params={"limit": 2, "cursor": first["metadata"]["nextCursor"]})).json()
    listed = [each["server"]["name"] for each in (*first["servers"], *rest["servers"])]
    assert sorted(listed) == ["io.github.acme/old", "io.github.acme/weather"]
    versions = {each["server"]["version"] for each in (*first["servers"], *rest["servers"])}
    assert not {version for version in versions if version.startswith("0.0.")}
    assert len(rest["servers"]) == rest["metadata"]["count"]
    found = (await client.get("/v0.1/servers?search=forecasts")).json()["servers"]
    assert [each["server"]["version"] for each in found] == ["1.2.0"]
    assert found[0]["_meta"][exchange_import.OFFICIAL_NAMESPACE]["isLatest"] is True
    for name in ("io.github.acme%2Fweather", "io.github.acme/weather"):
        for path in ("/v0.1/servers", "/v0/servers"):
            answer = await client.get(f"{path}/{name}/versions")
            assert answer.status_code == 200, name
            assert answer.json()["metadata"] == {"count": 1}
    assert (await client.get("/v0/servers?limit=2")).json() == first
    refused(await client.get("/v0.1/servers/example.negotiator%2Fmine/versions"), 404, "not_found")
    one = await client.get("/v0.1/servers/io.github.acme%2Fweather/versions/latest")
    assert exchange_import.read_server(one.json()).record.name == "Weather"
    assert (await client.get("/v0.1/servers/io.github.acme%2Fweather/versions/1.2.0")).is_success
    for path in ("io.github.acme%2Fweather/versions/9", "nobody%2Fhere/versions"):
        refused(await client.get(f"/v0.1/servers/{path}"), 404, "not_found")


async def test_a_page_of_the_registry_surface_is_not_empty_while_servers_follow(
    client: httpx2.AsyncClient, change: Change, file: Path
) -> None:
    file.write_text(json.dumps([official("active")]))
    batch = list(exchange_import.read_file(file))
    for name in ("First", "Second", "Third"):
        unlisted = record(name, kind="mcp_server")
        await change(lambda tx, unlisted=unlisted: catalogue_queries.put(tx, unlisted, actor="t"))
    await change(lambda tx: exchange_import.import_batch(tx, batch))
    for name in ("Fourth", "Fifth"):
        unlisted = record(name, kind="mcp_server")
        await change(lambda tx, unlisted=unlisted: catalogue_queries.put(tx, unlisted, actor="t"))
    page = (await client.get("/v0.1/servers?limit=1")).json()
    assert [each["server"]["name"] for each in page["servers"]] == ["io.github.acme/weather"]
    cursor = page["metadata"]["nextCursor"]
    last = (await client.get("/v0.1/servers", params={"limit": 1, "cursor": cursor})).json()
    assert last == {"servers": [], "metadata": {"count": 0}}


async def test_a_mirror_learns_what_went(client: httpx2.AsyncClient, change: Change, file: Path) -> None:
    file.write_text(json.dumps([official("active")]))
    batch = list(exchange_import.read_file(file))
    await change(lambda tx: exchange_import.import_batch(tx, batch))
    await change(lambda tx: catalogue_queries.withdraw(tx, "weather", "deleted", message="m", actor="op"))
    assert (await client.get("/v0.1/servers")).json()["servers"] == []
    params = {"updated_since": "2020-01-01T00:00:00Z"}
    (gone,) = (await client.get("/v0.1/servers", params=params)).json()["servers"]
    assert gone["_meta"][exchange_import.OFFICIAL_NAMESPACE]["status"] == "deleted"
    assert gone["server"]["name"] == "io.github.acme/weather"


async def test_what_the_registry_surface_lists_is_said_beside_it(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/v0.1/servers")
    assert answer.json() == {"servers": [], "metadata": {"count": 0}}
    address, relation = answer.headers["link"].split("; ")
    assert relation == 'rel="help"'
    page, _, part = address.strip("<>").partition("#")
    guide = await client.get(page)
    assert guide.status_code == 200
    assert f'id="{part}"' in guide.text
    described = (await client.get("/openapi.json")).json()["paths"]["/v0.1/servers"]["get"]
    for words in ("state both a `version`", "`external_ids.mcp_registry`", "kind=mcp_server"):
        assert words in " ".join(described["description"].split())
