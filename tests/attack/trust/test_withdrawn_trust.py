"""Assertions that come again, and assertions and tokens after trust was withdrawn."""

import time

import pytest

from negotiator.agents import registration
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER
from negotiator.trust import issuer_queries
from negotiator.trust.issuers import Issuer
from negotiator.users import user_queries
from tests.conftest import Change, Clock, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.forged_assertions import jwk, jwks, private_key
from tests.helpers.forger import AGENT, ASSERTION_ENDPOINTS, IDP, OTHER, Forger, Forgery, refused
from tests.helpers.form_browser import BASE

GRANT = (400, "invalid_grant")
EXPIRED = (400, "expired")
GOOD = Forgery()
LIST = "/api/negotiations"


@pytest.mark.asyncio
async def test_what_is_refused_for_another_reason_may_come_again(forger: Forger) -> None:
    """The jti is spent in the transaction that issues the token, and in no other."""
    text = forger.forge(GOOD, "token")
    before = forger.counts()
    greedy = await forger.present("token", text, scope="unknown:scope")
    refused(greedy, (400, "invalid_scope"), text)
    refused(await forger.present("token", text, resource=OTHER), (400, "invalid_target"), text)
    form = {"grant_type": JWT_BEARER, "assertion": text}
    unknown = await forger.client.post("/oauth/token", data=form, auth=(forger.client_id, "guess"))
    refused(unknown, (401, "invalid_client"), text)
    assert forger.counts() == before
    assert (await forger.present("token", text, scope="memories:write")).status_code == 200


@pytest.mark.asyncio
@covers("2.5:replay_detected")
async def test_one_assertion_opens_one_door_once(forger: Forger) -> None:
    """45, 47: the same text at both doors, in either order, and as a claim."""
    shared = Forgery(claims={"client_id": forger.client_id})
    replayed = {"register": (400, "replay_detected"), "token": GRANT}
    for first, second in (ASSERTION_ENDPOINTS, ASSERTION_ENDPOINTS[::-1]):
        text = forger.forge(shared, first)
        opened = await forger.present(first, text)
        assert opened.is_success, opened.text
        before = forger.counts()
        refused(await forger.present(second, text), replayed[second], text)
        refused(await forger.present(first, text), replayed[first], text)
        assert forger.counts() == before


@pytest.mark.asyncio
async def test_a_key_spends_its_own_issuer_s_jti_only(forger: Forger) -> None:
    """Two issuers may choose the same jti; neither can spend the other's."""
    claims = {"jti": "one-and-the-same"}
    assert (await forger.present("register", forger.forge(Forgery(claims=claims), "register"))).is_success
    other = Forgery(claims={**claims, "iss": OTHER}, alg="ES384")
    assert (await forger.present("register", forger.forge(other, "register"))).is_success
    edges = Forgery(key=private_key("ES256"), claims=claims)
    answer = await forger.present("register", forger.forge(edges, "register"))
    refused(answer, (400, "replay_detected"))


async def _tokens(forger: Forger, **claims: object) -> list[str]:
    """One token from each door for the same person."""
    told: list[str] = []
    for door in ASSERTION_ENDPOINTS:
        answer = await forger.present(door, forger.forge(Forgery(claims=claims), door))
        assert answer.is_success, answer.text
        told.append(answer.json()["access_token"])
    return told


async def _alive(forger: Forger, tokens: list[str]) -> list[bool]:
    answers = [await forger.client.get(LIST, headers=bearer({"access_token": token})) for token in tokens]
    for answer in answers:
        if answer.status_code != 200:
            refused(answer, (401, "invalid_token"))
    return [answer.status_code == 200 for answer in answers]


