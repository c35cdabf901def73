"""Bound tokens at the MCP endpoint: worth something with a proof of the request, and nothing as a bearer's."""

import httpx2
import pytest

from tests.contract.requirements import covers
from tests.helpers.dpop_proofs import DpopProver, register_bound
from tests.helpers.forger import refused
from tests.helpers.mcp_client import McpClient

MCP = "/mcp"


async def _call(mcp_client: McpClient, tool: str, headers: dict[str, str]) -> httpx2.Response:
    mcp_client.headers = headers
    return await mcp_client.call(tool)


@covers("3.8:dpop", "10.2:same")
@pytest.mark.asyncio
async def test_a_bound_token_calls_tools_with_proofs_only(client: httpx2.AsyncClient) -> None:
    prover, thief, line = DpopProver(), DpopProver(), McpClient(client)
    token = (await register_bound(client, prover))["access_token"]
    good = prover.headers(token, "POST", MCP)
    answer = await _call(line, "list_negotiations", good)
    assert answer.json()["result"]["isError"] is False, answer.text

    bearer = {"Authorization": f"Bearer {token}"}
    spoilt = {
        "as a bearer's": (bearer, "invalid_token"),
        "as a bearer's beside a proof": ({**bearer, "DPoP": prover.proof("POST", MCP, token=token)}, "invalid_token"),
        "with another's proof": (thief.headers(token, "POST", MCP), "invalid_token"),
        "with a proof that was used": (good, "invalid_dpop_proof"),
        "with a proof for another path": (prover.headers(token, "POST", "/api/negotiations"), "invalid_dpop_proof"),
        "with a proof for another method": (prover.headers(token, "GET", MCP), "invalid_dpop_proof"),
        "without a proof": ({"Authorization": f"DPoP {token}"}, "invalid_dpop_proof"),
    }
    for case, (headers, error) in spoilt.items():
        answer = await _call(line, "list_negotiations", headers)
        refused(answer, (401, error), token)
        challenge = answer.headers["www-authenticate"]
        assert challenge.startswith("DPoP "), case
        assert 'algs="RS256 PS256 ES256 ES384 EdDSA"' in challenge, case
        assert 'oauth-protected-resource/mcp"' in challenge, case


@covers("3.8:dpop", "10.2:same")
@pytest.mark.asyncio
async def test_a_bound_token_that_lacks_a_scope_is_told_so_in_its_own_scheme(client: httpx2.AsyncClient) -> None:
    """RFC 9449 §7.1: a client that steps up has to bring a proof again, at both doors."""
    prover, line = DpopProver(), McpClient(client)
    token = (await register_bound(client, prover))["access_token"]
    over_mcp = await _call(line, "remember", prover.headers(token, "POST", MCP))
    path = "/api/memories"
    over_http = await client.post(path, json={"text": "x"}, headers=prover.headers(token, "POST", path))
    for answer in (over_mcp, over_http):
        refused(answer, (403, "insufficient_scope"), token)
        challenge = answer.headers["www-authenticate"]
        assert challenge.startswith("DPoP ")
        assert 'error="insufficient_scope", scope="memories:write"' in challenge
        assert 'algs="RS256 PS256 ES256 ES384 EdDSA"' in challenge
