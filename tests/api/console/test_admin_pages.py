"""The admin pages: for administrators only, by the functions of the command line, and with each change in the audit."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
import orjson
import pytest
import pytest_asyncio

from negotiator.agents import registration
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.config.settings import Settings
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.conftest import Account, Browsers, Change, Register, connect, make_settings, running
from tests.helpers.fake_chat_model import completion, fake_chat_model
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.form_browser import BASE, FormBrowser, redirect_path
from tests.helpers.recording_smtp import RecordingSmtp, recording_smtp

PAGES = ("people", "issuers", "clients", "registrations", "services", "audit")
FORMS = (
    "people/invite",
    "people/usr_01m7zgh720pce05geqy5t8y2x2/link",
    "people/usr_01m7zgh720pce05geqy5t8y2x2/admin",
    "people/usr_01m7zgh720pce05geqy5t8y2x2/no-admin",
    "people/usr_01m7zgh720pce05geqy5t8y2x2/end",
    "issuers/keep",
    "issuers/check",
    "issuers/remove",
    "issuers/person",
    "clients/add",
    "clients/cli_01m7zgh720pce05geqy5t8y2x2/secret",
    "clients/cli_01m7zgh720pce05geqy5t8y2x2/remove",
    "registrations/agt_01m7zgh720pce05geqy5t8y2x2/end",
    "services/mail",
)


@pytest_asyncio.fixture
async def admin(browsers: Browsers, account: Account, change: Change) -> FormBrowser:
    """The browser of an administrator, Ada."""
    user_id = await account(name="Ada")
    await change(lambda tx: user_queries.set_admin(tx, user_id, True, actor="operator"))
    browser = browsers()
    await browser.sign_in()
    return browser


async def events(change: Change) -> list[tuple[str, str]]:
    """The newest events with whoever caused them."""
    return [(each.event, each.actor) for each in await change(lambda tx: audit.latest_events(tx, 9))]


def add_agents(tx: Transaction, count: int) -> None:
    """So many anonymous agents."""
    for number in range(count):
        agent = Agent(
            id=values.new_id("agt"),
            service="assistant",
            name=f"agent {number:02}",
            identity_type="anonymous",
            created_at=values.now(),
        )
        registration.add(tx, agent, actor="203.0.113.9")


async def id_of(change: Change, email: str) -> str:
    """The id of an account."""
    user = await change(lambda tx: user_queries.by_email(tx, email))
    return user.id


@pytest.mark.asyncio
async def test_only_administrators_see_and_do_anything(
    browsers: Browsers, account: Account, admin: FormBrowser, change: Change
) -> None:
    eve_id = await account("eve@example.com")
    eve, stranger = browsers(), browsers()
    await eve.sign_in("eve@example.com")
    assert ">Admin</a>" not in (await eve.open("/account")).text
    assert ">Admin</a>" in (await admin.open("/account")).text
    assert redirect_path(await admin.open("/admin")) == "/admin/people"
    assert redirect_path(await stranger.open("/admin")) == "/sign-in?next=%2Fadmin"
    assert (await eve.open("/admin")).status_code == 403
    for page in PAGES:
        seen = await admin.open(f"/admin/{page}")
        assert seen.status_code == 200
        assert 'aria-current="page"' in seen.text
        refused = await eve.open(f"/admin/{page}")
        assert refused.status_code == 403
        assert "This page is for administrators of this service." in refused.text
    for form in FORMS:
        refused = await eve.send(f"/admin/{form}", on="/account")
        assert refused.status_code == 403, form
        assert "for administrators" in refused.text
    await change(lambda tx: user_queries.set_admin(tx, eve_id, True, actor="x"))
    assert (await eve.open("/admin/people")).status_code == 200, "it counts at once"
    await change(lambda tx: user_queries.set_admin(tx, eve_id, False, actor="x"))
    assert (await eve.open("/admin/people")).status_code == 403


@pytest.mark.asyncio
async def test_without_mail_an_invitation_is_a_link_to_hand_over(
    admin: FormBrowser, browsers: Browsers, change: Change
) -> None:
    fields = {"email": "Grace@Corp.example", "name": "Grace", "admin": "on"}
    page = await admin.send("/admin/people/invite", on="/admin/people", **fields)
    assert page.status_code == 200
    found = re.search(rf'value="{BASE}(/password/[^"]+)"', page.text)
    assert found
    grace = await change(lambda tx: user_queries.by_email(tx, "grace@corp.example"))
    assert (grace.name, grace.is_admin, grace.password_hash) == ("Grace", 1, "")
    ada = await id_of(change, "ada@example.com")
    assert ("user.invited", ada) in await events(change)
    browser = browsers()
    page = await browser.open(found[1])
    assert "Welcome. Choose a password" in page.text
    new = "seven green otters swim"
    chosen = await browser.send(found[1], on=found[1], new=new, repeated=new)
    assert redirect_path(chosen) == "/sign-in?told=changed"
    assert (await browser.sign_in("grace@corp.example", new)).status_code == 303
    again = await admin.send("/admin/people/invite", on="/admin/people", **fields)
    assert again.status_code == 422
    assert 'value="Grace@Corp.example"' in again.text
    assert "has an account already" in again.text
    wrong = await admin.send("/admin/people/invite", on="/admin/people", email="grace")
    assert (wrong.status_code, 'aria-describedby="email-error"' in wrong.text) == (422, True)


@pytest.mark.asyncio
async def test_people_are_found_made_administrators_and_lose_access(
    admin: FormBrowser, browsers: Browsers, account: Account, change: Change
) -> None:
    eve_id = await account("eve@example.com", name="Eve 100%")
    eve = browsers()
    await eve.sign_in("eve@example.com")
    assert "eve@example.com" in (await admin.open("/admin/people?q=EVE")).text
    assert "eve@example.com" in (await admin.open("/admin/people?q=100%25")).text
    assert "eve@example.com" not in (await admin.open("/admin/people?q=%25x")).text
    path, ada = f"/admin/people/{eve_id}", await id_of(change, "ada@example.com")
    made = await admin.send(f"{path}/admin", on="/admin/people")
    assert redirect_path(made) == "/admin/people?told=admin"
    assert (await eve.open("/admin/people")).status_code == 200
    unmade = await admin.send(f"{path}/no-admin", on="/admin/people")
    assert redirect_path(unmade) == "/admin/people?told=no-admin"
    assert (await eve.open("/admin/people")).status_code == 403
    ended = await admin.send(f"{path}/end", on="/admin/people")
    assert redirect_path(ended) == "/admin/people?told=ended"
    assert (await eve.open("/account")).status_code == 303
    assert "access ended" in (await admin.open("/admin/people")).text
    found = await events(change)
    assert found[:3] == [("user.disabled", ada), *[("user.admin_changed", ada)] * 2]
    for action in ("end", "no-admin"):
        answer = await admin.send(f"/admin/people/{ada}/{action}", on="/admin/people")
        assert (answer.status_code, "Another administrator" in answer.text) == (403, True)
    unknown = await admin.send(f"/admin/people/usr_{'0' * 26}/end", on="/admin/people")
    assert unknown.status_code == 404


# The example key of RFC 7517, appendix A.1.
_EC_KEY = """{"keys": [{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
"y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"""


@pytest.mark.asyncio
async def test_an_issuer_is_trusted_changed_checked_and_trusted_no_more(admin: FormBrowser, change: Change) -> None:
    issuer, ada = FakeIssuer(BASE), await id_of(change, "ada@example.com")
    page = (await admin.open("/admin/issuers/one")).text
    boxes = dict.fromkeys(re.findall(r'name="((?:scope|algorithm):[^"]+)" checked', page), "on")
    assert len(boxes) == 13
    name = issuer.issuer().issuer
    jwks = orjson.dumps(issuer.jwks()).decode()
    fields = {"issuer": name, "keys": "given", "jwks": jwks, "email_domains": "Corp.example", **boxes}
    sent = {**fields, "csrf": await admin.token("/admin/issuers/one"), "max_auth_age": "8"}
    kept = await admin.client.post("/admin/issuers/keep", data=sent)
    assert redirect_path(kept) == "/admin/issuers?told=kept"
    (trusted,) = await change(issuer_queries.list_issuers)
    assert (trusted.issuer, trusted.max_auth_age) == (name, 8 * 3600)
    assert trusted.email_domains == ("corp.example",)
    assert ("issuer.added", ada) in await events(change)
    listed = (await admin.open("/admin/issuers")).text
    assert name in listed
    assert "corp.example" in listed
    checked = await admin.send("/admin/issuers/check", on="/admin/issuers", issuer=name)
    assert "usable key" in checked.text
    one = (await admin.open(f"/admin/issuers/one?issuer={quote(name, safe='')}")).text
    assert f'value="{name}"' in one
    assert 'value="8"' in one
    wrong = await admin.client.post("/admin/issuers/keep", data={**sent, "jwks": "{}"})
    assert (wrong.status_code, 'aria-describedby="jwks-error"' in wrong.text) == (422, True)
    wrong = await admin.client.post("/admin/issuers/keep", data={**sent, "max_auth_age": "soon"})
    assert (wrong.status_code, "A number of hours" in wrong.text) == (422, True)
    wrong = await admin.client.post("/admin/issuers/keep", data={**sent, "issuer": "http://x"})
    assert (wrong.status_code, "is not an https URL" in wrong.text) == (422, True)
    fitting = {key: value for key, value in sent.items() if not key.startswith("algorithm:")}
    wrong = await admin.client.post("/admin/issuers/keep", data={**fitting, "algorithm:EdDSA": "on", "jwks": _EC_KEY})
    assert (wrong.status_code, "No key fits EdDSA" in wrong.text) == (422, True)
    person = await admin.send("/admin/issuers/person", on="/admin/issuers", issuer=name, subject="7")
    assert redirect_path(person) == "/admin/issuers?told=person"
    empty = await admin.send("/admin/issuers/person", on="/admin/issuers", issuer=name, subject="")
    assert empty.status_code == 422
    gone = await admin.send("/admin/issuers/remove", on="/admin/issuers", issuer=name)
    assert redirect_path(gone) == "/admin/issuers?told=removed"
    assert await change(issuer_queries.list_issuers) == []
    assert {("issuer.removed", ada), ("issuer.subject_revoked", ada)} <= set(await events(change))
    assert (await admin.open("/admin/issuers/one?issuer=x")).status_code == 404


@pytest.mark.asyncio
async def test_a_client_is_added_gets_another_secret_and_is_revoked(
    admin: FormBrowser, client: httpx2.AsyncClient, change: Change
) -> None:
    async def token(client_id: str, secret: str) -> int:
        data = {"grant_type": "client_credentials"}
        answer = await client.post("/oauth/token", data=data, auth=(client_id, secret))
        return answer.status_code

    ada = await id_of(change, "ada@example.com")
    fields = {"name": "nightly", "kind": "itself", "proof": "secret", "scope__memories:read": "on"}
    page = await admin.send("/admin/clients/add", on="/admin/clients", **fields)
    client_id = re.search(r'id="client-id">(cli_[0-9a-z]{26})<', page.text)
    secret = re.search(r'id="client-secret">([\w-]{43})<', page.text)
    assert client_id
    assert secret
    assert await token(client_id[1], secret[1]) == 200
    assert secret[1] not in (await admin.open("/admin/clients")).text
    path = f"/admin/clients/{client_id[1]}"
    page = await admin.send(f"{path}/secret", on="/admin/clients")
    fresh = re.search(r'id="client-secret">([\w-]{43})<', page.text)
    assert fresh
    assert await token(client_id[1], secret[1]) == 401
    assert await token(client_id[1], fresh[1]) == 200
    removed = await admin.send(f"{path}/remove", on="/admin/clients")
    assert redirect_path(removed) == "/admin/clients?told=removed"
    assert await token(client_id[1], fresh[1]) == 401
    assert await change(clients.list_clients) == []
    found = await events(change)
    assert {("client.added", ada), ("client.secret_changed", ada), ("client.removed", ada)} <= set(found)
    assert secret[1] not in repr(await change(lambda tx: audit.latest_events(tx, 50)))
    assert (await admin.send(f"{path}/secret", on="/admin/clients")).status_code == 404


@pytest.mark.asyncio
async def test_a_program_is_allowed_by_its_address_and_shut_out_again(admin: FormBrowser, change: Change) -> None:
    address = "https://app.example/client.json?for=us"
    sent = {"address": address, "scope__memories:read": "on"}
    for field, fields in (("address", {**sent, "address": "app.example"}), ("allowed", {"address": address})):
        answer = await admin.send("/admin/clients/allow", on="/admin/clients", **fields)
        assert answer.status_code == 422
        assert f'id="{field}-error"' in answer.text
    allowed = await admin.send("/admin/clients/allow", on="/admin/clients", **sent)
    assert redirect_path(allowed) == "/admin/clients?told=allowed"
    page = await admin.open("/admin/clients")
    assert "allowed by its address" in page.text
    path = re.search(r'action="([^"]*app\.example[^"]*/remove)"', page.text)
    assert path
    assert [each.scope for each in await change(clients.list_clients)] == ["memories:read"]
    removed = await admin.send(path[1], on="/admin/clients")
    assert redirect_path(removed) == "/admin/clients?told=removed"
    assert await change(clients.list_clients) == []
    ada = await id_of(change, "ada@example.com")
    assert {("client.allowed", ada), ("client.removed", ada)} <= set(await events(change))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"kind": "people"}, "redirects"),
        ({"kind": "people", "redirects": "javascript:x"}, "redirects"),
        ({"proof": "keys", "jwks": "{"}, "jwks"),
        ({"proof": "none"}, "proof"),
        ({"scope__memories:read": ""}, "scope"),
    ],
)
async def test_a_client_that_cannot_be_is_refused_at_its_field(
    admin: FormBrowser, change: Change, fields: dict[str, str], field: str
) -> None:
    good = {"name": "app", "kind": "itself", "proof": "secret", "scope__memories:read": "on"}
    sent = {name: value for name, value in {**good, **fields}.items() if value}
    answer = await admin.send("/admin/clients/add", on="/admin/clients", **sent)
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.text
    assert field == "name" or 'value="app"' in answer.text
    assert await change(clients.list_clients) == []


