"""What a report of a trusted issuer ends, opens, and asks for."""

from typing import Any

import httpx2
import pytest

from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.tokens import authorization_codes
from negotiator.tokens.authorization_codes import NewGrant, PresentedCode
from negotiator.tokens.refresh_tokens import RefreshTokens
from negotiator.trust.revocations import identity_key
from negotiator.users import identity_matching, session_queries
from negotiator.users.session_queries import SignInDetails
from tests.conftest import Change, Clock, Mint, Register, bearer, connect, running
from tests.contract.requirements import covers
from tests.helpers.event_transmitter import AUTH_MD, CAEP, RISC, SSF, push, security_event
from tests.helpers.fake_issuer import ISSUER, FakeIssuer, registration

LIST = "/api/negotiations"
KEY = identity_key(ISSUER, "", "u-1001")


async def _register(client: httpx2.AsyncClient, idp: FakeIssuer, **claims: Any) -> httpx2.Response:
    return await client.post("/api/agent/register", json=registration(idp.assertion(**claims)))


async def _status(client: httpx2.AsyncClient, made: dict[str, Any]) -> int:
    return (await client.get(LIST, headers=bearer(made))).status_code


@covers("2.9:reported")
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("event", "changes"),
    [
        (f"{CAEP}session-revoked", {}),
        (f"{CAEP}credential-change", {}),
        (f"{RISC}sessions-revoked", {}),
        (f"{RISC}account-disabled", {}),
        (f"{RISC}account-purged", {}),
        (f"{RISC}credential-compromise", {}),
        (AUTH_MD, {"sub_id": None, "sub": "u-1001"}),
        (AUTH_MD, {}),
    ],
)
async def test_a_report_ends_all_that_the_person_s_agents_hold(
    event: str, changes: dict[str, Any], client: httpx2.AsyncClient, idp: FakeIssuer
) -> None:
    made = (await _register(client, idp)).json()
    other = (await _register(client, idp, sub="u-2002")).json()
    early = idp.assertion()
    answer = await push(client, security_event(idp, event, **changes))
    assert (answer.status_code, answer.content) == (202, b"")
    assert await _status(client, made) == 401
    assert await _status(client, other) == 200
    late = await client.post("/api/agent/register", json=registration(early))
    assert (late.status_code, late.json()["error"]) == (400, "expired")


@covers("2.9:reported")
@pytest.mark.asyncio
async def test_what_a_code_bound_dies_too_and_the_codes_nobody_used(
    client: httpx2.AsyncClient, idp: FakeIssuer, register: Register, mint: Mint, change: Change
) -> None:
    user_id, code = await mint()
    _, unused = await mint()
    await change(lambda tx: identity_matching.link(tx, identity=KEY, issuer=ISSUER, user_id=user_id, actor="test"))
    path, agent = "/api/agent/claim", await register()
    claimed = await client.post(path, json={"claim_token": code}, headers=bearer(agent))
    assert (await push(client, security_event(idp, f"{CAEP}session-revoked"))).status_code == 202
    assert await _status(client, claimed.json()) == 401
    late = await client.post(path, json={"claim_token": unused}, headers=bearer(await register()))
    assert (late.status_code, late.json()["error"]) == (410, "claim_revoked")


@covers("2.9:reported")
@pytest.mark.asyncio
async def test_sessions_and_grants_die_as_far_as_they_stand_on_the_identity(
    client: httpx2.AsyncClient, idp: FakeIssuer, mint: Mint, change: Change, clock: Clock
) -> None:
    user_id, _ = await mint()
    refreshing = RefreshTokens(b"pepper", 3600)

    def grant(tx: Transaction, secret: str, identity: str | None) -> str:
        issuer = ISSUER if identity else None
        session_queries.begin(tx, secret, user_id, means=SignInDetails(issuer=issuer, identity=identity))
        asked = authorization_codes.s256_challenge("verifier")
        told = NewGrant("cli_1", user_id, [], "", "", "", asked, 0, issuer, identity)
        code = authorization_codes.issue_code(tx, told, pepper=b"pepper")
        shown = PresentedCode(code, "cli_1", "", "verifier")
        found = authorization_codes.redeem(tx, shown, pepper=b"pepper")
        return refreshing.issue(tx, found.id, granted_at=found.created_at).text

    def unit(tx: Transaction) -> tuple[str, str]:
        identity_matching.link(tx, identity=KEY, issuer=ISSUER, user_id=user_id, actor="test")
        return grant(tx, "own", None), grant(tx, "theirs", KEY)

    own, theirs = await change(unit)
    clock.advance(1)
    assert (await push(client, security_event(idp, f"{CAEP}session-revoked"))).status_code == 202

    def after(tx: Transaction) -> list[bool]:
        tokens = [refreshing.find(tx, token) for token in (own, theirs)]
        return [
            session_queries.find(tx, "own") is not None,
            session_queries.find(tx, "theirs") is not None,
            *(found is not None and refreshing.is_live(tx, found[0]) for found in tokens),
        ]

    assert await change(after) == [True, False, True, False]


