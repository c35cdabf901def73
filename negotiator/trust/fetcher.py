"""Fetches JSON documents and texts from public addresses only; `http_client` says how that is made safe."""

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.trust.fetch import (
    AT_ONCE,
    CONNECT_SECONDS,
    TOTAL_SECONDS,
    FetchedDocument,
    FetchedText,
    NameResolver,
    Resolve,
)

if TYPE_CHECKING:
    from negotiator.trust.http_client import HttpClient

_LIMIT = 65_536


class Fetcher:
    """Fetches JSON objects over https on port 443; `allow_loopback` adds loopback, http there.

    At most `at_once` fetches have a connection or a thread that looks a name up; more wait, within their time. The HTTP
    library and the certificate authorities are loaded by the first fetch.
    """

    def __init__(
        self,
        *,
        allow_loopback: bool,
        resolver: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        connect_seconds: float = CONNECT_SECONDS,
        total_seconds: float = TOTAL_SECONDS,
        at_once: int = AT_ONCE,
    ) -> None:
        def build() -> "HttpClient":
            from negotiator.trust.http_client import HttpClient

            return HttpClient(
                allow_loopback=allow_loopback,
                resolver=resolver or NameResolver(at_once),
                tls=tls,
                connect_seconds=connect_seconds,
                total_seconds=total_seconds,
                at_once=at_once,
            )

        self._client = BuiltOnce(build)

    async def json(self, url: str, *, limit: int = _LIMIT) -> dict[str, Any]:
        """The JSON object at `url`, at most `limit` bytes; raises `FetchFailed`."""
        return (await self.document(url, limit=limit)).body

    async def document(self, url: str, *, limit: int = _LIMIT) -> FetchedDocument:
        """The JSON object at `url` with its `max-age`; raises `FetchFailed`."""
        return await (await self._client.get()).document(url, limit=limit)

    async def text(self, url: str, *, limit: int) -> FetchedText:
        """The first `limit` bytes of the page or plain text at `url`; raises `FetchFailed`.

        A redirect is `FetchRedirected`: its target is for the caller to fetch, under the same checks.
        """
        return await (await self._client.get()).text(url, limit=limit)

    async def exchange(self, url: str, form: Mapping[str, str], *, authorization: str = "") -> dict[str, Any]:
        """The JSON object that a token endpoint answers to a form (RFC 6749 §3.2); raises `FetchFailed`."""
        return await (await self._client.get()).exchange(url, form, authorization=authorization)

    async def close(self) -> None:
        if (client := self._client.built) is not None:
            await client.close()
