"""A web site that serves a client's metadata document and its keys."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest_asyncio

from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.loopback_server import JSON, serving

AT: Final = "http://127.0.0.1/callback"


@dataclass
class Site:
    """A web site that serves one client's document, and counts who asks; `extra` changes the document."""

    port: int = 0
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    head: bytes = JSON
    status: bytes = b"200 OK"
    body: bytes | None = None
    stall: bool = False
    heads: list[bytes] = field(default_factory=list[bytes])
    others: dict[str, tuple[bytes, bytes, bytes]] = field(default_factory=dict[str, tuple[bytes, bytes, bytes]])
    """Status, headers and body of what else is there, by path."""

    @property
    def client_id(self) -> str:
        """Where the document is."""
        return f"http://127.0.0.1:{self.port}/client.json"

    @property
    def keys_at(self) -> str:
        """Where its keys are, if it publishes any."""
        return f"http://127.0.0.1:{self.port}/keys.json"

    def publish(self, *signers: ClientAssertionSigner, status: bytes = b"200 OK", head: bytes = JSON) -> None:
        """Publish the keys of these signers."""
        keys = [key for signer in signers for key in signer.jwks["keys"]]
        self.others["/keys.json"] = (status, head, json.dumps({"keys": keys}).encode())

    @property
    def key_fetches(self) -> int:
        return sum(self.path(head) == "/keys.json" for head in self.heads)

    @staticmethod
    def path(head: bytes) -> str:
        return head.split(b" ")[1].decode()

    def document(self) -> bytes:
        """What is served."""
        told = {
            "client_id": self.client_id,
            "client_name": "Visitor",
            "redirect_uris": [AT],
            "grant_types": ["authorization_code", "refresh_token"],
            **self.extra,
        }
        return json.dumps({name: value for name, value in told.items() if value != ...}).encode()

    async def write(self, writer: asyncio.StreamWriter) -> None:
        """One answer."""
        body = self.document() if self.body is None else self.body
        status, head, body = self.others.get(self.path(self.heads[-1]), (self.status, self.head, body))
        length = str(len(body)).encode()
        writer.write(b"HTTP/1.1 %s\r\n%sContent-Length: %s\r\n\r\n" % (status, head, length))
        if self.stall:
            writer.write(body[:10])
            await asyncio.sleep(30)
        writer.write(body)


@pytest_asyncio.fixture
async def site() -> AsyncGenerator[Site]:
    """A site on loopback, where development lets documents live."""
    made = Site()
    async with serving(made.write) as (port, heads):
        made.port, made.heads = port, heads
        yield made
