"""Answers of authenticators that were caught, made for another site, another browser or another purpose, or forged."""

import asyncio
import json
from typing import Any, Final

import pytest

from negotiator.config.settings import Settings
from negotiator.users import passkey_queries, user_queries
from tests.conftest import Account, Browsers, Change, Clock, connect, make_settings, running
from tests.helpers.form_browser import FormBrowser, redirect_path
from tests.helpers.passkey_forms import ENTRANCE, OWN, add_passkey, enter, options
from tests.helpers.software_authenticator import PRESENT, VERIFIED, SoftwareAuthenticator, encode

FRAMED: Final[tuple[dict[str, Any], ...]] = (
    {"crossOrigin": True},
    {"crossOrigin": True, "topOrigin": "https://evil.example"},
    {"crossOrigin": False, "topOrigin": "https://negotiator.example"},
    {"crossOrigin": "true"},
)
"""Client data of a browser that shows the page in another site's frame."""


async def ada_with_passkey(browsers: Browsers, account: Account) -> SoftwareAuthenticator:
    """Ada's passkey."""
    await account()
    browser, passkey = browsers(), SoftwareAuthenticator()
    await browser.sign_in()
    assert (await add_passkey(browser, passkey)).status_code == 303
    return passkey


async def prepared(browser: FormBrowser) -> dict[str, Any]:
    """The options of a browser that opened the sign-in page."""
    await browser.token("/sign-in")
    return await options(browser, ENTRANCE)


async def send(browser: FormBrowser, credential: str) -> int:
    """The status of a sign-in by this answer."""
    return (await browser.send(ENTRANCE, on="/sign-in?again", credential=credential)).status_code


@pytest.mark.asyncio
async def test_an_answer_works_once(browsers: Browsers, account: Account) -> None:
    passkey = await ada_with_passkey(browsers, account)
    browser, thief = browsers(), browsers()
    asked = await prepared(browser)
    credential = passkey.get(asked)
    cookie = browser.client.cookies["__Host-negotiator-anonymous"]
    assert await send(browser, credential) == 303
    thief.client.cookies.set("__Host-negotiator-anonymous", cookie)
    assert await send(thief, credential) == 403, "the same browser's cookie, the same answer"
    assert await send(thief, passkey.get(asked)) == 403, "a new answer to the same challenge"
    assert thief.session() is None


@pytest.mark.asyncio
async def test_of_simultaneous_answers_to_one_challenge_one_signs_in(browsers: Browsers, account: Account) -> None:
    passkey = await ada_with_passkey(browsers, account)
    browser = browsers()
    asked = await prepared(browser)
    token = await browser.token("/sign-in")
    bodies = [{"csrf": token, "credential": passkey.get(asked)} for _ in range(6)]
    answers = await asyncio.gather(*(browser.client.post(ENTRANCE, data=body) for body in bodies))
    assert sorted(each.status_code for each in answers) == [303] + [403] * 5


@pytest.mark.asyncio
async def test_another_browser_s_challenge_is_refused(browsers: Browsers, account: Account) -> None:
    passkey = await ada_with_passkey(browsers, account)
    one, other = browsers(), browsers()
    credential = passkey.get(await prepared(one))
    await prepared(other)
    assert await send(other, credential) == 403
    assert await send(one, credential) == 303, "it is good where it was asked for"


@pytest.mark.asyncio
async def test_a_challenge_serves_one_purpose_for_five_minutes(
    clock: Clock, browsers: Browsers, account: Account
) -> None:
    passkey = await ada_with_passkey(browsers, account)
    browser = browsers()
    await browser.sign_in()
    asked = await options(browser, OWN)
    assert await send(browser, passkey.get(asked)) == 403, "made for another purpose"
    asked = await options(browser, ENTRANCE)
    again = SoftwareAuthenticator().create({**asked, "user": {"id": encode(b"usr_x")}})
    answer = await browser.send(OWN, on="/account", name="x", credential=again)
    assert answer.status_code == 422
    asked = await options(browser, ENTRANCE)
    clock.advance(301)
    assert await send(browser, passkey.get(asked)) == 403, "too old"
    for forged in ("", "AAAA", encode(bytes(56))):
        assert await send(browser, passkey.get({"challenge": forged})) == 403


@pytest.mark.asyncio
async def test_another_user_s_challenge_adds_no_passkey(browsers: Browsers, account: Account, change: Change) -> None:
    await account()
    eve_id = await account("eve@example.com")
    ada, eve = browsers(), browsers()
    await ada.sign_in()
    await eve.sign_in("eve@example.com")
    credential = SoftwareAuthenticator().create(await options(ada, OWN))
    answer = await eve.send(OWN, on="/account", name="x", credential=credential)
    assert answer.status_code == 422
    assert "was not added" in answer.text
    assert await change(lambda tx: passkey_queries.of_user(tx, eve_id)) == []
    added = await ada.send(OWN, on="/account", name="x", credential=credential)
    assert redirect_path(added) == "/account?told=passkey"
    twice = await ada.send(OWN, on="/account", name="x", credential=credential)
    assert twice.status_code == 422, "nor does a caught one, a second time"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "told",
    [
        {"origin": "https://evil.example"},
        {"origin": "https://negotiator.example.evil.example"},
        {"origin": "http://negotiator.example"},
        {"origin": "https://negotiator.example:8443"},
        {"rp_id": "evil.example"},
        {"flags": PRESENT},
        {"flags": VERIFIED},
        {"flags": 0},
        {"handle": b"usr_another"},
        {"handle": b""},
        {"handle": b"\xff"},
        {"counter": -1},
        {"id": b"an id that nobody knows"},
        *({"more": more} for more in FRAMED),
    ],
)
async def test_an_answer_that_is_not_made_here_by_its_holder_is_refused(
    browsers: Browsers, account: Account, told: dict[str, Any]
) -> None:
    passkey = await ada_with_passkey(browsers, account)
    passkey.counter = 7
    assert (await enter(browsers(), passkey)).status_code == 303
    for name, value in told.items():
        setattr(passkey, name, value)
    browser = browsers()
    answer = await enter(browser, passkey)
    assert answer.status_code == 403
    assert "did not sign you in" in answer.text
    assert browser.session() is None


