"""Events that nobody we believe has sent, or that say more than their sender may: nothing dies of them."""

from typing import Any

import httpx2
import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import ec

from negotiator.config.settings import Settings
from negotiator.trust import issuer_queries
from tests.conftest import Change, Clock, bearer, connect, running
from tests.contract.requirements import covers
from tests.helpers.event_transmitter import CAEP, EVENTS, MEDIA_TYPE, RISC, push, security_event
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE

LIST = "/api/negotiations"
REVOKED = f"{CAEP}session-revoked"
OTHER = "https://idp.other.example"


@pytest_asyncio.fixture
async def rival(change: Change, idp: FakeIssuer) -> FakeIssuer:
    """Another trusted issuer, which has a `u-1001` of its own."""
    del idp
    other = FakeIssuer(BASE, OTHER)
    await change(lambda tx: issuer_queries.add(tx, other.issuer(), own=BASE, allow_loopback=False))
    return other


async def _agent(client: httpx2.AsyncClient, idp: FakeIssuer, **claims: Any) -> dict[str, Any]:
    answer = await client.post("/api/agent/register", json=registration(idp.assertion(**claims)))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def _told(answer: httpx2.Response, err: str) -> None:
    """RFC 8935 §2.4, in our one shape of refusals."""
    assert answer.status_code == 400, answer.text
    body = answer.json()
    assert (body["err"], body["error"]) == (err, err)
    assert body["description"] == body["error_description"]
    assert answer.headers["content-type"] == "application/json"


@covers("2.9:refused")
@pytest.mark.asyncio
async def test_a_forged_event_is_refused_by_name_and_ends_nothing(
    client: httpx2.AsyncClient, idp: FakeIssuer, rival: FakeIssuer, clock: Clock
) -> None:
    made = await _agent(client, idp)
    second, now = await _agent(client, rival), clock.at // 1000
    stranger = FakeIssuer(BASE, "https://stranger.example")
    of_rival = {"format": "iss_sub", "iss": OTHER, "sub": "u-1001"}
    head, body, _ = security_event(idp, REVOKED).split(".")
    forged: list[tuple[str, str]] = [
        (f"{head}.{body}.", "authentication_failed"),
        (security_event(idp, REVOKED, key=ec.generate_private_key(ec.SECP256R1())), "authentication_failed"),
        (security_event(idp, REVOKED, key="s" * 32, head={"alg": "HS256"}), "authentication_failed"),
        (security_event(idp, REVOKED, head={"kid": "other"}), "authentication_failed"),
        (security_event(stranger, REVOKED), "invalid_issuer"),
        (security_event(idp, REVOKED, iss=OTHER), "authentication_failed"),
        (security_event(idp, REVOKED, iss=f"{idp.name}.evil.example"), "invalid_issuer"),
        (security_event(idp, REVOKED, iss=BASE), "invalid_issuer"),
        (security_event(idp, REVOKED, aud=OTHER), "invalid_audience"),
        (security_event(idp, REVOKED, aud=[OTHER, f"{BASE}/"]), "invalid_audience"),
        (security_event(idp, REVOKED, aud=None), "invalid_audience"),
        (security_event(idp, REVOKED, head={"typ": "JWT"}), "invalid_request"),
        (security_event(idp, REVOKED, head={"typ": "oauth-id-jag+jwt"}), "invalid_request"),
        (security_event(idp, REVOKED, head={"typ": None}), "invalid_request"),
        (security_event(idp, REVOKED, head={"crit": ["b64"]}), "invalid_request"),
        (security_event(idp, REVOKED, iat=now + 120), "invalid_request"),
        (security_event(idp, REVOKED, iat=now - 8 * 86_400), "invalid_request"),
        (security_event(idp, REVOKED, iat=None), "invalid_request"),
        (security_event(idp, REVOKED, jti=None), "invalid_request"),
        (security_event(idp, REVOKED, jti=""), "invalid_request"),
        (security_event(idp, REVOKED, events=None), "invalid_request"),
        (security_event(idp, REVOKED, events={}), "invalid_request"),
        (security_event(idp, REVOKED, events=[REVOKED]), "invalid_request"),
        (security_event(idp, REVOKED, events={REVOKED: "now"}), "invalid_request"),
        (security_event(idp, REVOKED, sub_id=None), "invalid_request"),
        (security_event(idp, REVOKED, sub_id=None, sub="u-1001"), "invalid_request"),
        (security_event(idp, REVOKED, sub="u-1001"), "invalid_request"),
        (security_event(idp, REVOKED, exp=now + 60), "invalid_request"),
        (security_event(idp, REVOKED, sub_id={"iss": idp.name, "sub": "u-1001"}), "invalid_request"),
        (security_event(idp, REVOKED, tenant="a"), "invalid_request"),
        (security_event(rival, REVOKED, sub_id={**of_rival, "iss": idp.name}), "access_denied"),
        (
            security_event(rival, REVOKED, sub_id={"format": "complex", "user": {**of_rival, "iss": idp.name}}),
            "access_denied",
        ),
        (idp.assertion(), "invalid_request"),
        (made["access_token"], "invalid_request"),
        ("nonsense", "invalid_request"),
        ("a" * 8192, "invalid_request"),
    ]
    for number, (text, err) in enumerate(forged):
        answer = await push(client, text)
        assert text not in answer.text
        assert answer.json().get("err") == err, (number, err, answer.text)
        _told(answer, err)
    for agent in (made, second):
        assert (await client.get(LIST, headers=bearer(agent))).status_code == 200
    assert (await push(client, security_event(idp, REVOKED))).status_code == 202
    assert (await client.get(LIST, headers=bearer(made))).status_code == 401
    assert (await client.get(LIST, headers=bearer(second))).status_code == 200


