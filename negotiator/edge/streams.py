"""An answer that goes on: chunks as they come, until there are no more or nobody is there to read them."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from starlette.types import Receive, Send

Chunks = AsyncGenerator[bytes, None]


async def pour(chunks: Chunks, receive: Receive, send: Send) -> None:
    """Send the chunks as the body of a response that has begun; stops at once when the client leaves.

    A server sends on to nobody without a word, so the client's leaving is listened for.
    """

    async def send_all() -> None:
        async for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def wait_for_leaving() -> None:
        while (await receive())["type"] != "http.disconnect":
            continue

    sending, leaving = asyncio.create_task(send_all()), asyncio.create_task(wait_for_leaving())
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, leaving):
            if not task.done():
                task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await leaving
        with contextlib.suppress(asyncio.CancelledError):
            await sending
        await chunks.aclose()