@covers("2.9:closed")
@pytest.mark.asyncio
async def test_a_closed_account_stays_out_until_it_is_opened(
    client: httpx2.AsyncClient, idp: FakeIssuer, clock: Clock
) -> None:
    first = (await _register(client, idp)).json()
    await push(client, security_event(idp, f"{RISC}account-disabled"))
    clock.advance(100)
    assert (await _register(client, idp)).json()["error"] == "expired"
    await push(client, security_event(idp, f"{RISC}account-enabled"))
    clock.advance(1)
    again = await _register(client, idp)
    assert again.status_code == 201
    assert again.json()["identity"]["user_id"] == first["identity"]["user_id"]
    assert await _status(client, first) == 401


@pytest.mark.asyncio
async def test_a_purged_account_comes_back_as_somebody_new(
    client: httpx2.AsyncClient, idp: FakeIssuer, clock: Clock
) -> None:
    first = (await _register(client, idp)).json()
    await push(client, security_event(idp, f"{RISC}account-purged"))
    clock.advance(1)
    await push(client, security_event(idp, f"{RISC}account-enabled"))
    clock.advance(1)
    again = await _register(client, idp)
    assert again.json()["identity"]["user_id"] != first["identity"]["user_id"]


@covers("2.9:login")
@pytest.mark.asyncio
async def test_after_a_lost_credential_only_a_later_login_counts(
    client: httpx2.AsyncClient, idp: FakeIssuer, clock: Clock
) -> None:
    at = clock.at // 1000
    await push(client, security_event(idp, f"{CAEP}credential-change"))
    clock.advance(60)
    for auth_time in (None, at - 10, at):
        stale = await _register(client, idp, auth_time=auth_time)
        assert (stale.status_code, stale.json()["error"]) == (401, "login_required")
        assert stale.json()["max_age"] == 60
    assert (await _register(client, idp, auth_time=at + 1)).status_code == 201


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("event", "payload", "asked"),
    [
        ("assurance-level-change", {"change_direction": "decrease"}, True),
        ("assurance-level-change", {"change_direction": "increase"}, False),
        ("device-compliance-change", {"current_status": "not-compliant"}, True),
        ("device-compliance-change", {"current_status": "compliant"}, False),
        ("risk-level-change", {"current_level": "HIGH"}, True),
        ("risk-level-change", {"current_level": "LOW"}, False),
        ("token-claims-change", {"claims": {"role": "ro-admin"}}, False),
    ],
)
async def test_a_change_for_the_worse_asks_for_a_login_and_ends_nothing(
    event: str, payload: dict[str, Any], asked: bool, client: httpx2.AsyncClient, idp: FakeIssuer
) -> None:
    made = (await _register(client, idp)).json()
    await push(client, security_event(idp, f"{CAEP}{event}", payload=payload))
    assert await _status(client, made) == 200
    assert (await _register(client, idp)).status_code == (401 if asked else 201)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "subject",
    [
        {"format": "opaque", "id": "stream-1"},
        {"format": "phone_number", "phone_number": "+12065550100"},
        {"format": "complex", "session": {"format": "opaque", "id": "s-1"}},
        {"format": "email", "email": "nobody@corp.example"},
    ],
)
async def test_nobody_we_know_is_taken_and_means_nothing(
    subject: dict[str, Any], client: httpx2.AsyncClient, idp: FakeIssuer
) -> None:
    made = (await _register(client, idp)).json()
    for event in (f"{SSF}verification", f"{CAEP}session-revoked"):
        answer = await push(client, security_event(idp, event, sub_id=subject, payload={"state": "x"}))
        assert answer.status_code == 202
    assert await _status(client, made) == 200


@pytest.mark.asyncio
async def test_a_complex_subject_means_its_user(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    made = (await _register(client, idp)).json()
    user = {"format": "iss_sub", "iss": ISSUER, "sub": "u-1001"}
    named = {"format": "complex", "user": user, "session": {"format": "opaque", "id": "s-1"}}
    await push(client, security_event(idp, f"{CAEP}session-revoked", sub_id=named))
    assert await _status(client, made) == 401


@pytest.mark.asyncio
async def test_another_worker_knows_at_once_and_an_open_stream_is_told(
    client: httpx2.AsyncClient, idp: FakeIssuer, settings: Settings
) -> None:
    house = build_application(settings)
    guard = house.pipeline.guard
    await house.store.start()
    made = (await _register(client, idp)).json()
    async with running(settings) as second, connect(second) as elsewhere:
        assert await _status(elsewhere, made) == 200
        caller = await guard.identify(bearer_of(made), "203.0.113.7", sent=("GET", LIST))
        assert await house.store.read(lambda tx: guard.stands(tx, caller))
        await push(client, security_event(idp, f"{CAEP}session-revoked"))
        assert await _status(elsewhere, made) == 401
        assert not await house.store.read(lambda tx: guard.stands(tx, caller))
    await house.close()


def bearer_of(made: dict[str, Any]) -> dict[str, str]:
    """The headers as the edge reads them."""
    return {"authorization": f"Bearer {made['access_token']}"}
