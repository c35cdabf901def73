"""The client of Redis."""

from typing import Any


def redis_client(url: str, **options: Any) -> Any:
    """A client that tries nothing twice: who asks knows what to do while Redis is away."""
    from redis import asyncio, backoff  # imported here: a process without Redis does not load the library

    library: Any = asyncio  # its types leave the options of `from_url` open
    return library.Redis.from_url(url, retry=library.retry.Retry(backoff.NoBackoff(), 0), **options)
