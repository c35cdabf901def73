"""A store of a database beside the application's own, as an operator's command opens it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from negotiator.store.store import Store, make_store


@asynccontextmanager
async def opened_store(url: str) -> AsyncGenerator[Store]:
    store = make_store(url)
    await store.start()
    try:
        yield store
    finally:
        await store.close()
