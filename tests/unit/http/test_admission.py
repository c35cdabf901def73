"""The queue of a worker's requests: its order, its bounds, what it counts and logs."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from negotiator.http import admission
from negotiator.http.admission import AdmissionQueue, OverloadRecord, Priorities, RefusedAnswers
from negotiator.http.operation import Operation
from negotiator.runtime.metrics import MetricRegistry
from negotiator.store.waiting import Priority
from tests.contract.requirements import covers

pytestmark = pytest.mark.asyncio


async def _nothing(_call: Any) -> None: ...


REVOKE = Operation(name="revoke", method="POST", path="/revoke", summary="", run=_nothing, urgent=True)
PROBE = Operation(name="probe", method="GET", path="/livez", summary="", run=_nothing, probe=True)


@dataclass
class FakeRequest:
    """A request that notes what became of it, in `began` shared by all."""

    method: str
    path: str
    began: list[str]
    accept: bytes = b"*/*"
    is_gone: bool = False
    waited: float = 0.0
    refused: list[bytes] = field(default_factory=list[bytes])

    @property
    def scope(self) -> Any:
        headers = [(b"accept", self.accept)]
        return {"method": self.method, "path": self.path, "headers": headers}

    def begin(self) -> None:
        self.began.append(f"{self.method} {self.path}")

    def refuse(self, answer: bytes, *, body: int) -> None:
        assert answer.endswith(b"\r\n\r\n" + answer[-body:])
        self.refused.append(answer)


def _queue(folder: Path, wait: Callable[[Priority], float] = lambda _priority: 0.0) -> AdmissionQueue:
    page = [(b"content-type", b"text/html")], b"<p>Busy.</p>"
    record = OverloadRecord(MetricRegistry(folder))
    return AdmissionQueue(Priorities([REVOKE, PROBE]), RefusedAnswers([], page), record, wait)


async def _settle(requests: list[FakeRequest], began: list[str]) -> None:
    while len(began) + sum(bool(each.refused) for each in requests) < len(requests):
        await asyncio.sleep(0)


async def test_what_is_urgent_comes_first_then_reads_and_every_fourth_is_a_change(tmp_path: Path) -> None:
    queue, began = _queue(tmp_path), list[str]()
    arrivals = [("POST", "/make")] * 8 + [("GET", "/list")] * 20 + [("POST", "/revoke")] * 2
    requests = [FakeRequest(method, path, began) for method, path in arrivals]
    for each in requests:
        queue.arrive(each)
    await _settle(requests, began)
    assert began[:4] == ["POST /make"] * 4  # begun at once, as nobody waited
    assert began[4:6] == ["POST /revoke"] * 2
    assert began[6:14].count("GET /list") == 6
    assert sorted(began) == sorted(f"{method} {path}" for method, path in arrivals)


async def test_who_would_wait_more_than_a_second_for_the_database_is_refused_at_once(tmp_path: Path) -> None:
    def wait(priority: Priority) -> float:
        return 1.1 if priority == Priority.CHANGE else 0.0

    queue, began = _queue(tmp_path, wait), list[str]()
    requests = [FakeRequest(each, "/", began) for each in ("POST", "GET")]
    for each in requests:
        queue.arrive(each)
    await _settle(requests, began)
    assert began == ["GET /"]
    [answer] = requests[0].refused
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nretry-after: 1\r\n" in answer
    assert b'"error":"temporarily_unavailable"' in answer
    assert queue.record.state() == "refusing"


@covers("1.13:probes-free")
async def test_a_probe_begins_at_once_whatever_waits(tmp_path: Path) -> None:
    queue, began = _queue(tmp_path, lambda _priority: 2.0), list[str]()
    for method, path in [("GET", "/list")] * 20 + [("GET", "/livez"), ("HEAD", "/livez")]:
        queue.arrive(FakeRequest(method, path, began))
    assert began == ["GET /livez", "HEAD /livez"]
    await asyncio.sleep(0)


async def test_a_browser_that_is_refused_gets_a_page(tmp_path: Path) -> None:
    queue = _queue(tmp_path, lambda _priority: 2.0)
    request = FakeRequest("GET", "/", [], accept=b"text/html,*/*")
    queue.arrive(request)
    await _settle([request], [])
    assert request.refused[0].endswith(b"<p>Busy.</p>")


async def test_a_queue_that_never_empties_is_held_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "_STANDING_AFTER", -1.0)
    queue, began = _queue(tmp_path), list[str]()
    requests = [FakeRequest("GET", "/", began) for _ in range(300)]

    def busy(request: FakeRequest) -> None:
        request.began.append("GET /")
        time.sleep(0.0005)

    for each in requests:
        each.begin = lambda at=each: busy(at)
    for each in requests[:32]:
        queue.arrive(each)
    while len(began) < 24:  # the pace is known now
        await asyncio.sleep(0)
    waiting = 32 - len(began)
    for each in requests[32:]:
        queue.arrive(each)
    await _settle(requests, began)
    served = len(began)
    assert waiting + 24 <= served < 250
    assert served + sum(bool(each.refused) for each in requests) == 300


async def test_in_a_queue_that_never_empties_a_client_that_did_not_wait_is_refused_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "_STANDING_AFTER", -1.0)
    queue, began = _queue(tmp_path), list[str]()
    requests = [FakeRequest("GET", "/", began) for _ in range(9)]
    requests[8].waited = admission.READ_AGAIN_AFTER
    for each in requests:
        queue.arrive(each)
    await _settle(requests, began)
    assert [bool(each.refused) for each in requests] == [False] * 8 + [True]


async def test_a_request_whose_client_has_gone_does_not_begin(tmp_path: Path) -> None:
    queue, began = _queue(tmp_path), list[str]()
    requests = [FakeRequest("GET", f"/{number}", began) for number in range(6)]
    for each in requests:
        queue.arrive(each)
    requests[5].is_gone = True
    while len(began) < 5:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert "GET /5" not in began


async def test_an_overload_ends_five_seconds_after_the_last_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = OverloadRecord(MetricRegistry(tmp_path))
    record.note("processor")
    record.check()
    assert record.state() == "refusing"
    monkeypatch.setattr(admission, "_OVER_AFTER", -1.0)
    record.check()
    assert record.state() == "ok"
