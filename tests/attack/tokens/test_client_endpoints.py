"""The standard endpoints under attack: clients' secrets, other people's tokens, odd forms."""

import base64

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER, NewClient
from tests.conftest import Change, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import limited
from tests.helpers.forger import NARROW, Forger, Forgery, refused
from tests.helpers.form_browser import BASE

TOKEN, REVOKE, INTROSPECT = "/oauth/token", "/oauth/revoke", "/oauth/introspect"
LIST = "/api/negotiations"
REQUEST, CLIENT = (400, "invalid_request"), (401, "invalid_client")
FORM = {"grant_type": "client_credentials"}
FORM_TYPE = {"content-type": "application/x-www-form-urlencoded"}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("client_id", "secret"),
    [
        ("{id}", "guess"),
        ("{id}", ""),
        ("{id} ", "{secret}"),
        ("nobody", "{secret}"),
        ("", ""),
        ("a:b", "c"),
        ("é", "ü"),
    ],
)
@covers("3.2:client-auth", "1.3:no-echo")
async def test_a_wrong_secret_opens_nothing(forger: Forger, client_id: str, secret: str) -> None:
    """53: by Basic and in the form, for both grants; a good ID-JAG is not spent by it."""
    before = forger.counts()
    name = client_id.format(id=forger.client_id)
    word = secret.format(secret=forger.secret)
    jag = forger.forge(Forgery(), "token")
    for form in (FORM, {"grant_type": JWT_BEARER, "assertion": jag}):
        raw = base64.b64encode(f"{name}:{word}".encode()).decode()
        basic = await forger.client.post(TOKEN, data=form, headers={"authorization": f"Basic {raw}"})
        refused(basic, CLIENT, jag)
        assert basic.headers["www-authenticate"].startswith("Basic ")
        posted = await forger.client.post(TOKEN, data={**form, "client_id": name, "client_secret": word})
        refused(posted, CLIENT, jag)
    assert forger.counts() == before
    assert (await forger.present("token", jag)).status_code == 200


@pytest.mark.asyncio
async def test_a_client_authenticates_in_one_way_only(forger: Forger) -> None:
    """54: Basic and post together, two names, a bearer, a broken Basic."""
    name, secret = forger.basic
    both = {**FORM, "client_id": name, "client_secret": secret}
    refused(await forger.client.post(TOKEN, data=both, auth=forger.basic), REQUEST)
    other = {**FORM, "client_id": "other"}
    refused(await forger.client.post(TOKEN, data=other, auth=forger.basic), REQUEST)
    for value in ("Bearer x", "Basic", "Basic !!!", "Basic /w==", "Digest x"):
        answer = await forger.client.post(TOKEN, data=FORM, headers={"authorization": value})
        assert answer.status_code in {400, 401}
    public = {"grant_type": JWT_BEARER, "client_id": name, "assertion": forger.forge(Forgery(), "token")}
    refused(await forger.client.post(TOKEN, data=public), CLIENT)
    assert (await forger.client.post(TOKEN, data=both)).status_code == 200
    assert (await forger.client.post(TOKEN, data={**FORM, "client_id": name}, auth=forger.basic)).status_code == 200


