"""The published keys."""

from typing import Any

import httpx2


async def published(client: httpx2.AsyncClient) -> Any:
    """The key set, as everybody reads it."""
    return (await client.get("/.well-known/jwks.json")).json()
