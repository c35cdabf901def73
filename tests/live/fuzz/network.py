"""A running server with two workers: whole requests, damaged and cut bytes of HTTP/1.1, and sockets with any frames.

Every answer that begins as HTTP has a status, and none is a 500; the log has no traceback; after each round the health
of the server is asked, and the memory of its processes is added up.
"""

import asyncio
import base64
import contextlib
import os
import re
import struct
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
import orjson

from negotiator.compose.application import build_application
from negotiator.store.statement import Transaction
from tests.helpers.live_server import Server
from tests.helpers.request_runner import RequestRunner
from tests.helpers.teleprompter_client import CONSENT, PATH
from tests.live.fuzz.calls import CallMaker, MadeCall
from tests.live.fuzz.mutations import Mutator
from tests.live.fuzz.parsers import SOCKET_MESSAGES
from tests.live.fuzz.progress import Progress, memory_mb

_AT_ONCE: Final = 8
_ROUND: Final = 250
"""Inputs between two looks at health, memory and log; at the same time those that new callers go on after."""
_QUIET: Final = 0.05
"""Seconds that a client waits for more after half a request."""
_PATIENCE: Final = 30.0
_TRACES: Final = (b"Traceback", b"crashed", b"never retrieved", b"Unhandled")
_RAISED: Final = re.compile(r"^[A-Za-z.]*(?:Error|Exception|Interrupt): .{0,60}", re.MULTILINE)
_NUMBER: Final = re.compile(r"(?:0x)?[0-9a-f]*[0-9][0-9a-f]*")
_LONGEST: Final = 64 * 1024
_KEY: Final = base64.b64encode(bytes(16)).decode()
_LIMITS: Final = (
    *("register_limit_anonymous", "register_limit_directory"),
    *("limit_directory_rpm", "limit_unproven_rpm", "limit_rpm"),
)
_EXTERNAL: Final = frozenset({"read_tool_address", "verify_agent", "complete_tool_claim"})
"""Operations that look up names that the made-up input chooses: not asked, since the server has the real network."""


class NetworkFuzz:
    """The server, what exists on it, and one input after the other."""

    def __init__(self, server: Server, maker: CallMaker) -> None:
        self.server = server
        self.maker = maker
        self.session = ""

    async def one(self, mutator: Mutator) -> tuple[str, str, bytes]:
        """The outcome of one input, its kind and its bytes."""
        match mutator.random.randrange(20):
            case 0 | 1:
                return await self._socket(mutator)
            case number if number < 9:
                sent = self._request(mutator)
                sent = mutator.data(sent, [b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"])
                return await self._raw(sent, "damaged", _QUIET)
            case 9:
                sent = self._request(mutator)
                return await self._raw(sent[: mutator.random.randrange(len(sent))], "half", 0)
            case 10:
                sent = b"".join(self._request(mutator, last=n == 4) for n in range(5))
                return await self._raw(sent, "pipelined", _PATIENCE)
            case _:
                return await self._raw(self._request(mutator, last=True), "whole", _PATIENCE)

    def _call(self, mutator: Mutator) -> MadeCall:
        while True:
            call = self.maker.make(mutator)
            if call.name not in _EXTERNAL:
                return call

    def _request(self, mutator: Mutator, *, last: bool = False) -> bytes:
        """The bytes of a call; with `last` the connection ends after its answer."""
        call = self._call(mutator)
        headers = {"host": "x", **dict(call.headers)}
        own = mutator.any_of(("10.1.2.3", "10.9.8.7"))
        headers.setdefault("x-forwarded-for", own)
        body = call.body
        if body and mutator.happens(0.2):
            half = len(body) // 2
            headers["transfer-encoding"] = "chunked"
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:]) if part)
            body += b"0\r\n\r\n"
        elif body:
            headers["content-length"] = str(len(body))
        if last:
            headers["connection"] = "close"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"{call.method} {call.target} HTTP/1.1\r\n{lines}\r\n".encode() + body

    async def _raw(self, sent: bytes, kind: str, patience: float) -> tuple[str, str, bytes]:
        """Send bytes and read the first answer; `patience` is how long it may take."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        answer = b""
        try:
            writer.write(sent)
            await writer.drain()
            if kind == "damaged":
                writer.write_eof()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    answer = await reader.read(_LONGEST)
        except OSError:
            return f"{kind} reset", kind, sent
        finally:
            writer.transport.abort()
        if not answer and kind == "whole":
            return f"{kind} unanswered", kind, sent
        return f"{kind} {_status(answer)}", kind, sent

    async def _socket(self, mutator: Mutator) -> tuple[str, str, bytes]:
        """A socket whose frames are whole, damaged, fragmented, unmasked or of reserved kinds."""
        headers = "".join(f"{name}: {value}\r\n" for name, value in self.maker.material.headers["bound"].items())
        handshake = (
            f"GET {self.session}/stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {_KEY}\r\n{headers}\r\n"
        ).encode()
        if mutator.happens(0.1):
            handshake = mutator.data(handshake)
        frames = b"".join(_frame(mutator) for _ in range(mutator.random.randint(1, 10)))
        if mutator.happens(0.3):
            frames = mutator.data(frames)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        answer = b""
        try:
            writer.write(handshake)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    answer = await reader.readuntil(b"\r\n\r\n")
            start = orjson.dumps(SOCKET_MESSAGES[0] | {"after": 0})
            writer.write(_bytes_of_frame(1, start) + frames + _bytes_of_frame(8, b"\x03\xe8"))
            await writer.drain()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    while piece := await reader.read(_LONGEST):
                        answer += piece
        except (OSError, asyncio.IncompleteReadError):
            return "socket reset", "socket", frames
        finally:
            writer.transport.abort()
        if struct.pack(">H", 1011) in answer[-140:] and b"a fault of ours" in answer:
            return "socket 500", "socket", handshake + frames
        return f"socket {_status(answer)}", "socket", handshake + frames

    async def renew(self, client: httpx2.AsyncClient, runner: RequestRunner) -> None:
        """New callers, and a new session to speak in."""
        self.maker.material = await runner.make_material()
        headers = self.maker.material.headers["bound"]
        body = {"consent": CONSENT, "role": "buyer", "source": "audio"}
        opened = await client.post(PATH, json=body, headers=headers)
        opened.raise_for_status()
        self.session = f"{PATH}/{opened.json()['id']}"


def _status(answer: bytes) -> str:
    if not answer:
        return "none"
    head = answer[:12]
    return head[9:12].decode("latin-1") if head.startswith(b"HTTP/1.1 ") else "no HTTP"


def _frame(mutator: Mutator) -> bytes:
    """A frame of sound or text, or one that RFC 6455 forbids."""
    random = mutator.random
    match random.randrange(5):
        case 0:
            message = mutator.value(mutator.any_of(SOCKET_MESSAGES))
            return _bytes_of_frame(1, mutator.json(message))
        case 1:
            opcode = random.choice((0, 1, 2, 3, 8, 9, 10, 11, 15))
            return _bytes_of_frame(opcode, random.randbytes(random.choice((0, 1, 2, 125, 126))))
        case 2:
            return _bytes_of_frame(random.randrange(256) & 0x7F, b"x" * 9, masked=mutator.happens(0.5))
        case _:
            size = random.choice((0, 1, 2, 320, 640, 641, 3200))
            channel = bytes([random.choice((0, 0, 1, 2, 255))])
            return _bytes_of_frame(2, channel + random.randbytes(size))


def _bytes_of_frame(opcode: int, data: bytes, *, masked: bool = True) -> bytes:
    """A frame (RFC 6455 §5.2); an opcode above 15 has reserved bits in it, one below is a whole message."""
    first = opcode | 0x80 if opcode < 16 else opcode
    size = len(data)
    length = bytes([size | 0x80 * masked]) if size < 126 else struct.pack(">BH", 126 | 0x80 * masked, size)
    return bytes([first]) + length + (bytes(4) if masked else b"") + data


class _Log:
    """The server's log, read on from where it was read before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def take(self) -> str:
        """What is new, if it tells of a fault; else empty."""
        with self._path.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        self._read += len(new)
        return new.decode(errors="replace") if any(mark in new for mark in _TRACES) else ""


