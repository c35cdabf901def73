"""A forgotten password: a link by mail, a new password, and every browser signed out."""

import pytest
from starlette.applications import Starlette

from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.users import identity_matching, session_queries, user_queries
from tests.conftest import Account, Change, Clock, connect
from tests.helpers.form_browser import FormBrowser
from tests.helpers.password_reset import FORGOTTEN, NEW, ask, choose, link_in
from tests.helpers.password_reset import mailing as mailing
from tests.helpers.password_reset import smtp as smtp
from tests.helpers.recording_smtp import RecordingSmtp


@pytest.mark.asyncio
async def test_a_link_sets_a_password_once_and_signs_every_browser_out(
    mailing: Starlette, smtp: RecordingSmtp, account: Account, change: Change
) -> None:
    user_id = await account()
    async with connect(mailing) as client:
        browser = FormBrowser(client)
        assert 'href="/sign-in/forgotten"' in (await browser.open("/sign-in")).text
        await browser.sign_in()
        assert "Check your mail" in await ask(mailing, " Ada@Example.com ")
        mail = await smtp.received()
        assert (mail["To"], mail["Subject"]) == ("ada@example.com", "A new password for Negotiator")
        link = await link_in(smtp)
        page = (await browser.open(link)).text
        assert "ada@example.com" in page
        assert page.count('autocomplete="new-password"') == 2
        assert (await browser.open("/account")).status_code == 200, "opening it changes nothing"
        status, told = await choose(mailing, link, again="else")
        assert (status, "The passwords differ." in told) == (422, True)
        status, told = await choose(mailing, link, "password1234", "password1234")
        assert (status, "Uncommon words are better." in told) == (422, True)
        assert await choose(mailing, link) == (303, "/sign-in?told=changed")
        assert (await browser.open("/account")).status_code == 303
        assert await change(lambda tx: session_queries.of_user(tx, user_id)) == []
        assert (await browser.sign_in()).status_code == 403
        assert (await browser.sign_in(password=NEW)).status_code == 303
    status, told = await choose(mailing, link)
    assert (status, "does not work any more" in told) == (410, True)
    events = [each.event for each in await change(lambda tx: audit.latest_events(tx, 20))]
    assert "user.reset_requested" in events
    assert "user.password_changed" in events


@pytest.mark.asyncio
async def test_what_is_no_address_is_said_at_its_field(mailing: Starlette) -> None:
    async with connect(mailing) as client:
        answer = await FormBrowser(client).send(FORGOTTEN, on=FORGOTTEN, email="ada <b>")
        assert answer.status_code == 422
        assert 'value="ada &lt;b&gt;"' in answer.text
        assert 'aria-describedby="email-error"' in answer.text


@pytest.mark.asyncio
async def test_whom_an_organisation_signs_in_is_told_so(
    mailing: Starlette, smtp: RecordingSmtp, change: Change
) -> None:
    def unit(tx: Transaction) -> None:
        user_id = user_queries.add(tx, "grace@corp.example", actor="idp")
        identity_matching.link(tx, identity="k", issuer="https://idp.example", user_id=user_id, actor="idp")

    await change(unit)
    await ask(mailing, "grace@corp.example")
    text = (await smtp.received()).get_content()
    assert "your organisation signs you in" in text
    assert "/password/" not in text


@pytest.mark.asyncio
async def test_a_link_works_for_half_an_hour(
    clock: Clock, mailing: Starlette, smtp: RecordingSmtp, account: Account
) -> None:
    await account()
    await ask(mailing)
    link = await link_in(smtp)
    clock.advance(1799)
    async with connect(mailing) as client:
        assert (await client.get(link)).status_code == 200
    clock.advance(1)
    assert (await choose(mailing, link))[0] == 410


@pytest.mark.asyncio
async def test_without_mail_nothing_is_offered(application: Starlette) -> None:
    async with connect(application) as client:
        browser = FormBrowser(client)
        assert "Forgot" not in (await browser.open("/sign-in")).text
        assert (await browser.open(FORGOTTEN)).status_code == 404
