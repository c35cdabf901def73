"""The number of files of the package that a request enters: a reader has to open that many to follow it.

`make files-entered` prints files, functions and the crossings between files for each request.
Each request is made twice and the second is measured, in process; the thread of the writer counts too.
"""

import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
import pytest

import negotiator
from tests.conftest import Mint, Register, bearer
from tests.helpers.fake_issuer import FakeIssuer, registration

PACKAGE = str(Path(negotiator.__file__).parent)
NEGOTIATION: dict[str, Any] = {
    "title": "Laptops",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": "800", "max": "1200.00"}}],
    "walk_away": {"package": {"price": "1100"}},
}
SCOPES = [
    *("negotiations:read", "negotiations:write", "memories:read", "memories:write", "ai:tactics"),
    "teleprompter:stream",
]
MOST = {"list": 20, "next move": 54, "utterance": 64}


class Recorder:
    """Notes the package's functions that are called while `on`."""

    def __init__(self) -> None:
        self.on = False
        self.functions: set[tuple[str, int]] = set()
        self.crossings = 0
        self._last: dict[int, str] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        path = frame.f_code.co_filename
        if event != "call" or not self.on or not path.startswith(PACKAGE):
            return
        self.functions.add((path, frame.f_code.co_firstlineno))
        thread = threading.get_ident()
        self.crossings += self._last.get(thread, path) != path
        self._last[thread] = path

    @contextmanager
    def recording(self) -> Generator[None]:
        self.functions, self.crossings, self._last = set(), 0, {}
        self.on = True
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            self.on = False

    @property
    def files(self) -> list[str]:
        return sorted({path.removeprefix(PACKAGE + "/") for path, _ in self.functions})


@pytest.fixture
def recorder() -> Generator[Recorder]:
    """A recorder that also sees the threads started after it."""
    made = Recorder()
    threading.setprofile(made)
    yield made
    threading.setprofile(None)


@pytest.mark.long
@pytest.mark.asyncio
async def test_a_reader_has_few_files_to_follow(
    recorder: Recorder, client: httpx2.AsyncClient, register: Register, mint: Mint, idp: FakeIssuer
) -> None:
    agent = await register()
    _, code = await mint(scopes=SCOPES)
    claim = await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
    headers = bearer(claim.json())

    async def post(path: str, body: Any = None) -> httpx2.Response:
        answer = await client.post(path, json=body, headers=headers)
        assert answer.status_code < 300, answer.text
        return answer

    async def get(path: str) -> httpx2.Response:
        answer = await client.get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer

    key = (await post("/api/negotiations", NEGOTIATION)).json()["id"]
    one = f"/api/negotiations/{key}"
    consent = {"basis": "all_parties", "confirmed_by": "Ada Lovelace"}
    call = {"consent": consent, "role": "buyer", "negotiation_id": key}
    session = (await post("/api/teleprompter/sessions", call)).json()["id"]
    spoken = iter(range(20))

    async def register_by_assertion() -> httpx2.Response:
        return await client.post("/api/agent/register", json=registration(idp.assertion()))

    async def utter() -> httpx2.Response:
        body = {"utterance_id": f"u{next(spoken)}", "text": "Your price is too high, we need 900."}
        return await post(f"/api/teleprompter/sessions/{session}/utterances", body)

    requests: dict[str, Callable[[], Awaitable[httpx2.Response]]] = {
        "list": lambda: get("/api/negotiations"),
        "open": lambda: post("/api/negotiations", NEGOTIATION),
        "register ID-JAG": register_by_assertion,
        "record an offer": lambda: post(f"{one}/offers", {"by": "them", "package": {"price": 1150}}),
        "next move": lambda: post(f"{one}/next-move", {}),
        "utterance": utter,
        "plan": lambda: post(f"{one}/battle-plans", {}),
        "directory search": lambda: client.get("/api/v1/tools?query=translate"),
    }
    entered: dict[str, int] = {}
    lines = [f"{'request':18}{'files':>7}{'functions':>11}{'crossings':>11}"]
    for name, request in requests.items():
        await request()
        counts: list[int] = []
        for _ in range(10):  # the fewest: background work of the process is no part of a request
            with recorder.recording():
                await request()
            counts.append(len(recorder.files))
        entered[name] = min(counts)
        figures = entered[name], len(recorder.functions), recorder.crossings
        lines.append("{:18}{:7}{:11}{:11}".format(name, *figures))
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert {name: entered[name] for name, most in MOST.items() if entered[name] > most} == {}