@pytest.mark.asyncio
async def test_registrations_are_listed_and_ended(
    admin: FormBrowser, client: httpx2.AsyncClient, register: Register, change: Change
) -> None:
    agent = await register("scout <b>")
    page = (await admin.open("/admin/registrations")).text
    assert "scout &lt;b&gt;" in page
    assert "works for nobody yet" in page
    path = f"/admin/registrations/{agent['client_id']}/end"
    ended = await admin.send(path, on="/admin/registrations")
    assert redirect_path(ended) == "/admin/registrations?told=ended"
    headers = {"Authorization": f"Bearer {agent['access_token']}"}
    assert (await client.get("/api/negotiations", headers=headers)).status_code == 401
    ada = await id_of(change, "ada@example.com")
    assert ("agent.revoked", ada) in await events(change)
    assert (await admin.send(path, on="/admin/registrations")).status_code == 404
    await change(lambda tx: add_agents(tx, 51))
    page = (await admin.open("/admin/registrations")).text
    older = re.search(r"before=(agt_[0-9a-z]{26})", page)
    assert older
    assert "agent 50" in page
    assert "agent 00" not in page
    assert "agent 00" in (await admin.open(f"/admin/registrations?before={older[1]}")).text


@pytest.mark.asyncio
async def test_the_audit_is_filtered_by_who_what_and_when(
    admin: FormBrowser, browsers: Browsers, account: Account
) -> None:
    await account("eve@example.com")
    await browsers().sign_in("eve@example.com")
    await browsers().sign_in("eve@example.com", "a wrong password")
    page = (await admin.open("/admin/audit")).text
    assert page.count("<tr><td") == page.count("</tr>") - 1
    assert "User: signed in" in page
    assert "User: sign in refused" in page

    async def rows(query: str) -> int:
        return (await admin.open(f"/admin/audit?{query}")).text.count("<tr><td")

    assert await rows("who=eve@example.com") == 3
    assert await rows("who=eve@example.com&what=user.signed_in") == 1
    assert await rows("who=203.0.113.7&what=user.sign_in_refused") == 1
    assert await rows("what=user.disabled") == 0
    assert await rows("from=2020-01-01") >= 5
    assert await rows("to=2020-01-01") == 0
    wrong = await admin.open("/admin/audit?from=soon")
    assert (wrong.status_code, "Not a day." in wrong.text) == (422, True)
    assert "Nothing fits." in (await admin.open("/admin/audit?what=user.disabled")).text


