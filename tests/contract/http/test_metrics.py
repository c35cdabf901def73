"""`GET /metrics`: not there, behind a token, or on an address of its own."""

import asyncio

import httpx2
import pytest

from negotiator.config.settings import Settings, load
from negotiator.config.settings_files import SettingsError
from tests.conftest import connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.live_server import free_port

TOKEN = "only the collector knows"


@pytest.mark.asyncio
@covers("1.13:metrics")
async def test_without_a_token_the_public_port_has_no_metrics(client: httpx2.AsyncClient) -> None:
    refused(await client.get("/metrics"), 404, "not_found")
    guess = {"authorization": "Bearer "}
    refused(await client.get("/metrics", headers=guess), 404, "not_found")


@pytest.mark.asyncio
@covers("1.13:metrics")
async def test_the_token_opens_metrics_and_nothing_else_does(settings: Settings) -> None:
    other_settings = make_settings(settings.data_dir, settings.keys_dir, metrics_token=TOKEN)
    async with running(other_settings) as application, connect(application) as client:
        plain = await client.get("/metrics")
        assert "error=" not in plain.headers["www-authenticate"]
        refused(plain, 401, "invalid_token")
        for wrong in ("Bearer no", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN):
            refused(await client.get("/metrics", headers={"authorization": wrong}), 401, "invalid_token")
        answer = await client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert answer.headers["cache-control"] == "no-store"
        assert TOKEN not in answer.text


@pytest.mark.asyncio
@covers("1.13:metrics")
async def test_guesses_at_the_token_are_limited(settings: Settings) -> None:
    other_settings = make_settings(settings.data_dir, settings.keys_dir, metrics_token=TOKEN, limit_baseline_rpm=3)
    async with running(other_settings) as application, connect(application) as client:
        found = [(await client.get("/metrics")).status_code for _ in range(5)]
        assert found == [401, 401, 401, 429, 429]
        own = {"authorization": f"Bearer {TOKEN}"}
        text = (await client.get("/metrics", headers=own)).text
    assert 'negotiator_limit_refusals_total{budget="baseline"} 2' in text


@pytest.mark.asyncio
@covers("1.13:metrics")
async def test_it_counts_what_happened(settings: Settings) -> None:
    other_settings = make_settings(settings.data_dir, settings.keys_dir, metrics_token=TOKEN)
    async with running(other_settings) as application, connect(application) as client:
        body = {"agent_name": "tester", "identity_type": "anonymous"}
        for _ in range(2):
            await client.post("/api/agent/register", json=body)
        await client.post("/api/agent/register", json={})
        await client.get("/api/negotiations")
        await client.get("/robots.txt")
        own = {"authorization": f"Bearer {TOKEN}"}
        lines = (await client.get("/metrics", headers=own)).text.splitlines()
    for sample in (
        'negotiator_requests_total{operation="register_agent",status="201"} 2',
        'negotiator_requests_total{operation="register_agent",status="400"} 1',
        'negotiator_requests_total{operation="list_negotiations",status="401"} 1',
        'negotiator_requests_total{operation="page",status="200"} 1',
        'negotiator_tokens_issued_total{operation="register_agent"} 2',
        'negotiator_request_seconds_count{operation="register_agent"} 3',
        "negotiator_workers 1",
    ):
        assert sample in lines
    named = {line.partition("{")[0].partition(" ")[0] for line in lines}
    assert {"negotiator_commit_units_count", "process_resident_memory_bytes"} <= named


async def ask(port: int, head: bytes) -> bytes:
    """What the private address answers to these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.asyncio
@covers("1.13:metrics")
async def test_a_private_address_answers_without_a_token(settings: Settings) -> None:
    port = free_port()
    other_settings = make_settings(settings.data_dir, settings.keys_dir, metrics_listen=f"127.0.0.1:{port}")
    async with running(other_settings) as application, connect(application) as client:
        refused(await client.get("/metrics"), 404, "not_found")
        answer = await ask(port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK")
        assert f"Content-Length: {len(body)}".encode() in head
        assert b"negotiator_workers 1\n" in body
        looked = await ask(port, b"HEAD /metrics HTTP/1.1\r\n\r\n")
        assert looked.startswith(b"HTTP/1.1 200 OK")
        assert looked.endswith(b"\r\n\r\n")
        for strange in (b"GET / HTTP/1.1\r\n\r\n", b"POST /metrics HTTP/1.1\r\n\r\n"):
            assert (await ask(port, strange)).startswith(b"HTTP/1.1 404")
        for broken in (b"\r\n\r\n", b"x" * 20_000):
            assert not (await ask(port, broken)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("address", ["9464", "localhost", "localhost:", "localhost:99999", ":1"])
def test_an_address_that_is_none_stops_the_start(address: str) -> None:
    with pytest.raises(SettingsError, match="METRICS_LISTEN: must be host:port"):
        load(metrics_listen=address)