@pytest.mark.asyncio
@covers("3.1:token-errors")
async def test_a_client_uses_its_own_assertions_and_grants_only(forger: Forger, change: Change) -> None:
    """52, 55: another client's ID-JAG, and a grant the operator did not give."""
    new = NewClient("other", ("client_credentials",), tuple(ASSISTANT))
    other = await change(lambda tx: clients.add(tx, new))
    jag = forger.forge(Forgery(), "token")
    form = {"grant_type": JWT_BEARER, "assertion": jag}
    before = forger.counts()
    refused(await forger.client.post(TOKEN, data=form, auth=other), (400, "unauthorized_client"), jag)
    both = NewClient("both", clients.GRANTS, tuple(ASSISTANT))
    third = await change(lambda tx: clients.add(tx, both))
    refused(await forger.client.post(TOKEN, data=form, auth=third), (400, "invalid_grant"), jag)
    assert forger.counts() == before
    fourth = await change(lambda tx: clients.add(tx, NewClient("jag", (JWT_BEARER,), tuple(ASSISTANT))))
    refused(await forger.client.post(TOKEN, data=FORM, auth=fourth), (400, "unauthorized_client"))
    assert (await forger.client.post(TOKEN, data=form, auth=forger.basic)).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"grant_type=client_credentials&grant_type=client_credentials", REQUEST),
        (b"scope=openid", REQUEST),
        (b"grant_type=", REQUEST),
        (b"grant_type=password&username=a&password=b", (400, "unsupported_grant_type")),
        (b"grant_type=implicit", (400, "unsupported_grant_type")),
        (b"grant_type=refresh_token&refresh_token=x", (400, "invalid_grant")),
        (b"grant_type=refresh_token", REQUEST),
        (b"grant_type=" + JWT_BEARER.encode(), REQUEST),
        (b"grant_type=client_credentials&scope=root", (400, "invalid_scope")),
        (b"grant_type=client_credentials&scope=openid%22%5C", (400, "invalid_scope")),
        (b"grant_type=client_credentials&resource=https://evil.example", (400, "invalid_target")),
        (b"grant_type=client_credentials&resource=%23x&resource=" + BASE.encode(), (400, "invalid_target")),
        (b"grant_type=client_credentials&x=%ff", REQUEST),
        (b"grant_type=client_credentials&x=%00", REQUEST),
        (b"&".join(b"a%d=1" % n for n in range(200)), REQUEST),
        (b"a=" + b"b" * 70_000, (413, "invalid_request")),
    ],
)
@covers("3.1:token-errors", "3.1:resource")
async def test_an_odd_form_is_refused(forger: Forger, body: bytes, expected: tuple[int, str]) -> None:
    """68, 120."""
    before = forger.counts()
    answer = await forger.client.post(TOKEN, content=body, headers=FORM_TYPE, auth=forger.basic)
    refused(answer, expected)
    assert not set(answer.json()["error_description"]) & {'"', "\\"}
    limited(answer)
    assert forger.counts() == before
    good = b"grant_type=client_credentials&unknown=1&empty=&resource=" + BASE.encode()
    assert (await forger.client.post(TOKEN, content=good, headers=FORM_TYPE, auth=forger.basic)).is_success


@pytest.mark.asyncio
@pytest.mark.parametrize("path", [TOKEN, REVOKE, INTROSPECT])
async def test_the_standard_endpoints_take_forms_by_post_only(forger: Forger, path: str) -> None:
    """120."""
    refused(await forger.client.post(path, json={"token": "x", **FORM}, auth=forger.basic), (415, "invalid_request"))
    answer = await forger.client.get(path, params={**FORM, "token": "x"}, auth=forger.basic)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    query = await forger.client.post(f"{path}?grant_type=client_credentials&token=x", data={}, auth=forger.basic)
    assert query.status_code in {400, 415}


@pytest.mark.asyncio
async def test_scopes_are_granted_by_policy_claim_and_client_together(forger: Forger, change: Change) -> None:
    """64, 66: nobody gets what one of the three did not give; unknown scopes are dropped."""
    narrow = forger.forge(Forgery(claims={"iss": NARROW}), "register")
    assert (await forger.present("register", narrow)).json()["scopes"] == ["memories:read"]
    mixed = {"scope": "openid root:all ai:tactics"}
    told = forger.forge(Forgery(claims=mixed), "register")
    assert set((await forger.present("register", told)).json()["scopes"]) == {"openid", "ai:tactics"}
    told = forger.forge(Forgery(claims=mixed), "token")
    refused(await forger.present("token", told, scope="memories:write"), (400, "invalid_scope"))
    assert (await forger.present("token", told, scope="openid")).json()["scope"] == "openid"
    nothing = forger.forge(Forgery(claims={"scope": ""}), "token")
    refused(await forger.present("token", nothing), (400, "invalid_scope"))


