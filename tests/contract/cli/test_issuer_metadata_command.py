"""Trusting an issuer by its metadata: its keys' address is printed and recorded, a missing client list warned of."""

from typing import Any

import pytest

from negotiator.trust.fetch import FetchFailed
from negotiator.trust.fetcher import Fetcher
from tests.helpers.operator_commands import ISSUER, Operator
from tests.helpers.operator_commands import operator as _operator

operator = _operator
ADD = ("issuers", "add", ISSUER, "--discover")
KEYS = "https://keys.elsewhere.example/jwks"


@pytest.fixture
def metadata(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the issuer's OpenID metadata says; it has no other."""
    found: dict[str, Any] = {"issuer": ISSUER, "jwks_uri": KEYS}

    async def json(_fetcher: Fetcher, url: str, *, limit: int = 0) -> dict[str, Any]:
        del limit
        if not url.endswith("/.well-known/openid-configuration"):
            raise FetchFailed(f"{url}: 404")
        return found

    monkeypatch.setattr(Fetcher, "json", json)
    return found


@pytest.mark.asyncio
async def test_keys_on_another_host_are_allowed_told_and_in_the_trail(
    operator: Operator, metadata: dict[str, Any]
) -> None:
    said = await operator(*ADD, "--client-id", "corp-agent")
    assert said.exit_code == 0
    assert said.out.strip() == f"{ISSUER} is trusted. Its keys are at {KEYS}, on another host."
    assert said.err == ""
    (event,) = (await operator.json("audit")).value
    assert (event["event"], event["detail"]["jwks_uri"]) == ("issuer.added", KEYS)
    metadata["jwks_uri"] = f"{ISSUER}/jwks"
    added = (await operator.json(*ADD, "--client-id", "corp-agent")).value
    assert added["jwks_uri"] == f"{ISSUER}/jwks"


@pytest.mark.asyncio
async def test_an_issuer_without_a_client_list_is_warned_of(
    operator: Operator, metadata: dict[str, Any]
) -> None:
    del metadata
    said = await operator(*ADD)
    assert said.exit_code == 0
    assert said.err.startswith("negotiator: warning: ")
    assert "--client-id" in said.err
    assert said.err.count("\n") == 1


@pytest.mark.asyncio
async def test_metadata_that_names_another_issuer_is_warned_of_and_not_believed(
    operator: Operator, metadata: dict[str, Any]
) -> None:
    metadata["issuer"] = "https://evil.example"
    said = await operator(*ADD, "--client-id", "corp-agent")
    assert said.out.strip() == f"{ISSUER} is trusted."
    assert "cannot be read now" in said.err
    (event,) = (await operator.json("audit")).value
    assert "jwks_uri" not in event["detail"]


@pytest.mark.asyncio
async def test_an_issuer_that_is_refused_is_not_asked(
    operator: Operator, metadata: dict[str, Any]
) -> None:
    del metadata
    line = await operator.refused("issuers", "add", "http://idp.example", "--discover")
    assert line == "negotiator: http://idp.example is not an https URL."
