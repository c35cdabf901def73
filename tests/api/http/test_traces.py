"""Traces of requests: from the request to its units of the store and the calls out, with nothing private in them."""

import asyncio
import io
import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from negotiator.advice.advisor import WordingRequest
from negotiator.advice.openai_advisor import OpenAiAdvisor
from negotiator.compose.services import Services
from negotiator.config.settings import Settings, load
from negotiator.config.settings_files import SettingsError
from negotiator.http import pipeline
from negotiator.memory.embedding.remote_embedder import RemoteEmbedder
from negotiator.runtime import telemetry
from negotiator.runtime.metrics import MetricRegistry, prometheus_text
from negotiator.runtime.trace_export import QUEUE, TraceExport
from negotiator.runtime.tracing import NEW_TRACE, current_span, outgoing_headers, sent_context, span
from tests.conftest import bearer, connect, make_settings, running
from tests.helpers.fake_issuer import registration
from tests.helpers.mcp_client import McpClient
from tests.helpers.negotiation_client import negotiation_body
from tests.helpers.recording_smtp import recording_smtp
from tests.helpers.trace_collector import TraceCollector, collecting, only, span_attributes

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, UNSAMPLED = f"00-{TRACE}-{CALLER}-01", f"00-{TRACE}-{CALLER}-00"
BODY = {"agent_name": "the secret agent", "identity_type": "anonymous"}


