"""A small server on loopback that stands in for a chat model and does as it is told."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

MODELS = b'{"object": "list", "data": [{"id": "m", "object": "model"}]}'
Behaviour = Callable[[dict[str, Any], asyncio.StreamWriter], Any]


@asynccontextmanager
async def fake_chat_model(behave: Behaviour, seen: list[dict[str, Any]]) -> AsyncGenerator[str]:
    """A server that reads one request per connection and answers as told, its list of models as usual; its base URL."""
    tasks: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            if head.startswith("GET "):
                writer.write(reply("200 OK", MODELS, "content-type: application/json"))
                await writer.drain()
                return
            length = next(
                int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length")
            )
            body = json.loads(await reader.readexactly(length))
            seen.append({"head": head, "body": body})
            await behave(body, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}/v1"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def reply(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def completion(content: Any) -> Behaviour:
    """A completion whose message is this."""

    async def behave(_body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        whole = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]})
        writer.write(reply("200 OK", whole.encode(), "content-type: application/json"))
        await writer.drain()

    return behave
