"""A remote speech service, small and local: it checks what it is asked, and hears lengths only."""

import asyncio
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

KEY: Final = "a key of the operator's"
MODEL: Final = "ears-1"


@dataclass
class FakeService:
    """What a service was asked, and what it should do about it."""

    url: str = ""
    times: int = 0
    failures: int = 0
    forms: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    traceparents: list[str] = field(default_factory=list[str])
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
