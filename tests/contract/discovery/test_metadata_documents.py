"""The machine-readable documents, held against their standards and the running service."""

import re
from typing import Final

import httpx2
import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

from negotiator.base.scopes import ASSISTANT
from negotiator.config.settings import Settings
from tests.conftest import connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.form_browser import BASE
from tests.helpers.published_documents import documents, read

RESOURCE: Final = "/.well-known/oauth-protected-resource"
SERVER: Final = "/.well-known/oauth-authorization-server"
OPENID: Final = "/.well-known/openid-configuration"
CATALOG: Final = "/.well-known/api-catalog"
DOCUMENTS: Final = {
    RESOURCE: "application/json",
    SERVER: "application/json",
    OPENID: "application/json",
    CATALOG: "application/linkset+json",
    "/.well-known/jwks.json": "application/jwk-set+json",
    "/openapi.json": "application/vnd.oai.openapi+json",
    "/auth.md": "text/markdown",
    "/llms.txt": "text/plain",
    "/robots.txt": "text/plain",
}


@pytest.mark.asyncio
@covers("1.1:one-base", "1.1:one-identifier")
async def test_issuer_resource_and_server_are_the_base_byte_for_byte(settings: Settings) -> None:
    for base in ("https://negotiator.example", "http://127.0.0.1:8123", "https://x.example/sub"):
        other = make_settings(settings.data_dir, settings.keys_dir, base_url=base)
        async with running(other) as application, connect(application) as client:
            resource = await read(client, RESOURCE)
            assert resource["resource"] == base
            assert resource["authorization_servers"] == [base]
            assert (await read(client, SERVER))["issuer"] == base
            assert (await read(client, OPENID))["issuer"] == base
            challenge = (await client.get("/api/negotiations")).headers["www-authenticate"]
            assert f'resource_metadata="{base}{RESOURCE}"' in challenge


@pytest.mark.asyncio
@covers("4.1:resource", "1.14:eight-scopes")
async def test_the_resource_describes_itself(client: httpx2.AsyncClient) -> None:
    document = await read(client, RESOURCE)
    assert document["bearer_methods_supported"] == ["header"]
    assert set(ASSISTANT) <= set(document["scopes_supported"])
    assert document["jwks_uri"] == f"{BASE}/.well-known/jwks.json"
    assert document["resource_name"]
    assert [] not in document.values()
    assert None not in document.values()


@pytest.mark.asyncio
@covers("4.1:inserted")
async def test_parts_of_the_service_have_resource_metadata_of_their_own(client: httpx2.AsyncClient) -> None:
    for path in ("", "/mcp", "/api/v1"):
        document = await read(client, f"{RESOURCE}{path}")
        assert (document["resource"], document["authorization_servers"]) == (f"{BASE}{path}", [BASE])


@pytest.mark.asyncio
@covers("4.1:server")
async def test_authlib_finds_nothing_wrong_with_the_server_metadata(client: httpx2.AsyncClient) -> None:
    document = await read(client, SERVER)
    AuthorizationServerMetadata(document).validate()
    assert "urn:ietf:params:oauth:grant-type:jwt-bearer" in document["grant_types_supported"]
    assert "client_credentials" in document["grant_types_supported"]
    assert document["authorization_grant_profiles_supported"] == ["urn:ietf:params:oauth:grant-profile:id-jag"]
    assert set(document["token_endpoint_auth_methods_supported"]) == {
        "client_secret_basic",
        "client_secret_post",
        "private_key_jwt",
        "none",
    }
    assert set(ASSISTANT) <= set(document["scopes_supported"])
    assert None not in document.values()


@pytest.mark.asyncio
@covers("4.1:openid", "4.1:code-flow")
async def test_the_openid_document_says_nothing_else(client: httpx2.AsyncClient) -> None:
    server, openid = await read(client, SERVER), await read(client, OPENID)
    assert server.items() <= openid.items()
    assert server["authorization_endpoint"] == f"{BASE}/oauth/authorize"
    assert server["registration_endpoint"] == f"{BASE}/oauth/register"
    assert server["response_types_supported"] == ["code"]
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["authorization_response_iss_parameter_supported"] is True
    assert server["client_id_metadata_document_supported"] is True
    assert {"authorization_code", "refresh_token"} <= set(server["grant_types_supported"])
    assert openid["userinfo_endpoint"] == f"{BASE}/oauth/userinfo"
    assert openid["subject_types_supported"] == ["public"]
    assert openid["id_token_signing_alg_values_supported"][0] == "RS256"


@pytest.mark.asyncio
@covers("4.2:agent-auth", "2.1:types")
async def test_the_agent_auth_block_names_the_doors(client: httpx2.AsyncClient) -> None:
    block = (await read(client, SERVER))["agent_auth"]
    assert block["skill"] == f"{BASE}/auth.md"
    assert block["register_uri"] == f"{BASE}/api/agent/register"
    assert block["claim_uri"] == f"{BASE}/api/agent/claim"
    assert block["revocation_uri"] == f"{BASE}/oauth/revoke"
    types = ["anonymous", "identity_assertion", "service_auth", "did", "agent_id", "email"]
    assert block["identity_types_supported"] == types
    assert block["identity_assertion"]["assertion_types_supported"] == [
        "urn:ietf:params:oauth:token-type:id-jag",
        "verified_email",
    ]


@pytest.mark.asyncio
@covers("4.2:agent-auth", "2.1:types")
async def test_the_assistant_alone_has_these_two_ways_in(settings: Settings) -> None:
    other_settings = make_settings(settings.data_dir, settings.keys_dir, services=["assistant"])
    async with running(other_settings) as application, connect(application) as client:
        block = (await read(client, SERVER))["agent_auth"]
    ways = ["anonymous", "identity_assertion", "service_auth"]
    assert block["identity_types_supported"] == ways
    assert block["credential_types_supported"] == ["access_token"]


@pytest.mark.asyncio
@covers("4.5:transport", "1.12:cors")
async def test_a_document_answers_get_head_and_304_for_any_origin(
    client: httpx2.AsyncClient, settings: Settings
) -> None:
    paths = documents(settings)
    assert DOCUMENTS.keys() <= {*paths}
    for path in paths:
        await _answers_alike(client, path)


async def _answers_alike(client: httpx2.AsyncClient, path: str) -> None:
    origin = {"origin": "https://page.example", "accept-encoding": "identity"}
    read_ = await client.get(path, headers=origin)
    looked = await client.head(path, headers=origin)
    assert (read_.status_code, looked.status_code) == (200, 200)
    assert read_.headers["content-type"].startswith(DOCUMENTS.get(path, ""))
    assert looked.content == b""
    tag = read_.headers["etag"]
    strong = tag.removeprefix("W/")
    assert tag == strong or path not in DOCUMENTS
    assert re.fullmatch('"[^"]+"', strong)
    for answer in (read_, looked):
        assert answer.headers["etag"] == tag
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["content-length"] == str(len(read_.content))
    for known in (tag, f"W/{strong}", f'"other", {tag}', "*"):
        again = await client.get(path, headers={"if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    assert (await client.get(path, headers={"if-none-match": '"other"'})).status_code == 200
