"""The whole application in this process: calls of every operation, of `/mcp` and of pages, and sockets with sound.

No answer is a 500, each one of an operation is as /openapi.json describes it, and nothing is logged as a crash. Names
are not looked up, texts are embedded by hashing and sound is read by a recogniser of the tests: what is tested is the
service's own code, as quickly as it runs.
"""

import asyncio
import contextlib
import io
import re
import socket
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NoReturn
from unittest.mock import patch
from urllib.parse import unquote_to_bytes

import httpx2
import orjson
from starlette.applications import Starlette
from starlette.types import Message, Scope

from negotiator.compose.application import build_application
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.store.migrate import migrate
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from negotiator.trust import issuer_queries
from tests.conftest import connect, make_settings, running
from tests.helpers import asgi_websocket
from tests.helpers import forged_assertions as forged
from tests.helpers.asgi_websocket import WebSocketClosed, WebSocketRefused
from tests.helpers.fake_recognizer import FakeRecognizer
from tests.helpers.form_browser import BASE
from tests.helpers.openapi_transport import DescribedOperation
from tests.helpers.request_runner import RequestRunner
from tests.helpers.teleprompter_client import CONSENT, PATH
from tests.live.fuzz.calls import CallMaker, MadeCall
from tests.live.fuzz.mutations import Mutator
from tests.live.fuzz.parsers import SOCKET_MESSAGES
from tests.live.fuzz.progress import Progress, ends_hanging, memory_mb

_RENEWED: Final = 400
"""Calls after which new callers with new things of their own go on."""
_PATIENCE: Final = 60.0
_TRACES: Final = ("Traceback", "crashed", "never retrieved", "Unhandled")
_SLOW: Final = 5.0
_NUMBER: Final = re.compile(r"[0-9]+|[a-z]{3,5}_[0-9a-z]{26}")


class WatchedLog(io.StringIO):
    """Takes the place of standard error, and keeps the lines since it was last taken."""

    def take(self) -> str:
        """What was written, if it tells of a fault; else empty."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text if any(mark in text for mark in _TRACES) else ""


async def send_call(application: Starlette, call: MadeCall) -> httpx2.Response:
    """The answer to a call by ASGI; a stream ends after its first piece."""
    path, _, query = call.target.partition("?")
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": call.method,
        "scheme": "https",
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            *([] if any(name == "host" for name, _ in call.headers) else [(b"host", b"negotiator.example")]),
            *((name.lower().encode(), value.encode("utf-8")) for name, value in call.headers),
        ],
        "client": ("203.0.113.7", 50_000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }  # fmt: skip
    sent, gone = False, asyncio.Event()
    answer: dict[str, Any] = {}
    pieces: list[bytes] = []

    async def receive() -> Message:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": call.body, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.update(message)
            if any(b"event-stream" in value for _, value in message["headers"]):
                gone.set()
        else:
            pieces.append(message.get("body", b""))

    async with asyncio.timeout(_PATIENCE):
        await application(scope, receive, send)
    return httpx2.Response(
        answer["status"], headers=answer["headers"], content=b"".join(pieces), request=httpx2.Request(call.method, BASE)
    )


class ApplicationFuzz:
    """The application, its callers, and what its answers have to be."""

    def __init__(self, application: Starlette, runner: RequestRunner, maker: CallMaker) -> None:
        self.application = application
        self.runner = runner
        self.maker = maker
        self.described = {each.name: DescribedOperation(each) for each in maker.service.operations}
        self.sockets = 0

    async def one(self, mutator: Mutator) -> tuple[str, Any, str]:
        """A call's outcome, what was sent, and its fault; empty for none."""
        if mutator.happens(0.02):
            return await self._socket(mutator)
        call = self.maker.make(mutator)
        answer = await send_call(self.application, call)
        fault = ""
        if answer.status_code == 500:
            fault = f"{call.name}: 500"
        elif call.described and call.name in self.described and call.method != "OPTIONS":
            fault = self._described(call, answer)
        self._learn(call, answer)
        return f"{answer.status_code}", call, fault

    def _described(self, call: MadeCall, answer: httpx2.Response) -> str:
        if answer.headers.get("content-type", "").startswith("text/html"):
            return ""
        described = self.described[call.name]
        if 400 <= answer.status_code < 500 and str(answer.status_code) not in described.responses:
            return ""  # a refusal of a header or a member that the operation does not have
        try:
            described.hold(answer)
        except AssertionError as fault:
            return f"{call.name} {answer.status_code}: {_NUMBER.sub('…', str(fault))[:120]}"
        return ""

    def _learn(self, call: MadeCall, answer: httpx2.Response) -> None:
        if not 200 <= answer.status_code < 300 or call.credential not in ("bound", "directory"):
            return
        if call.method == "DELETE":
            part = call.target.partition("?")[0].rpartition("/")[2]
            self.maker.seen = {name: key for name, key in self.maker.seen.items() if key != part}
            return
        if answer.status_code == 201 and answer.content[:1] == b"{":
            key = orjson.loads(answer.content).get("id")
            if isinstance(key, str):
                self.maker.seen[key.partition("_")[0]] = key
                self.maker.seen[call.target.rpartition("/")[2]] = key

    async def _socket(self, mutator: Mutator) -> tuple[str, Any, str]:
        """A socket of a new session: messages and sound, then the client goes."""
        headers = self.maker.material.headers["bound"]
        body = {"consent": CONSENT, "role": "buyer", "source": "audio"}
        opened = await self.runner.client.post(PATH, json=body, headers=headers)
        if opened.status_code != 201:
            return f"socket {opened.status_code}", body, ""
        random, frames = mutator.random, list[str | bytes]()
        for _ in range(random.randint(1, 12)):
            match random.randrange(4):
                case 0:
                    message = mutator.value(mutator.any_of(SOCKET_MESSAGES))
                    frames.append(mutator.json(message).decode(errors="replace"))
                case 1:
                    frames.append(orjson.dumps(mutator.any_of(SOCKET_MESSAGES)).decode())
                case _:
                    size = random.choice((0, 1, 3, 640, 641, 6400))
                    frames.append(bytes([random.choice((0, 1, 2))]) + random.randbytes(size))
        start = orjson.dumps(SOCKET_MESSAGES[0] | {"after": 0}).decode()
        outcome = "left"
        path = f"{PATH}/{opened.json()['id']}/stream"
        try:
            async with asgi_websocket.connect(self.application, path, headers=headers) as one:
                for frame in (start, *frames, '{"type":"ping"}'):
                    await (one.send_text if isinstance(frame, str) else one.send_bytes)(frame)  # pyright: ignore[reportArgumentType]
                await one.until("pong")
        except WebSocketClosed as closed:
            outcome = str(closed.code)
        except WebSocketRefused as refused:
            outcome = str(refused.status)
        fault = "socket closed by a fault of ours" if outcome == "1011" else ""
        return f"socket {outcome}", frames, fault