@pytest.mark.asyncio
@covers("3.7:dead-at-once", "2.5:expired")
async def test_the_kill_switch_kills_tokens_and_unused_assertions_of_one_person(
    forger: Forger, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    """75: what was made before the revocation is dead at both doors, what is made after it is not."""
    tokens, others = await _tokens(forger), await _tokens(forger, sub="u-2")
    unused = {door: forger.forge(GOOD, door) for door in ASSERTION_ENDPOINTS}
    await change(lambda tx: issuer_queries.revoke_subject(tx, IDP, "u-1001"))
    before = forger.counts()
    for door, expected in zip(ASSERTION_ENDPOINTS, (EXPIRED, GRANT), strict=True):
        refused(await forger.present(door, unused[door]), expected, unused[door])
    assert forger.counts() == before
    assert await _alive(forger, tokens) == [False, False]
    assert await _alive(forger, others) == [True, True]
    _let_pass(monkeypatch, 2)
    assert await _alive(forger, await _tokens(forger)) == [True, True]


@pytest.mark.asyncio
@covers("3.7:dead-at-once", "2.5:issuer_not_enabled")
async def test_a_removed_issuer_takes_everything_along_and_its_return_brings_nothing_back(
    forger: Forger, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens, others = await _tokens(forger), await _claimed_by_other(forger)
    unused = {door: forger.forge(GOOD, door) for door in ASSERTION_ENDPOINTS}
    await change(lambda tx: issuer_queries.remove(tx, IDP))
    for door, expected in zip(ASSERTION_ENDPOINTS, ((400, "issuer_not_enabled"), GRANT), strict=True):
        fresh = forger.forge(GOOD, door)
        refused(await forger.present(door, fresh), expected, fresh)
    assert await _alive(forger, tokens) == [False, False]
    assert await _alive(forger, others) == [True]
    allowed = frozenset({AGENT, forger.client_id})
    again = Issuer(IDP, ("ES256",), jwks=jwks(jwk("ES256")), clients=allowed)
    await change(lambda tx: issuer_queries.add(tx, again, own=BASE, allow_loopback=False))
    assert await _alive(forger, tokens) == [False, False]
    for door, expected in zip(ASSERTION_ENDPOINTS, (EXPIRED, GRANT), strict=True):
        refused(await forger.present(door, unused[door]), expected, unused[door])
    _let_pass(monkeypatch, 2)
    assert await _alive(forger, await _tokens(forger)) == [True, True]


@pytest.mark.asyncio
async def test_a_key_that_the_operator_replaced_signs_nothing_any_more(forger: Forger, change: Change) -> None:
    """27: at the next assertion, with no cache between."""
    assert await _alive(forger, await _tokens(forger)) == [True, True]
    allowed = frozenset({AGENT, forger.client_id})
    rotated = Issuer(IDP, ("EdDSA",), jwks=jwks(jwk("EdDSA")), clients=allowed)
    await change(lambda tx: issuer_queries.add(tx, rotated, own=BASE, allow_loopback=False))
    for door, expected in zip(ASSERTION_ENDPOINTS, ((400, "invalid_signature"), GRANT), strict=True):
        old = forger.forge(GOOD, door)
        refused(await forger.present(door, old), expected, old)
        assert (await forger.present(door, forger.forge(Forgery(alg="EdDSA"), door))).is_success


@pytest.mark.asyncio
@covers("3.7:dead-at-once", "2.5:access_denied")
async def test_a_closed_account_has_no_agents_and_gets_none(forger: Forger, change: Change) -> None:
    claims = {"email": "ada@corp.example", "email_verified": True}
    tokens, others = await _tokens(forger, **claims), await _tokens(forger, sub="u-2")
    await change(lambda tx: user_queries.disable(tx, "ada@corp.example"))
    before = forger.counts()
    for door, expected in zip(ASSERTION_ENDPOINTS, ((403, "access_denied"), (400, "access_denied")), strict=True):
        text = forger.forge(Forgery(claims=claims), door)
        refused(await forger.present(door, text), expected, text)
    assert forger.counts() == before
    assert await _alive(forger, tokens) == [False, False]
    assert await _alive(forger, others) == [True, True]


@pytest.mark.asyncio
@covers("3.7:dead-at-once", "3.2:client-auth")
async def test_a_revoked_agent_and_a_removed_client_are_out_at_once(
    forger: Forger, change: Change, mint: Mint, register: Register
) -> None:
    user, code = await mint()
    agents = [(await register()), (await register())]
    _, second = await mint()
    claimed: list[str] = []
    for agent, word in zip(agents, (code, second), strict=True):
        answer = await forger.client.post("/api/agent/claim", json={"claim_token": word}, headers=bearer(agent))
        claimed.append(answer.json()["access_token"])
    assert not await change(lambda tx: registration.revoke(tx, agents[0]["client_id"], user_id="usr_other"))
    assert await _alive(forger, claimed) == [True, True]
    assert await change(lambda tx: registration.revoke(tx, agents[0]["client_id"], user_id=user))
    assert await _alive(forger, claimed) == [False, True]
    tokens = await _tokens(forger)
    await change(lambda tx: clients.remove(tx, forger.client_id))
    assert await _alive(forger, tokens) == [True, False]
    refused(await forger.present("token", forger.forge(GOOD, "token")), (401, "invalid_client"))


@pytest.mark.asyncio
async def test_a_token_dies_on_its_second_and_not_before(
    forger: Forger, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    """107: by the service's own clock, however often it was believed before."""
    token = (await register())["access_token"]
    _let_pass(monkeypatch, 3598)
    assert await _alive(forger, [token]) == [True]
    _let_pass(monkeypatch, 3601)
    assert await _alive(forger, [token]) == [False]
    later = (await register())["access_token"]
    assert await _alive(forger, [later]) == [True]


async def _claimed_by_other(forger: Forger) -> list[str]:
    text = forger.forge(Forgery(claims={"iss": OTHER}, alg="ES384"), "register")
    return [(await forger.present("register", text)).json()["access_token"]]


def _let_pass(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    clock = Clock()
    clock.at = time.time_ns() // 1_000_000 + seconds * 1000
    monkeypatch.setattr("negotiator.base.values.now", clock)
