"""Links for a new password that were used, forged or caught, and requests that look for accounts or flood mailboxes."""

import asyncio
import time

import httpx2
import pytest
from sqlmodel import func, select
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from negotiator.agents.mail_queue import QueuedMail
from negotiator.base.errors import Gone
from negotiator.config.settings import Settings
from negotiator.store import audit
from negotiator.store.statement import Query, Transaction
from negotiator.users import password_links, user_queries
from negotiator.users.tables import User
from tests.conftest import PEPPER, Account, Change, Clock, connect, make_settings, running
from tests.helpers.form_browser import BASE, FormBrowser
from tests.helpers.password_reset import FORGOTTEN, NEW, ask, choose, link_in
from tests.helpers.password_reset import mailing as mailing
from tests.helpers.password_reset import smtp as smtp
from tests.helpers.recording_smtp import RecordingSmtp, recording_smtp

LIFE = password_links.RESET_LIFE


async def link_of(change: Change, user_id: str, pepper: str = PEPPER, life: int = LIFE) -> str:
    """A link as the service writes it."""

    def unit(tx: Transaction) -> str:
        user = user_queries.by_id(tx, user_id)
        assert user is not None
        return password_links.write_link(pepper.encode(), user, life=life)

    return f"/password/{await change(unit)}"


@pytest.mark.asyncio
async def test_a_link_ends_with_any_change_of_the_password(
    application: Starlette, account: Account, change: Change
) -> None:
    user_id = await account()
    one, other = await link_of(change, user_id), await link_of(change, user_id, life=LIFE + 1)
    assert (await choose(application, one))[0] == 303
    assert (await choose(application, one))[0] == 410, "used"
    assert (await choose(application, other))[0] == 410, "for the password before"


@pytest.mark.asyncio
async def test_a_closed_account_has_no_link(application: Starlette, account: Account, change: Change) -> None:
    link = await link_of(change, await account())
    await change(lambda tx: user_queries.disable(tx, "ada@example.com"))
    assert (await choose(application, link))[0] == 410


@pytest.mark.asyncio
async def test_a_forged_link_sets_nothing(application: Starlette, account: Account, change: Change) -> None:
    ada, eve = await account(), await account("eve@example.com")
    good, hers = await link_of(change, ada), await link_of(change, eve)
    user, until, signature = good.rsplit("-", 2)
    later = f"{int(until, 16) + 60_000:x}"
    for forged in (
        await link_of(change, ada, "another secret"),
        await link_of(change, ada, life=-1),
        hers.replace(eve, ada),
        f"{user}-{later}-{signature}",
        f"{user}-{until}-{'0' * 64}",
        f"{user}-{until}-{signature.upper()}",
        f"{user}-{until}",
        "/password/x",
        f"{good}0",
        good.replace("usr_", "usr_%00"),
    ):
        status, _ = await choose(application, forged)
        assert status in {404, 410}, forged
    assert (await choose(application, good))[0] == 303


@pytest.mark.asyncio
async def test_of_simultaneous_uses_of_a_link_one_succeeds(
    application: Starlette, account: Account, change: Change
) -> None:
    del application
    link = (await link_of(change, await account())).removeprefix("/password/")

    async def use(number: int) -> bool:
        try:
            await change(lambda tx: password_links.set_password(tx, PEPPER.encode(), link, f"hash {number}"))
        except Gone:
            return False
        return True

    assert sum(await asyncio.gather(*map(use, range(8)))) == 1


@pytest.mark.asyncio
async def test_the_form_of_a_link_needs_its_own_token(application: Starlette, account: Account, change: Change) -> None:
    link = await link_of(change, await account())
    async with connect(application) as client:
        data = {"new": NEW, "repeated": NEW}
        assert (await client.post(link, data=data)).status_code == 403
        token = await FormBrowser(client).token(link)
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            answer = await client.post(link, data={**data, "csrf": token}, headers=headers)
            assert answer.status_code == 403


