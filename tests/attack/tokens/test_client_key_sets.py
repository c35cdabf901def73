"""A client whose keys are at an address, when the keys, the address or the assertion is an attacker's."""

import gzip
from typing import Any

import pytest

from negotiator.config.settings import Settings
from tests.conftest import connect
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.client_site import AT, Site
from tests.helpers.code_flow import ClientApp, service_and_user, told
from tests.helpers.forger import refused
from tests.helpers.loopback_server import JSON

CLIENT = (401, "invalid_client")
OK, PADDING = b"200 OK", b'{"keys": [], "x": "%s"}' % (b"x" * 65_536)
SETS: dict[str, tuple[bytes, bytes, bytes]] = {
    "a page": (OK, b"Content-Type: text/html\r\n", b"<h1>keys</h1>"),
    "not modified": (b"304 Not Modified", JSON, b""),
    "an unpacked bomb": (OK, JSON + b"Content-Encoding: gzip\r\n", gzip.compress(b" " * 10_000_000)),
    "a redirect inside": (b"302 Found", JSON + b"Location: http://10.0.0.1/keys.json\r\n", b""),
    "a redirect outside": (b"307 Temporary Redirect", JSON + b"Location: https://keys.example/\r\n", b""),
    "too long": (OK, JSON, PADDING),
    "an error": (b"500 Internal Server Error", JSON, b"{}"),
    "no set": (OK, JSON, b'{"keys": {}}'),
    "a shared secret": (OK, JSON, b'{"keys": [{"kty": "oct", "k": "YWJj", "kid": "client-1"}]}'),
    "nothing": (OK, JSON, b'{"keys": []}'),
}


def machine(site: Site, **changes: Any) -> ClientAssertionSigner:
    """A signer whose site publishes its key; `changes` change the document."""
    signer = ClientAssertionSigner(site.client_id)
    site.extra = {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": site.keys_at, **changes}
    site.publish(signer)
    return signer


@pytest.mark.asyncio
@pytest.mark.parametrize("case", [*SETS, "two keys with one kid"])
async def test_a_key_set_that_cannot_be_believed_lets_nobody_in(settings: Settings, site: Site, case: str) -> None:
    signer = machine(site)
    if case in SETS:
        site.others["/keys.json"] = SETS[case]
    else:
        site.publish(signer, ClientAssertionSigner())
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        app = ClientApp(user.http, site.client_id, redirect_uri=AT)
        code = told(await user.decide(app.asks()), app.redirect_uri)["code"]
        for _attempt in range(5):
            answer = await app.redeem(code, **signer.form())
            assert answer.status_code in {401, 503}, answer.text
        # Only where there is a set may the unknown key be in a newer one.
        assert site.key_fetches == 1 + (case in {"nothing", "two keys with one kid"})


@pytest.mark.asyncio
async def test_an_assertion_that_the_published_key_did_not_make_lets_nobody_in(settings: Settings, site: Site) -> None:
    signer = machine(site)
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        app = ClientApp(user.http, site.client_id, redirect_uri=AT)
        code = told(await user.decide(app.asks()), app.redirect_uri)["code"]
        thief = ClientAssertionSigner(site.client_id)
        for text in (
            thief.assertion(),
            thief.assertion(head={"kid": "mine"}),
            thief.assertion(head={"jku": f"{site.keys_at}?mine", "jwk": thief.jwks["keys"][0]}),
            signer.assertion(aud="https://other.example"),
            signer.assertion(aud=["http://127.0.0.1", "https://other.example"]),
            signer.assertion(head={"alg": "none"}, key=""),
            signer.assertion(head={"alg": "HS256"}, key="a shared secret of thirty-two octets"),
            signer.assertion(iss="https://other.example/client.json", sub=site.client_id),
        ):
            answer = await app.redeem(code, **signer.form(text))
            assert answer.status_code in {400, 401}, text
        refused(await app.redeem(code), CLIENT)
        used = signer.form()
        tokens = (await app.redeem(code, **used)).json()
        refused(await app.refresh(tokens["refresh_token"], **used), CLIENT)
        assert (await app.refresh(tokens["refresh_token"], **signer.form())).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "jwks_uri", ["http://10.0.0.1/keys", "https://10.0.0.1/keys", "https://[::1]/", "https://u@k.example/"]
)
async def test_no_address_of_keys_leads_into_our_own_network(settings: Settings, site: Site, jwks_uri: str) -> None:
    signer = machine(site, jwks_uri=jwks_uri)
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        app = ClientApp(user.http, site.client_id, redirect_uri=AT)
        assert (await app.redeem("x", **signer.form())).status_code in {401, 503}
        assert site.key_fetches == 0


@pytest.mark.asyncio
async def test_documents_that_strangers_name_delay_no_assertion(settings: Settings, site: Site) -> None:
    """Neither the budget of the address nor that of the host is shared with the fetches of keys."""
    signer = machine(site)
    async with service_and_user(settings, allow_loopback_fetch=True, limit_fetch_rpm=8) as (_, user):
        app = ClientApp(user.http, site.client_id, redirect_uri=AT)
        code = told(await user.decide(app.asks()), app.redirect_uri)["code"]
        spent = [await user.http.get(ClientApp(user.http, f"{site.client_id}?{n}").asks()) for n in range(9)]
        assert {answer.status_code for answer in spent} == {400, 429}
        assert (await app.redeem(code, **signer.form())).status_code == 200


@pytest.mark.asyncio
async def test_a_document_that_gives_its_keys_up_has_to_ask_again(settings: Settings, site: Site) -> None:
    """Anybody could be the client now: neither the consent nor its codes and refresh tokens count any more."""
    site.head = JSON + b"Cache-Control: no-store\r\n"
    at = "https://app.example/callback"
    signer = machine(site, redirect_uris=[at])
    async with (
        service_and_user(settings, allow_loopback_fetch=True) as (application, user),
        connect(application) as http,
    ):
        app = ClientApp(http, site.client_id, redirect_uri=at)
        code = told(await user.decide(app.asks()), at)["code"]
        tokens = (await app.redeem(code, **signer.form())).json()
        unused = told(await user.http.get(app.asks()), at)["code"]
        site.extra = {"redirect_uris": [at]}
        refused(await app.redeem(unused), (400, "invalid_grant"))
        refused(await app.refresh(tokens["refresh_token"]), (400, "invalid_grant"))
        page = await user.http.get(app.asks())
        assert page.status_code == 200, "the consent page again"
        code = told(await user.answer(page), at)["code"]
        assert (await app.redeem(code)).status_code == 200
        assert (await user.http.get(app.asks())).status_code == 303
        refused(await app.refresh(tokens["refresh_token"]), (400, "invalid_grant"))