@pytest.mark.asyncio
async def test_the_audit_has_a_next_page_that_keeps_the_filter(admin: FormBrowser, change: Change) -> None:
    await change(lambda tx: add_agents(tx, 60))
    page = (await admin.open("/admin/audit?what=agent.registered")).text
    assert page.count("<tr><td") == 50
    found = re.search(r'href="(/admin/audit\?what=agent.registered&amp;before=evt_[0-9a-z]+)"', page)
    assert found
    assert (await admin.open(found[1].replace("&amp;", "&"))).text.count("<tr><td") == 10


WORDED = "We would sign this week if the price came closer to what we discussed."


@dataclass
class Outside:
    """An administrator of a service with mail and a language model, and what these saw."""

    browser: FormBrowser
    smtp: RecordingSmtp
    asked: list[dict[str, Any]]


@pytest_asyncio.fixture
async def outside(settings: Settings, account: Account, change: Change) -> AsyncGenerator[Outside]:
    """A service with a mail server and a model that answers."""
    user_id, asked = await account(), list[dict[str, Any]]()
    await change(lambda tx: user_queries.set_admin(tx, user_id, True, actor="operator"))
    behave = completion({"/line": WORDED})
    async with recording_smtp("plain") as smtp, fake_chat_model(behave, asked) as model:
        more = make_settings(
            settings.data_dir,
            settings.keys_dir,
            smtp_url=f"smtp://127.0.0.1:{smtp.port}",
            advisor_url=model,
            advisor_model="m-1",
        )
        async with running(more) as application, connect(application) as client:
            browser = FormBrowser(client)
            await browser.sign_in()
            yield Outside(browser, smtp, asked)


