"""What stands behind the pages, on each engine: browser sessions, the first user's link, what an agent holds."""

import asyncio
from typing import Any

import pytest

from negotiator.agents import delegation, registration
from negotiator.base import values
from negotiator.base.errors import Gone, NotFound
from negotiator.console.people import agents_page
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.trust import revocations
from negotiator.users import invitation, session_queries, user_queries
from negotiator.users.session_queries import SignInDetails
from tests.conftest import make_settings
from tests.helpers.sweep import sweep

PEPPER = b"only this test knows"
HASH = "no password"


async def ada(store: Store) -> str:
    """An account."""
    return await store.write(lambda tx: user_queries.add(tx, "ada@example.com", actor="operator"))


@pytest.mark.asyncio
async def test_a_session_lives_until_something_it_stands_on_dies(store: Store) -> None:
    user = await ada(store)
    for issuer in (None, "https://idp.example"):
        secret = values.new_secret()
        means = SignInDetails("Firefox", "::1", issuer, issuer and f"{issuer} ada")

        def begin(tx: Transaction, secret: str = secret, means: SignInDetails = means) -> str:
            return session_queries.begin(tx, secret, user, means=means)

        session = await store.write(begin)
        found = await store.read(lambda tx, secret=secret: session_queries.find(tx, secret))
        assert found is not None
        assert (found.session_id, found.user_id, found.email) == (session, user, "ada@example.com")
        assert await store.read(lambda tx: session_queries.find(tx, "another")) is None
        (listed,) = await store.read(lambda tx: session_queries.of_user(tx, user))
        assert listed.id == session
        subject = issuer or user
        await store.write(lambda tx, subject=subject: revocations.revoke(tx, subject, before=values.now()))
        assert await store.read(lambda tx, secret=secret: session_queries.find(tx, secret)) is None
        await store.write(lambda tx: session_queries.end_all(tx, user))
        await asyncio.sleep(0.002)  # the next session is younger than the watermark


@pytest.mark.asyncio
async def test_a_session_is_ended_by_its_user_only(store: Store) -> None:
    user = await ada(store)
    one, two = values.new_secret(), values.new_secret()
    first = await store.write(lambda tx: session_queries.begin(tx, one, user, means=SignInDetails()))
    await store.write(lambda tx: session_queries.begin(tx, two, user, means=SignInDetails()))
    assert not await store.write(lambda tx: session_queries.end(tx, first, user_id="usr_other"))
    assert await store.write(lambda tx: session_queries.end_all(tx, user, but=first)) == 1
    assert await store.read(lambda tx: session_queries.find(tx, two)) is None
    await store.write(lambda tx: session_queries.mark_seen(tx, first))
    await store.write(lambda tx: session_queries.end_by_secret(tx, one))
    assert await store.read(lambda tx: session_queries.of_user(tx, user)) == []
    await store.write(lambda tx: sweep(tx, values.now() + session_queries.LIFE + 1))


@pytest.mark.asyncio
async def test_one_invitation_makes_one_user_however_many_accept(store: Store) -> None:
    invited = invitation.invite(PEPPER)

    async def accept(number: int) -> str:
        def unit(tx: Transaction) -> str:
            return invitation.accept(tx, PEPPER, invited, email=f"u{number}@example.com", name="", password_hash=HASH)

        return await store.write(unit)

    outcomes = await asyncio.gather(*map(accept, range(12)), return_exceptions=True)
    assert len([each for each in outcomes if isinstance(each, str)]) == 1
    assert len([each for each in outcomes if isinstance(each, Gone)]) == 11
    assert len(await store.read(user_queries.list_users)) == 1


@pytest.mark.asyncio
async def test_the_overview_shows_what_is_live_and_ends_what_is_his(store: Store, tmp_path: Any) -> None:
    from negotiator.compose.application import build_application

    house = build_application(make_settings(tmp_path / "data", tmp_path / "keys"))
    user, agents = (await ada(store), registration.AgentRegistration(house.services.credentials, 60, 60, 1))
    token = agents.prepare_anonymous()
    agent = token.subject.client_id
    await store.write(lambda tx: agents.register_anonymous(tx, token, name="scout", address="::1"))
    scopes = ["memories:read", "openid"]
    code = await store.write(lambda tx: house.delegations.mint(tx, user, scopes, label="x"))
    text = agents.credentials.issue(token).text
    caller = house.services.credentials._believe(text)  # pyright: ignore[reportPrivateUsage]
    assert caller is not None
    await store.write(lambda tx: house.delegations.claim(tx, caller[1], code.code))
    await store.write_unserialized(lambda tx: registration.mark_seen(tx, {agent: values.now(), "agt_none": 1}))

    def gather(tx: Transaction) -> agents_page.AgentsOverview:
        return agents_page.load_overview(tx, user)

    seen = await store.scan(gather)
    assert [each.name for each in seen.agents] == ["scout"]
    assert seen.agents[0].seen_at is not None
    assert seen.rights[agent].scopes == set(scopes)
    assert [(state, seen.users[code.used_by or ""]) for code, state in seen.codes] == [("used", "scout")]
    for other in ("usr_other", ""):
        with pytest.raises(NotFound):
            await store.write(lambda tx, other=other: agents_page.revoke_agent(tx, agent, user_id=other))
    spare = await store.write(lambda tx: house.delegations.mint(tx, user, scopes))
    with pytest.raises(NotFound):
        await store.write(lambda tx: delegation.revoke(tx, spare.id, actor="usr_other", user_id="usr_other"))
    await store.write(lambda tx: delegation.revoke(tx, spare.id, actor=user, user_id=user))
    await store.write(lambda tx: agents_page.revoke_agent(tx, agent, user_id=user))
    seen = await store.scan(gather)
    assert seen.agents == []
    assert [state for _, state in seen.codes] == ["revoked", "used"]
    assert len(await store.read(lambda tx: delegation.of_user(tx, user))) == 2