@asynccontextmanager
async def traced(settings: Settings, collector: TraceCollector, **more: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of an application whose traces go to the collector, the last of them at the end of the block."""
    wanted = {"traces_url": collector.url, "traces_sample": 1.0, **more}
    chosen = make_settings(settings.data_dir, settings.keys_dir, **wanted)
    async with running(chosen) as application, connect(application) as client:
        yield client


@asynccontextmanager
async def exporting(url: str, folder: Path, *, sample: float = 1) -> AsyncGenerator[None]:
    export = TraceExport(url, sample=sample, version="1", meters=MetricRegistry(folder))
    export.start()
    yield
    await export.close()


@pytest.mark.asyncio
async def test_a_request_is_traced_down_to_its_units_in_the_trace_of_its_caller(settings: Settings) -> None:
    with collecting() as collector:
        async with traced(settings, collector) as client:
            agent = bearer((await client.post("/api/agent/register", json=BODY)).json())
            answer = await client.get("/api/negotiations", headers={**agent, "traceparent": SAMPLED})
    spans = [each for each in collector.spans if each.trace_id.hex() == TRACE]
    request = only(spans, "list_negotiations")
    assert request.parent_span_id.hex() == CALLER
    assert span_attributes(request) == {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "negotiator.operation": "list_negotiations",
        "negotiator.request_id": answer.headers["x-request-id"],
    }
    units = [each for each in spans if each.name in {"read", "scan"}]
    assert units
    assert {unit.parent_span_id for unit in units} == {request.span_id}
    registration = only(collector.spans, "register_agent")
    assert "write" in {each.name for each in collector.spans if each.trace_id == registration.trace_id}


@pytest.mark.asyncio
async def test_nothing_that_a_client_sent_or_got_leaves_in_a_trace(settings: Settings) -> None:
    title = "Grandmother's house in Trieste"
    with collecting() as collector:
        async with traced(settings, collector) as client:
            registered = (await client.post("/api/agent/register", json=BODY)).json()
            agent = bearer(registered)
            opened = await client.post("/api/negotiations", json=negotiation_body(title=title), headers=agent)
            key = opened.json()["id"]
            await client.get(f"/api/negotiations/{key}", headers=agent)
            await client.get("/api/memories/search?query=heirloom", headers=agent)
            await client.get("/approve/a-link-that-grants", headers={"accept": "text/html"})
            await client.post("/api/agent/claim", json={"code": "WRONG-CODE"}, headers=agent)
    sent = b"".join(collector.bodies)
    assert b"get_negotiation" in sent
    private = (
        *(title, "Grandmother", BODY["agent_name"], registered["access_token"], key, "heirloom"),
        *("a-link-that-grants", "WRONG-CODE", "203.0.113.7"),
    )
    for text in private:
        assert text.encode() not in sent, text


@pytest.mark.asyncio
async def test_a_call_over_mcp_and_a_refusal_name_themselves(settings: Settings) -> None:
    with collecting() as collector:
        async with traced(settings, collector) as client:
            agent = bearer((await client.post("/api/agent/register", json=BODY)).json())
            await McpClient(client, agent).call("list_negotiations")
            await client.get("/api/negotiations/neg_nobody", headers=agent)
            await client.get("/api/negotiations")
    mcp, missing = only(collector.spans, "mcp"), only(collector.spans, "get_negotiation")
    assert span_attributes(mcp)["negotiator.operation"] == "list_negotiations"
    assert span_attributes(missing)["negotiator.refusal"] == "not_found"
    assert missing.status.code == 0
    assert only(collector.spans, "list_negotiations").status.code == 0


@pytest.mark.asyncio
async def test_log_lines_of_a_request_have_the_id_of_its_trace(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = io.StringIO()
    monkeypatch.setattr(sys, "stderr", lines)
    monkeypatch.setattr(pipeline, "log", telemetry.logger("tests"))
    with collecting() as collector:
        async with traced(settings, collector, log_format="json", traces_sample=0.0) as client:
            telemetry.logger("tests").info("outside")
            answer = await client.post(
                "/api/agent/register", json=registration("not a token"), headers={"traceparent": UNSAMPLED}
            )
    monkeypatch.undo()
    written = [json.loads(line) for line in lines.getvalue().splitlines() if line[:1] == "{"]
    of_request = [line for line in written if line.get("trace_id") == TRACE]
    assert {line["request_id"] for line in of_request} == {answer.headers["x-request-id"]}
    assert all("trace_id" not in line for line in written if line["event"] == "outside")
    assert collector.bodies == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "sent",
    [
        "",
        "00-0-0-01",
        f"ff-{TRACE}-{CALLER}-01",
        f"00-{'0' * 32}-{CALLER}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{CALLER}-01",
        f"{SAMPLED}-more",
        "x" * 55,
    ],
)
async def test_a_malformed_traceparent_begins_a_new_trace(settings: Settings, sent: str) -> None:
    with collecting() as collector:
        async with traced(settings, collector) as client:
            answer = await client.get("/api/health", headers={"traceparent": sent})
    assert answer.status_code == 200
    request = only(collector.spans, "get_health")
    assert request.parent_span_id == b""
    assert request.trace_id.hex() != TRACE


@pytest.mark.asyncio
async def test_the_caller_does_not_decide_what_is_recorded(tmp_path: Path) -> None:
    with collecting() as collector:
        async with exporting(collector.url, tmp_path, sample=0):
            with span("work", parent=sent_context(SAMPLED)) as passed, span("inside"):
                assert not passed.is_recording()
                _, trace, _, flags = outgoing_headers()["traceparent"].split("-")
                assert (trace, flags) == (TRACE, "00")
        async with exporting(collector.url, tmp_path):
            with pytest.raises(OSError, match="their words"), span("recorded", parent=sent_context(UNSAMPLED)):
                raise OSError("their words")
    [recorded] = collector.spans
    assert (recorded.name, recorded.status.code, recorded.status.message) == ("recorded", 2, "")
    assert span_attributes(recorded) == {"error.type": "OSError"}
    assert not recorded.events


Ask = Callable[[], Awaitable[object]]


def embedding(transport: httpx2.AsyncBaseTransport) -> tuple[Ask, Ask]:
    """Asks an embedding service; closes its client."""
    embedder = RemoteEmbedder("https://models.example/v1", key="", model="m", transport=transport)
    return lambda: embedder.embed(["text"]), embedder.close


def advice(transport: httpx2.AsyncBaseTransport) -> tuple[Ask, Ask]:
    """Asks an advisor; closes its client."""
    advisor = OpenAiAdvisor("https://models.example/v1", key="", model="m", transport=transport)
    request = WordingRequest({"say": "We can meet on Monday."}, "a suggestion")

    async def ask() -> None:
        assert (await advisor.word(request)).by == "advisor"

    return ask, advisor.close


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "service", "content"),
    [
        ("embedding", embedding, {"data": [{"index": 0, "embedding": [1.0]}]}),
        ("advisor", advice, {"choices": [{"message": {"content": '{"say": "We could meet on Monday."}'}}]}),
    ],
)
async def test_a_service_of_the_operator_gets_the_trace(
    tmp_path: Path, name: str, service: Callable[[httpx2.AsyncBaseTransport], tuple[Ask, Ask]], content: object
) -> None:
    sent: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.headers.get("traceparent", ""))
        return httpx2.Response(200, stream=httpx2.ByteStream(json.dumps(content).encode()))

    ask, close = service(httpx2.MockTransport(answer))
    with collecting() as collector:
        async with exporting(collector.url, tmp_path):
            await ask()
            with span("work", parent=NEW_TRACE):
                await ask()
    await close()
    called = only(collector.spans, name)
    # 03: recorded, and the trace id is random (Trace Context Level 2 §3.2.2.5).
    assert sent == ["", f"00-{called.trace_id.hex()}-{called.span_id.hex()}-03"]
    assert called.parent_span_id == only(collector.spans, "work").span_id


@pytest.mark.asyncio
async def test_a_mail_has_a_trace_of_its_own(settings: Settings) -> None:
    to = "ada@example.com"
    with collecting() as collector:
        async with recording_smtp("plain") as smtp:
            chosen = make_settings(
                settings.data_dir,
                settings.keys_dir,
                traces_url=collector.url,
                traces_sample=1.0,
                smtp_url=f"smtp://127.0.0.1:{smtp.port}",
            )
            services = Services(chosen)
            assert services.traces
            services.traces.start()
            await services.store.start()
            await services.store.write(lambda tx: services.mails.add(tx, to, "subject", "text", life=60_000))
            await services.mails.send_due()
            await smtp.received()
            await services.store.close()
            await services.traces.close()
    assert only(collector.spans, "smtp").parent_span_id == b""
    assert to.encode() not in b"".join(collector.bodies)


@pytest.mark.asyncio
async def test_requests_are_answered_while_the_collector_hangs(settings: Settings) -> None:
    with collecting() as collector:
        collector.answers.clear()
        async with traced(settings, collector, metrics_token="t") as client:
            for _ in range(300):  # more than a batch, so that the sender has begun
                assert (await client.get("/api/health")).status_code == 200
            await asyncio.to_thread(collector.asked.wait)
            assert (await client.post("/api/agent/register", json=BODY)).status_code == 201
        assert collector.bodies == []


@pytest.mark.asyncio
async def test_only_so_many_spans_wait_for_a_collector_that_hangs(tmp_path: Path) -> None:
    with collecting() as collector:
        collector.answers.clear()
        async with exporting(collector.url, tmp_path):
            for number in range(3 * QUEUE):
                with span(f"span {number}", parent=NEW_TRACE):
                    pass
            await asyncio.to_thread(collector.asked.wait)
            collector.answers.set()
        names = {each.name for each in collector.spans}
    assert QUEUE <= len(names) <= 2 * QUEUE
    assert f"span {3 * QUEUE - 1}" in names


@pytest.mark.asyncio
async def test_without_a_collector_spans_are_lost_and_counted(tmp_path: Path) -> None:
    meters = MetricRegistry(tmp_path)
    with collecting() as collector:
        gone = collector.url
    export = TraceExport(gone, sample=1, version="1", meters=meters)
    export.start()
    with span("lost", parent=NEW_TRACE):
        pass
    await export.close()
    async with asyncio.timeout(30):  # the sender may still try
        while 'outcome="lost"} 1' not in prometheus_text(meters.snapshot(), ()):
            await asyncio.sleep(0.05)


def test_nothing_is_recorded_while_traces_are_off() -> None:
    with span("anything", parent=NEW_TRACE) as begun, span("inside"):
        assert not begun.is_recording()
        assert not current_span().is_recording()
        assert outgoing_headers() == {}


@pytest.mark.parametrize("url", ["collector:4318", "ftp://c/v1", "https://me:pw@c/v1/traces"])
def test_a_wrong_address_of_a_collector_stops_the_start(url: str) -> None:
    with pytest.raises(SettingsError, match="TRACES_URL"):
        load(traces_url=url)


def test_without_the_extra_the_start_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("negotiator.config.settings.find_spec", lambda _name: None)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    with pytest.raises(SettingsError, match=r"negotiator\[tracing\]"):
        load(traces_url="http://127.0.0.1:4318/v1/traces")
