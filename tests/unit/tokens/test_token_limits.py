"""What a token is narrowed to, and which grant an agent may use at the token endpoint."""

from typing import Any

import pytest

from negotiator.tokens.access_tokens import AccessTokens, TokenSubject
from negotiator.tokens.clients import AUTHORIZATION_CODE, CLIENT_CREDENTIALS, JWT_BEARER, REFRESH_TOKEN, AgentClient
from tests.helpers.form_browser import BASE

MCP = f"{BASE}/mcp"
DIRECTORY = f"{BASE}/api/v1"


@pytest.mark.parametrize(
    ("granted", "narrowed"),
    [("", ""), (BASE, ""), (f"{MCP} {BASE}", ""), (MCP, MCP), (f"{MCP} {DIRECTORY} {MCP}", f"{DIRECTORY} {MCP}")],
)
def test_a_token_names_each_resource_once_and_none_where_it_opens_everything(granted: str, narrowed: str) -> None:
    unused: Any = None
    tokens = AccessTokens(unused, unused, issuer=BASE, pepper=b"", find_standing=unused)
    made = tokens.make(TokenSubject("agt_1", resource=granted), [], life=60)
    assert made.subject == TokenSubject("agt_1", resource=narrowed)


@pytest.mark.parametrize("grant", [REFRESH_TOKEN, AUTHORIZATION_CODE, CLIENT_CREDENTIALS, JWT_BEARER, ""])
def test_an_agent_redeems_its_refresh_tokens_and_nothing_else(grant: str) -> None:
    assert AgentClient("agt_1").check_grant_type(grant) == (grant == REFRESH_TOKEN)
