"""Trusting an issuer by its metadata: its keys' address is printed and recorded, a missing client list warned of."""

from typing import Any

import pytest

from negotiator.trust.fetch import FetchedDocument, FetchFailed
from negotiator.trust.fetcher import Fetcher
from tests.helpers.operator_commands import ISSUER, Operator
from tests.helpers.operator_commands import operator as _operator

operator = _operator
ADD = ("issuers", "add", ISSUER, "--discover")
KEYS = "https://keys.elsewhere.example/jwks"
# The example key of RFC 7517, appendix A.1.
_X, _Y = ("MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM")


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


@pytest.fixture(autouse=True)
def published(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The key sets of the outside world, by address; the issuer's has one key for ES256."""
    key = {"kty": "EC", "crv": "P-256", "x": _X, "y": _Y}
    sets: dict[str, Any] = {url: {"keys": [key]} for url in (KEYS, f"{ISSUER}/jwks")}

    async def document(_fetcher: Fetcher, url: str, *, limit: int = 0) -> FetchedDocument:
        del limit
        if url not in sets:
            raise FetchFailed(f"{url}: 404")
        return FetchedDocument(sets[url], None)

    monkeypatch.setattr(Fetcher, "document", document)
    return sets


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
async def test_an_issuer_without_a_client_list_is_warned_of(operator: Operator, metadata: dict[str, Any]) -> None:
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
async def test_an_issuer_that_is_refused_is_not_asked(operator: Operator, metadata: dict[str, Any]) -> None:
    del metadata
    line = await operator.refused("issuers", "add", "http://idp.example", "--discover")
    assert line == "negotiator: http://idp.example is not an https URL."


@pytest.mark.asyncio
@pytest.mark.parametrize("source", [("--discover",), ("--jwks-url", KEYS)])
async def test_an_algorithm_that_no_published_key_fits_is_refused_at_once(
    operator: Operator, metadata: dict[str, Any], source: tuple[str, ...]
) -> None:
    del metadata
    add = ("issuers", "add", ISSUER, *source, "--client-id", "corp-agent", "--algorithm")
    line = await operator.refused(*add, "RS256")
    assert line == (
        f"negotiator: {KEYS}: no key fits RS256, so that every assertion would be refused: the keys fit ES256."
    )
    assert (await operator.json("issuers", "list")).value == []
    half = await operator(*add, "RS256", "--algorithm", "ES256")
    assert half.exit_code == 0
    assert "no key of the issuer fits RS256" in half.err
    assert (await operator(*add, "ES256")).err == ""


@pytest.mark.asyncio
async def test_keys_that_cannot_be_read_now_are_warned_of_and_bad_ones_refused(
    operator: Operator, published: dict[str, Any]
) -> None:
    add = ("issuers", "add", ISSUER, "--client-id", "corp-agent", "--jwks-url")
    said = await operator(*add, "https://away.example/jwks")
    assert said.exit_code == 0
    assert "warning: the issuer's keys cannot be read now" in said.err
    published[KEYS] = {"keys": []}
    assert "there is no usable key" in await operator.refused(*add, KEYS)
    published[KEYS] = {"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}
    assert "private or symmetric" in await operator.refused(*add, KEYS)