@pytest.mark.asyncio
async def test_an_unsigned_event_is_refused(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    claims = jwt.decode(security_event(idp, REVOKED), options={"verify_signature": False})
    _told(await push(client, jwt.encode(claims, "", "none", headers={"typ": "secevent+jwt"})), "authentication_failed")


@pytest.mark.asyncio
async def test_other_media_types_and_sizes_are_turned_away(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    text = security_event(idp, REVOKED)
    for declared in ("application/json", "application/jwt", "text/plain"):
        answer = await client.post(EVENTS, content=text, headers={"Content-Type": declared})
        assert answer.status_code == 415
    assert (await push(client, "a" * 9000)).status_code == 413
    assert (await client.get(EVENTS)).status_code == 405
    broken = await client.post(EVENTS, content=b"\xff", headers={"Content-Type": MEDIA_TYPE})
    assert broken.status_code == 400


@pytest.mark.asyncio
async def test_an_address_ends_only_what_its_own_issuer_vouched_for(
    client: httpx2.AsyncClient, idp: FakeIssuer, rival: FakeIssuer
) -> None:
    made = await _agent(client, idp, email="ada@corp.example", email_verified=True)
    by_mail = {"format": "email", "email": "Ada@Corp.example"}
    assert (await push(client, security_event(rival, REVOKED, sub_id=by_mail))).status_code == 202
    assert (await client.get(LIST, headers=bearer(made))).status_code == 200
    assert (await push(client, security_event(idp, REVOKED, sub_id=by_mail))).status_code == 202
    assert (await client.get(LIST, headers=bearer(made))).status_code == 401


@pytest.mark.asyncio
async def test_an_event_for_several_services_is_taken_where_one_is_ours(
    client: httpx2.AsyncClient, idp: FakeIssuer
) -> None:
    answer = await push(client, security_event(idp, REVOKED, aud=[OTHER, BASE]))
    assert answer.status_code == 202, answer.text


@covers("2.9:once")
@pytest.mark.asyncio
async def test_a_replay_is_taken_and_changes_nothing(client: httpx2.AsyncClient, idp: FakeIssuer, clock: Clock) -> None:
    text = security_event(idp, REVOKED)
    assert (await push(client, text)).status_code == 202
    clock.advance(5)
    made = await _agent(client, idp)
    assert (await push(client, text)).status_code == 202
    assert (await client.get(LIST, headers=bearer(made))).status_code == 200


@pytest.mark.asyncio
async def test_an_old_reopening_does_not_undo_a_newer_closing(
    client: httpx2.AsyncClient, idp: FakeIssuer, clock: Clock
) -> None:
    late = security_event(idp, f"{RISC}account-enabled")
    clock.advance(5)
    assert (await push(client, security_event(idp, f"{RISC}account-disabled"))).status_code == 202
    clock.advance(5)
    assert (await push(client, late)).status_code == 202
    answer = await client.post("/api/agent/register", json=registration(idp.assertion()))
    assert (answer.status_code, answer.json()["error"]) == (400, "expired")
    # Nor does a session's end after it, which knows nothing of the closing.
    assert (await push(client, security_event(idp, REVOKED))).status_code == 202
    clock.advance(5)
    answer = await client.post("/api/agent/register", json=registration(idp.assertion()))
    assert (answer.status_code, answer.json()["error"]) == (400, "expired")


@pytest.mark.asyncio
async def test_many_unknown_events_are_taken_and_mean_nothing(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    made = await _agent(client, idp)
    events: dict[str, Any] = {f"urn:x:{number}": {} for number in range(200)}
    assert (await push(client, security_event(idp, REVOKED, events=events))).status_code == 202
    assert (await client.get(LIST, headers=bearer(made))).status_code == 200


@pytest.mark.asyncio
async def test_a_flood_is_turned_away_by_address(settings: Settings) -> None:
    flooded = settings.model_copy(update={"limit_rpm": 3})
    async with running(flooded) as application, connect(application) as client:
        seen = [(await push(client, "nonsense")).status_code for _ in range(1000)]
        assert seen.index(429) >= 600
        assert {*seen} == {400, 429}
        async with connect(application, "198.51.100.9") as other:
            assert (await push(other, "nonsense")).status_code == 400