@pytest.mark.asyncio
async def test_the_answer_tells_no_account(
    mailing: Starlette, smtp: RecordingSmtp, account: Account, change: Change
) -> None:
    await account()
    await account("closed@example.com")
    await change(lambda tx: user_queries.disable(tx, "closed@example.com"))
    told = {
        (await ask(mailing, email)).replace(email, "E")
        for email in ("ada@example.com", "closed@example.com", "nobody@example.com")
    }
    assert len(told) == 1
    await all_sent(change)
    assert [mail["To"] for mail in smtp.mails] == ["ada@example.com"]


@pytest.mark.asyncio
async def test_the_answer_does_not_wait_for_the_account_or_its_mail(settings: Settings, account: Account) -> None:
    """A mail server that never answers holds up no answer, so that its time says nothing."""
    await account()
    async with recording_smtp("silent") as server:
        url = f"smtp://127.0.0.1:{server.port}"
        slow = make_settings(settings.data_dir, settings.keys_dir, smtp_url=url)
        async with running(slow) as application:
            assert await until_answered(application, "ada@example.com") < 10
            assert await until_answered(application, "nobody@example.com") < 10


_WAITING = Query(select(func.count()).select_from(QueuedMail), lambda row: int(row[0]))


async def all_sent(change: Change) -> None:
    """Wait until no mail is queued."""
    async with asyncio.timeout(10):
        while await change(lambda tx: tx.one(_WAITING)):
            await asyncio.sleep(0.01)


async def until_answered(application: Starlette, email: str) -> float:
    """Seconds until the last byte of the answer was sent; what runs after it is not waited for."""
    answered = asyncio.Event()

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            await send(message)
            last = message["type"] == "http.response.body" and not message.get("more_body")
            if last and scope["method"] == "POST":
                answered.set()

        await application(scope, receive, sent)

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(watched), base_url=BASE) as client:
        token = await FormBrowser(client).token(FORGOTTEN)
        began = time.perf_counter()
        data = {"csrf": token, "email": email}
        asked = asyncio.create_task(client.post(FORGOTTEN, data=data))
        await answered.wait()
        taken = time.perf_counter() - began
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        return taken


@pytest.mark.asyncio
async def test_a_mailbox_gets_one_mail_in_ten_minutes_and_three_a_day(
    clock: Clock, mailing: Starlette, smtp: RecordingSmtp, account: Account, change: Change
) -> None:
    await account()
    seen: list[int] = []
    for _ in range(6):
        for _ in range(3):
            await ask(mailing)
        await all_sent(change)
        seen.append(len(smtp.mails))
        clock.advance(601)
    assert seen == [1, 2, 3, 3, 3, 3]
    assert (await choose(mailing, await link_in(smtp)))[0] == 410, "and the last one has ended by now"


@pytest.mark.asyncio
async def test_a_flood_from_one_address_runs_dry(settings: Settings) -> None:
    limited = make_settings(
        settings.data_dir, settings.keys_dir, smtp_url="smtp://127.0.0.1:1", sign_in_limit_address=30
    )
    async with running(limited) as application, connect(application) as client:
        browser = FormBrowser(client)
        found = [(await browser.send(FORGOTTEN, on=FORGOTTEN, email=f"n{n}@example.com")).status_code for n in range(8)]
        assert found == [200] * 5 + [429] * 3


@pytest.mark.asyncio
async def test_a_link_stands_in_no_log_line_of_the_audit(
    change: Change, application: Starlette, account: Account
) -> None:
    link = await link_of(change, await account())
    await choose(application, link)
    assert link.removeprefix("/password/") not in repr(await change(lambda tx: audit.latest_events(tx, 50)))


def test_a_link_names_its_user_only() -> None:
    user = User(
        id="usr_" + "0" * 26,
        email="ada@example.com",
        name="Ada",
        password_hash="$argon2id$x",
        is_admin=0,
        created_at=0,
        disabled_at=None,
    )
    link = password_links.write_link(b"pepper", user, life=LIFE)
    assert "ada" not in link.lower().replace(user.id, "")
    assert "argon2" not in link
