"""The Python SDK's OAuth clients against a running server: registered, known by a document, with an ID-JAG."""

import asyncio
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from mcp.client.auth.extensions.client_credentials import PrivateKeyJWTOAuthProvider, SignedJWTParameters
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider

from negotiator.base.scopes import ANONYMOUS, ASSISTANT
from negotiator.store.statement import Transaction
from negotiator.tokens import client_authentication, clients
from negotiator.tokens.clients import NewClient
from negotiator.trust import issuer_queries
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.live_server import Server
from tests.helpers.live_user import arrive
from tests.helpers.mcp_tool_calls import CALLS
from tests.live.mcp.conftest import DocumentSite, ShortTokenServer
from tests.live.mcp.python_client import CALLBACK, DirectTransport, TokenStorage, provider

pytestmark = pytest.mark.asyncio
TOKEN = "/oauth/token"
WRITING = "memories:write"
SAVING = ("list_collections", "create_collection", "save_to_collection", "submit_tool")
"""The tools whose scopes the program below has no right to."""


async def test_a_client_that_registers_itself_calls_every_tool_and_asks_again_for_what_was_refused(
    server: Server,
) -> None:
    """The user unticks a scope at first; the tool that needs it is refused, and its challenge widens the grant."""
    person, drawer, wire = (await arrive(server, "python@live.example"), TokenStorage(), DirectTransport(server))
    person.refusing = (WRITING,)
    auth = provider(server, person, drawer, token_endpoint_auth_method="none")
    known: dict[str, Any] = {}
    async with wire.mcp(auth, "auto") as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == CALLS.keys()
        (first,) = drawer.tokens
        assert WRITING not in (first.scope or "")
        person.refusing = ()
        for name, arguments in CALLS.items():
            result = await client.call_tool(name, arguments(known))
            assert result.is_error is False, result
            known[name] = result.structured_content
    assert drawer.client
    assert drawer.client.client_id
    assert drawer.client.client_id.startswith("cli_")
    assert wire.seen["POST", "/oauth/register", 201] == 1
    assert wire.seen["POST", "/mcp", 401] == 1
    assert wire.seen["POST", "/mcp", 403] == 1
    assert wire.seen["POST", TOKEN, 200] == len(person.visits) == len(drawer.tokens) == 2
    assert WRITING in (drawer.tokens[-1].scope or "").split()
    assert set((first.scope or "").split()) < set((drawer.tokens[-1].scope or "").split())


async def test_a_client_known_by_its_document_outlives_its_token(
    short_token_server: ShortTokenServer, site: DocumentSite
) -> None:
    """Nobody registers it, and its user is asked once: it renews by itself."""
    person, drawer, wire = (
        await arrive(short_token_server, "cimd@live.example"),
        TokenStorage(),
        DirectTransport(short_token_server),
    )
    document = site.publish(
        "/python.json",
        client_name="Python client",
        redirect_uris=[CALLBACK],
        grant_types=["authorization_code", "refresh_token"],
        token_endpoint_auth_method="none",
    )
    auth = provider(short_token_server, person, drawer, document=document)
    async with wire.mcp(auth, "legacy") as client:
        assert len((await client.list_tools()).tools) == len(CALLS)
        while auth.context.is_token_valid():
            await asyncio.sleep(0.05)
        result = await client.call_tool("list_negotiations", {"limit": 2})
    assert result.is_error is False
    assert drawer.client
    assert drawer.client.client_id == document
    assert len(person.visits) == 1
    assert len(drawer.tokens) >= 2  # on a busy machine a token may end before it is used
    assert len({token.refresh_token for token in drawer.tokens}) == len(drawer.tokens)
    assert wire.seen["POST", "/oauth/register", 201] == 0
    assert wire.seen["POST", "/mcp", 401] == 1


async def test_a_company_s_client_brings_an_assertion_and_nobody_is_asked(server: Server) -> None:
    """SEP-990: the server is configured, not discovered; a refused tool makes it bring another assertion."""
    idp, drawer, wire = (FakeIssuer(server.base, "https://company.example"), TokenStorage(), DirectTransport(server))

    def unit(tx: Transaction) -> tuple[str, str]:
        issuer_queries.add(tx, idp.issuer(), own=server.base, allow_loopback=False)
        return clients.add(tx, NewClient("company", clients.GRANTS, tuple(ASSISTANT)))

    client_id, secret = await server.change(unit)
    asked: list[tuple[str, str]] = []

    async def assert_identity(audience: str, resource: str) -> str:
        asked.append((audience, resource))
        return idp.assertion(client_id=client_id, resource=resource, scope=" ".join(ASSISTANT))

    auth = IdentityAssertionOAuthProvider(
        f"{server.base}/mcp", drawer, client_id, secret, server.base, assert_identity, scope=" ".join(ANONYMOUS)
    )
    async with wire.mcp(auth, "auto") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "open_negotiation" in names < CALLS.keys(), "the tools that its assertion allows"
        for name in ("open_negotiation", "remember"):
            result = await client.call_tool(name, CALLS[name]({}))
            assert result.is_error is False, result
    assert asked == [(server.base, f"{server.base}/mcp")] * 2
    assert [set((each.scope or "").split()) for each in drawer.tokens] == [{*ANONYMOUS}, {*ANONYMOUS, WRITING}]
    assert wire.seen["POST", "/mcp", 403] == 1


async def test_a_program_that_holds_a_key_signs_its_own_way_in(server: Server) -> None:
    """RFC 7523 §2.2 by the SDK: no user, no secret, and a new assertion for each token."""
    signer, drawer, wire = ClientAssertionSigner(), TokenStorage(), DirectTransport(server)
    new = NewClient(
        *("program", clients.USERLESS_GRANTS, tuple(ASSISTANT), (), clients.PRIVATE_KEY_JWT),
        jwks=client_authentication.read_client_keys(signer.jwks),
    )
    client_id, _ = await server.change(lambda tx: clients.add(tx, new))
    pem = signer.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    signing = SignedJWTParameters(issuer=client_id, subject=client_id, signing_key=pem, signing_algorithm="ES256")
    auth = PrivateKeyJWTOAuthProvider(
        f"{server.base}/mcp", drawer, client_id, signing.create_assertion_provider(), issuer=server.base
    )
    async with wire.mcp(auth, "auto") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == CALLS.keys() - {*SAVING}, "it cannot ask for more than it has"
        result = await client.call_tool("remember", CALLS["remember"]({}))
    assert result.is_error is False, result
    assert wire.seen["POST", TOKEN, 200] == len(drawer.tokens) == 1