@contextlib.asynccontextmanager
async def started(folder: Path) -> AsyncGenerator[ApplicationFuzz]:
    """The application over a new database, with callers and what belongs to them."""
    settings = make_settings(folder, folder / "keys")
    await migrate(settings.database_url)
    store = make_store(settings.database_url)
    await store.start()

    async def change(unit: Callable[[Transaction], Any]) -> Any:
        return await store.write(unit)

    trusted = forged.issuer(email_verifier=True)
    await change(lambda tx: issuer_queries.add(tx, trusted, own=BASE, allow_loopback=False))
    described = build_application(settings)
    async with running(settings) as application, connect(application) as client:
        runner = RequestRunner(asyncio.Runner(), client, change, described.delegations)
        maker = CallMaker(described.service, await runner.make_material())
        yield ApplicationFuzz(application, runner, maker)
    await store.close()


def _embedder(*_about: object, **_more: object) -> HashingEmbedder:
    return HashingEmbedder("quick")


def _recognizer(_settings: object) -> FakeRecognizer:
    return FakeRecognizer()


@contextlib.contextmanager
def alone() -> Generator[None]:
    """No names are looked up, texts are embedded and sound is read at once."""

    def unknown(*_about: Any, **_more: Any) -> NoReturn:
        raise socket.gaierror("no names here")

    with (
        patch("socket.getaddrinfo", unknown),
        patch("negotiator.compose.assistant.choose_embedder", _embedder),
        patch("negotiator.compose.assistant.make_recognizer", _recognizer),
    ):  # fmt: skip
        yield


async def _run(progress: Progress, folder: Path, log: WatchedLog) -> None:
    async with started(folder) as fuzz:
        for number in range(progress.done, progress.inputs):
            if number % _RENEWED == _RENEWED - 1:
                fuzz.maker.material = await fuzz.runner.make_material()
                fuzz.maker.seen.clear()
            log.take()
            began, sent, fault, outcome = time.process_time(), None, "", "raised"
            try:
                with ends_hanging(_PATIENCE * 2):
                    outcome, sent, fault = await fuzz.one(progress.mutator(number))
            except Exception as raised:
                progress.raised(number, raised, sent)
            took = time.process_time() - began
            told = log.take()
            if fault or told:
                progress.fault(number, fault or told.strip()[-150:], sent, told)
            if took > _SLOW:
                progress.fault(number, f"slow: {getattr(sent, 'name', 'socket')}", sent, f"{took} s")
            progress.count(outcome, took, getattr(sent, "name", "socket"))
            if progress.is_saving():
                progress.save(memory_mb())


def run(progress: Progress) -> None:
    """All inputs that are left."""
    progress.begin()
    log = WatchedLog()
    with TemporaryDirectory() as folder, alone(), patch.object(sys, "stderr", log):
        asyncio.run(_run(progress, Path(folder), log))