@pytest.mark.asyncio
@pytest.mark.parametrize("more", FRAMED)
async def test_a_passkey_that_is_made_in_a_frame_of_another_site_is_not_added(
    browsers: Browsers, account: Account, more: dict[str, Any]
) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    assert (await add_passkey(browser, SoftwareAuthenticator(more=more))).status_code == 422
    assert (await add_passkey(browser, SoftwareAuthenticator(more={"crossOrigin": False}))).status_code == 303


@pytest.mark.asyncio
async def test_another_key_does_not_sign_for_a_known_passkey(browsers: Browsers, account: Account) -> None:
    passkey = await ada_with_passkey(browsers, account)
    forger = SoftwareAuthenticator(id=passkey.id, handle=passkey.handle)
    assert (await enter(browsers(), forger)).status_code == 403


@pytest.mark.asyncio
async def test_a_passkey_made_elsewhere_is_not_added(browsers: Browsers, account: Account) -> None:
    await account()
    browser = browsers()
    await browser.sign_in()
    for passkey in (
        SoftwareAuthenticator(origin="https://evil.example"),
        SoftwareAuthenticator(rp_id="evil.example"),
        SoftwareAuthenticator(flags=PRESENT),
    ):
        assert (await add_passkey(browser, passkey)).status_code == 422


@pytest.mark.asyncio
async def test_what_is_known_belongs_to_one_user(browsers: Browsers, account: Account) -> None:
    passkey = await ada_with_passkey(browsers, account)
    await account("eve@example.com")
    eve = browsers()
    await eve.sign_in("eve@example.com")
    answer = await add_passkey(eve, passkey)
    assert answer.status_code == 422
    assert "known already" in answer.text


@pytest.mark.asyncio
async def test_nothing_that_is_sent_breaks_the_form(browsers: Browsers, account: Account) -> None:
    passkey = await ada_with_passkey(browsers, account)
    browser = browsers()
    good = json.loads(passkey.get(await prepared(browser)))
    response = good["response"]
    bad: list[Any] = [
        None,
        [],
        {},
        {**good, "id": 3},
        {**good, "rawId": None},
        {**good, "type": "password"},
        {**good, "response": {}},
        *({**good, "response": {**response, name: None}} for name in response),
        *({**good, "response": {**response, name: "AAAA"}} for name in response),
        *({**good, "response": {**response, name: "é!"}} for name in response),
        {**good, "response": {**response, "authenticatorData": encode(b"\xff" * 300)}},
        {**good, "response": {**response, "clientDataJSON": encode(b"[" * 900)}},
        {**good, "response": {**response, "clientDataJSON": encode(b'{"challenge": 3}')}},
    ]
    for each in ("", "{", "[" * 1000, '{"id":"a","id":"b"}', *map(json.dumps, bad)):
        assert await send(browser, each) == 403, each
    assert await send(browser, json.dumps(good)) == 303, "none of it used the challenge up"


@pytest.mark.asyncio
async def test_a_flood_of_answers_runs_dry_by_address(settings: Settings) -> None:
    limited = make_settings(settings.data_dir, settings.keys_dir, sign_in_limit_address=30)
    async with running(limited) as application, connect(application) as client:
        browser = FormBrowser(client)
        found = [(await enter(browser, SoftwareAuthenticator())).status_code for _ in range(8)]
        assert found == [403] * 5 + [429] * 3


@pytest.mark.asyncio
async def test_another_user_s_passkey_is_not_there(browsers: Browsers, account: Account, change: Change) -> None:
    await ada_with_passkey(browsers, account)
    await account("eve@example.com")
    eve = browsers()
    await eve.sign_in("eve@example.com")

    async def mine() -> list[Any]:
        ada = await change(lambda tx: user_queries.by_email(tx, "ada@example.com"))
        return await change(lambda tx: passkey_queries.of_user(tx, ada.id))

    (kept,) = await mine()
    for action in ("name", "remove"):
        refused = await eve.send(f"{OWN}/{kept.id}/{action}", on="/account", name="x")
        unknown = await eve.send(f"{OWN}/psk_{'0' * 26}/{action}", on="/account", name="x")
        assert refused.status_code == unknown.status_code == 404
        assert refused.text == unknown.text
    assert (await mine())[0].name == kept.name
