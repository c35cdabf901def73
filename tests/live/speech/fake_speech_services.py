"""Remote speech services, small and local: they check what they are asked, and hear loudness only."""

import asyncio
import json
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from websockets.asyncio.server import ServerConnection, serve

KEY: Final = "a key of the operator's"
MODEL: Final = "ears-1"
_LOUD: Final = 200
_BLOCK: Final = 3_200
_PAUSE: Final = 5


@dataclass
class FakeService:
    """What a service was asked, and what it should do about it."""

    url: str = ""
    times: int = 0
    failures: int = 0
    forms: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    texts: list[str] = field(default_factory=list[str])
    traceparents: list[str] = field(default_factory=list[str])
    drop_after: int = 0
    longest_ms: int = 0


@asynccontextmanager
async def fake_transcriptions() -> AsyncGenerator[FakeService]:
    """`POST /v1/audio/transcriptions`, as OpenAI's and its imitators have it."""
    asked = FakeService()

    async def transcribe(request: Request) -> Response:
        asked.times += 1
        asked.traceparents.append(request.headers.get("traceparent", ""))
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse({"error": {"message": "bad key"}}, 401)
        async with request.form() as form:
            upload = form["file"]
            assert isinstance(upload, UploadFile)
            wav = await upload.read()
            asked.forms.append({name: value for name, value in form.items() if name != "file"})
        riff, size, kind, _, _, form_tag, channels, rate = struct.unpack_from("<4sI4s4sIHHI", wav)
        assert (riff, kind, form_tag, channels, rate) == (b"RIFF", b"WAVE", 1, 1, 16_000)
        assert size == len(wav) - 8
        asked.longest_ms = max(asked.longest_ms, (len(wav) - 44) // 32)
        if asked.failures:
            asked.failures -= 1
            return JSONResponse({"error": {"message": "overloaded"}}, 503)
        return JSONResponse({"text": f" heard {(len(wav) - 44) // 32} ms "})

    application = Starlette(routes=[Route("/v1/audio/transcriptions", transcribe, methods=["POST"])])
    config = uvicorn.Config(application, port=0, log_level="error", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    asked.url = f"http://127.0.0.1:{port}/v1"
    yield asked
    server.should_exit = True
    await serving


class _Ears:
    """One connection's hearing: a word for each loud 100 ms, a pause after five quiet ones."""

    def __init__(self) -> None:
        self.rest = b""
        self.blocks = self.begun = self.quiet = 0
        self.words: list[dict[str, Any]] = []
        self.open = False

    def hear(self, pcm: bytes) -> list[dict[str, Any]]:
        """Messages."""
        told: list[dict[str, Any]] = []
        self.rest += pcm
        while len(self.rest) >= _BLOCK:
            block, self.rest = self.rest[:_BLOCK], self.rest[_BLOCK:]
            at = self.blocks / 10
            self.blocks += 1
            if np.abs(np.frombuffer(block, "<i2")).mean() > _LOUD:
                if not self.open:
                    told.append({"type": "SpeechStarted", "channel": [0], "timestamp": at})
                self.words.append({"word": f"w{self.blocks}", "start": at, "end": at + 0.1, "confidence": 0.9})
                self.quiet, self.open = 0, True
            else:
                self.quiet += 1
            paused = self.quiet == _PAUSE and self.open
            self.open = self.open and not paused
            if paused or self.blocks % 3 == 0:
                told.append(self.result(final=paused or self.blocks % 12 == 0, pause=paused))
        return told

    def result(self, *, final: bool, pause: bool) -> dict[str, Any]:
        """What was heard since the last that was settled."""
        text = " ".join(word["word"] for word in self.words)
        told = {
            "type": "Results",
            "start": self.begun / 10,
            "duration": (self.blocks - self.begun) / 10,
            "is_final": final,
            "speech_final": pause,
            "channel": {"alternatives": [{"transcript": text, "confidence": 0.9, "words": self.words}]},
        }
        if final:
            self.words, self.begun = [], self.blocks
        return told


@asynccontextmanager
async def fake_deepgram() -> AsyncGenerator[FakeService]:
    """`/v1/listen`, as Deepgram has it."""
    asked = FakeService()

    async def talk(socket: ServerConnection) -> None:
        asked.times += 1
        request = socket.request
        assert request is not None
        asked.traceparents.append(request.headers.get("traceparent", ""))
        asked.forms.append(dict(parse_qsl(urlsplit(request.path).query)))
        ears, pieces = _Ears(), 0
        async for message in socket:
            if isinstance(message, str):
                asked.texts.append(json.loads(message)["type"])
                if asked.texts[-1] == "CloseStream":
                    await socket.send(json.dumps(ears.result(final=True, pause=False)))
                    await socket.send(json.dumps({"type": "Metadata"}))
                    return
                continue
            for told in ears.hear(message):
                await socket.send(json.dumps(told))
            pieces += 1
            if asked.drop_after and pieces == asked.drop_after:
                asked.drop_after = 0
                socket.transport.abort()
                return

    def admit(socket: ServerConnection, request: Any) -> Any:
        if request.headers.get("authorization") != f"Token {KEY}":
            return socket.respond(401, "bad key")
        return None

    async with serve(talk, "127.0.0.1", 0, process_request=admit) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        asked.url = f"ws://127.0.0.1:{port}/v1/listen"
        yield asked