async def tried(browser: FormBrowser, key: str) -> str:
    """The page after a trial."""
    answer = await browser.send(f"/admin/services/{key}", on="/admin/services")
    assert answer.status_code == 200
    return answer.text


@pytest.mark.asyncio
async def test_mail_advisor_and_embedding_are_tried(outside: Outside) -> None:
    page = (await outside.browser.open("/admin/services")).text
    assert "Mails are sent through 127.0.0.1" in page
    assert "m-1 at 127.0.0.1 rewords sentences" in page
    page = await tried(outside.browser, "mail")
    assert "The mail server took the mail to ada@example.com." in page
    assert re.search(r"It took [\d.]+ (milli)?seconds\.", page)
    assert [mail["To"] for mail in outside.smtp.mails] == ["ada@example.com"]
    assert "one in ten" not in await tried(outside.browser, "mail")
    assert len(outside.smtp.mails) == 1, "within the limits of every mail"
    assert WORDED in await tried(outside.browser, "advisor")
    assert len(outside.asked) == 1
    assert "One sentence became 384 numbers." in await tried(outside.browser, "embedding")
    unknown = await outside.browser.send("/admin/services/fax", on="/admin/services")
    assert unknown.status_code == 404


@pytest.mark.asyncio
async def test_what_does_not_answer_is_said(settings: Settings, account: Account, change: Change) -> None:
    user_id = await account()
    await change(lambda tx: user_queries.set_admin(tx, user_id, True, actor="operator"))
    dead = make_settings(
        settings.data_dir,
        settings.keys_dir,
        smtp_url="smtp://127.0.0.1:1",
        advisor_url="http://127.0.0.1:1/v1",
        advisor_model="m-1",
    )
    async with running(dead) as application, connect(application) as client:
        browser = FormBrowser(client)
        await browser.sign_in()
        assert "The mail was not sent:" in await tried(browser, "mail")
        assert "No usable answer came back" in await tried(browser, "advisor")


@pytest.mark.asyncio
async def test_where_nothing_is_set_up_there_is_nothing_to_try(admin: FormBrowser) -> None:
    page = (await admin.open("/admin/services")).text
    assert "No mail server is set up" in page
    assert "No language model is set up" in page
    answer = await admin.send("/admin/services/advisor", on="/admin/services")
    assert answer.status_code == 404


@pytest.mark.asyncio
async def test_with_mail_an_invitation_goes_to_its_mailbox_and_to_no_page(outside: Outside) -> None:
    fields = {"email": "grace@corp.example", "name": "Grace"}
    answer = await outside.browser.send("/admin/people/invite", on="/admin/people", **fields)
    assert redirect_path(answer) == "/admin/people?told=invited"
    text = (await outside.smtp.received()).get_content()
    link = re.search(rf"{BASE}(/password/\S+)", text)
    assert link
    page = (await outside.browser.open("/admin/people")).text
    assert "no password" in page
    assert link[1] not in page
    path = re.search(r"/admin/people/usr_[0-9a-z]{26}/link", page)
    assert path
    again = await outside.browser.send(path[0], on="/admin/people")
    assert redirect_path(again) == "/admin/people?told=many"
    assert "Welcome. Choose a password" in (await outside.browser.open(link[1])).text
