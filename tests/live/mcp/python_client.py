"""The Python SDK's OAuth client with a person in front of it."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.helpers.live_server import Server
from tests.helpers.live_user import LiveUser

CALLBACK: Final = "http://127.0.0.1:33418/callback"


@dataclass
class TokenStorage:
    """Where a client keeps what it got; `tokens` are all it ever had, the present ones last."""

    client: OAuthClientInformationFull | None = None
    tokens: list[OAuthToken] = field(default_factory=list[OAuthToken])

    async def get_tokens(self) -> OAuthToken | None:
        """The present ones."""
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep them."""
        self.tokens.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Whom the server knows the client as."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep it."""
        self.client = client_info


@dataclass
class DirectTransport:
    """Connections to the server that count what went over them, as method, path and status."""

    server: Server
    seen: Counter[tuple[str, str, int]] = field(default_factory=Counter[tuple[str, str, int]])

    async def note(self, answer: httpx2.Response) -> None:
        """Count an answer."""
        self.seen[answer.request.method, answer.request.url.path, answer.status_code] += 1

    @asynccontextmanager
    async def mcp(self, auth: httpx2.Auth, mode: Literal["auto", "legacy"]) -> AsyncGenerator[Client]:
        """The SDK's client at the endpoint, authenticated as `auth` sees fit."""
        async with self.server.connect(auth=auth, event_hooks={"response": [self.note]}) as http:
            transport = streamable_http_client(f"{self.server.base}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client


def provider(
    server: Server, person: LiveUser, drawer: TokenStorage, *, document: str | None = None, **told: Any
) -> OAuthClientProvider:
    """The SDK's OAuth client, whose browser is in this person's hands; `document` is its id where it has one."""
    backs: asyncio.Queue[str] = asyncio.Queue()

    async def open_browser(address: str) -> None:
        await backs.put(await person.visit(address))

    async def called_back() -> AuthorizationCodeResult:
        where = urlsplit(await backs.get())
        assert f"{where.scheme}://{where.netloc}{where.path}" == CALLBACK
        return AuthorizationCodeResult(**{name: value for name, (value,) in parse_qs(where.query).items()})

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name="Python client", **told)
    return OAuthClientProvider(
        f"{server.base}/mcp", metadata, drawer, open_browser, called_back, client_metadata_url=document
    )
