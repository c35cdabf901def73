"""The client of Redis. Import it late: a process without Redis does not load the library."""

from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff


def redis_client(url: str, **options: Any) -> Any:
    """A client that tries nothing twice: who asks knows what to do while Redis is away."""
    # The library's types leave the options of `from_url` open.
    return Redis.from_url(url, retry=Retry(NoBackoff(), 0), **options)  # pyright: ignore[reportUnknownMemberType]