def _processes(server: Server) -> list[int]:
    """The server's processes: its group."""
    assert server.process is not None
    found: list[int] = []
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            with contextlib.suppress(OSError):
                if os.getpgid(int(each.name)) == server.process.pid:
                    found.append(int(each.name))
    return found


async def _run(progress: Progress, server: Server) -> None:
    described = build_application(server.application_settings)
    log = _Log(server.folder / "log")

    async def change(unit: Callable[[Transaction], Any]) -> Any:
        return await server.change(unit)

    async with server.connect() as client:
        runner = RequestRunner(asyncio.Runner(), client, change, described.delegations)
        fuzz = NetworkFuzz(server, CallMaker(described.service, await runner.make_material()))
        slots = asyncio.Semaphore(_AT_ONCE)

        async def one(number: int) -> tuple[int, float, str, str, bytes]:
            async with slots:
                began = time.monotonic()
                outcome, kind, sent = await fuzz.one(progress.mutator(number))
                return number, time.monotonic() - began, outcome, kind, sent

        while progress.done < progress.inputs:
            await fuzz.renew(client, runner)
            last = min(progress.done + _ROUND, progress.inputs)
            done = await asyncio.gather(*(one(number) for number in range(progress.done, last)))
            for number, took, outcome, kind, sent in done:
                progress.count(outcome, took, kind)
                if outcome.endswith(" 500") or outcome == "whole unanswered":
                    progress.fault(number, outcome, sent, outcome)
            if told := log.take():
                raised = _RAISED.findall(told)
                what = _NUMBER.sub("…", raised[-1] if raised else told.strip()[-150:])
                progress.fault(done[0][0], f"log: {what}", done[0][4], told)
            began = time.monotonic()
            health = (await client.get("/api/health")).status_code
            if health != 200 or time.monotonic() - began > 2:
                progress.fault(last, f"health {health}", b"", f"{time.monotonic() - began:.1f} s")
            progress.save(memory_mb(*_processes(server)))


def run(progress: Progress) -> None:
    """All inputs that are left, against a new server with two workers."""
    progress.begin()
    settings = dict.fromkeys(_LIMITS, "1000000")
    with TemporaryDirectory() as folder:
        server = Server(Path(folder), workers=2, settings=settings)
        server.start()
        try:
            asyncio.run(_run(progress, server))
        finally:
            server.stop()
