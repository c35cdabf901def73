"""Clients that others wrote, against the real server: Authlib's, oauth4webapi and openid-client."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

from negotiator.base.scopes import ASSISTANT
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER, NewClient
from negotiator.trust import issuer_queries
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.form_browser import BASE
from tests.helpers.live_server import Server


@pytest_asyncio.fixture
async def trusted(server: Server) -> tuple[str, str, FakeIssuer]:
    """A client's id and secret, and a provider whose assertions may name it."""
    idp = FakeIssuer(server.base, "https://interop.example")

    def unit(tx: Transaction) -> tuple[str, str]:
        client_id, secret = clients.add(tx, NewClient("c", clients.GRANTS, tuple(ASSISTANT)))
        issuer_queries.add(tx, idp.issuer(), own=server.base, allow_loopback=False)
        return client_id, secret

    client_id, secret = await server.change(unit)
    return client_id, secret, idp


def test_authlib_s_client_gets_uses_describes_and_ends_tokens(
    server: Server, trusted: tuple[str, str, FakeIssuer]
) -> None:
    client_id, secret, idp = trusted
    found = httpx2.get(get_well_known_url(server.base, external=True)).json()
    client: Any = OAuth2Client(client_id, secret, scope="negotiations:read")
    with client:
        granted = client.fetch_token(found["token_endpoint"], grant_type="client_credentials")
        assert granted["scope"] == "negotiations:read"
        assert client.get(f"{server.base}/api/negotiations").json()["items"] == []
        told = client.introspect_token(found["introspection_endpoint"], token=granted["access_token"])
        assert told.json()["client_id"] == client_id
        ended = client.revoke_token(found["revocation_endpoint"], token=granted["access_token"])
        assert ended.status_code == 200
        assert client.get(f"{server.base}/api/negotiations").status_code == 401
        text = idp.assertion(client_id=client_id)
        form = {"grant_type": JWT_BEARER, "assertion": text}
        asserted = client.fetch_token(found["token_endpoint"], **form)
        assert asserted["token_type"] == "Bearer"
        assert client.get(f"{server.base}/api/negotiations").status_code == 200
        with pytest.raises(OAuthError) as refused:
            client.fetch_token(found["token_endpoint"], **form)
        assert refused.value.error == "invalid_grant"


@pytest.mark.asyncio
async def test_authlib_finds_the_metadata_valid(client: httpx2.AsyncClient) -> None:
    answer = await client.get(get_well_known_url(BASE))
    document = answer.json()
    # Authlib wants one response type at least, where a server without an authorization endpoint has none.
    document["response_types_supported"] = document["response_types_supported"] or ["none"]
    metadata = AuthorizationServerMetadata(document)
    metadata.validate()
    assert metadata["issuer"] == BASE


def test_two_javascript_clients_agree_with_the_service(
    server: Server, trusted: tuple[str, str, FakeIssuer], modules: Path
) -> None:
    """Discovery, client credentials, RFC 9068 validation, introspection, revocation, ID-JAG, replay."""
    client_id, secret, idp = trusted
    jags = [idp.assertion(client_id=client_id) for _ in range(2)]
    node = shutil.which("node")
    assert node is not None, "node is missing beside npm"
    done = subprocess.run(
        [node, "interop.mjs", server.base, client_id, secret, *jags],
        cwd=modules,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["oauth4webapi"] == {
        "issuer": server.base,
        "granted": "memories:read",
        "claims": client_id,
        "before": True,
        "after": False,
        "asserted": "bearer",
        "challenge": "invalid_token",
    }
    assert told["openidClient"] == {
        "issuer": server.base,
        "granted": "openid",
        "before": True,
        "after": False,
        "asserted": 3600,
        "replayed": "invalid_grant",
    }