async def _is_live(forger: Forger, token: str) -> bool:
    answer = await forger.client.get(LIST, headers={"authorization": f"Bearer {token}"})
    return answer.status_code == 200


@pytest.mark.asyncio
@covers("3.5:revoke", "3.7:dead-at-once")
async def test_nobody_ends_another_s_token_without_holding_it(
    forger: Forger, register: Register, change: Change
) -> None:
    """117: another client, an unknown client, nobody with a client's token; then the owners."""
    agents = (await register())["access_token"]
    clients_own = (await forger.client.post(TOKEN, data=FORM, auth=forger.basic)).json()["access_token"]
    new = NewClient("other", clients.GRANTS, tuple(ASSISTANT))
    other = await change(lambda tx: clients.add(tx, new))
    for token in (agents, clients_own):
        assert (await forger.client.post(REVOKE, data={"token": token}, auth=other)).status_code == 200
        refused(await forger.client.post(REVOKE, data={"token": token}, auth=("x", "y")), CLIENT, token)
        assert await _is_live(forger, token)
    refused(await forger.client.post(REVOKE, data={"token": clients_own}), CLIENT, clients_own)
    assert await _is_live(forger, clients_own)
    for odd in ("garbage", agents[:-4] + "AAAA", "a" * 9000, "\U0001f600"):
        assert (await forger.client.post(REVOKE, data={"token": odd})).status_code == 200
    refused(await forger.client.post(REVOKE, data={"x": "y"}), REQUEST)
    assert (await forger.client.post(REVOKE, data={"token": agents})).status_code == 200
    own = {"token": clients_own, "token_type_hint": "refresh_token"}
    assert (await forger.client.post(REVOKE, data=own, auth=forger.basic)).status_code == 200
    assert not await _is_live(forger, agents)
    assert not await _is_live(forger, clients_own)


@pytest.mark.asyncio
@covers("3.5:introspect")
async def test_introspection_tells_a_stranger_nothing(forger: Forger, register: Register, change: Change) -> None:
    """118: no client 401; another client, another's token and garbage the same two words."""
    agents = (await register())["access_token"]
    own = (await forger.client.post(TOKEN, data=FORM, auth=forger.basic)).json()["access_token"]
    other = await change(lambda tx: clients.add(tx, NewClient("o", clients.GRANTS, ("openid",))))

    async def ask(token: str, auth: tuple[str, str]) -> httpx2.Response:
        return await forger.client.post(INTROSPECT, data={"token": token}, auth=auth)

    refused(await forger.client.post(INTROSPECT, data={"token": own}), CLIENT, own)
    refused(await ask(own, (forger.client_id, "guess")), CLIENT, own)
    bearer_only = await forger.client.post(INTROSPECT, data={"token": own}, headers=bearer({"access_token": own}))
    refused(bearer_only, REQUEST, own)
    for token, auth in ((own, other), (agents, forger.basic), ("x.y.z", forger.basic), ("x", other)):
        answer = await ask(token, auth)
        assert (answer.status_code, answer.json()) == (200, {"active": False})
    told = (await ask(own, forger.basic)).json()
    assert told["active"] is True
    assert (told["client_id"], told["sub"], told["aud"]) == (forger.client_id, forger.client_id, BASE)
    assert {"scope", "exp", "iat", "iss", "jti", "token_type"} <= set(told)
    refused(await forger.client.post(INTROSPECT, data={"x": "1"}, auth=forger.basic), REQUEST)
    await forger.client.post(REVOKE, data={"token": own}, auth=forger.basic)
    assert (await ask(own, forger.basic)).json() == {"active": False}
