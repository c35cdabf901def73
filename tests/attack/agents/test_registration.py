"""Hostile registrations: bodies, names, mails, limits, and what an answer may give away."""

import json
from collections.abc import AsyncGenerator
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.conftest import Mint, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.fake_issuer import ID_JAG, registration
from tests.helpers.forger import MAILS, Forger, Forgery, refused

REGISTER = "/api/agent/register"
REQUEST = (400, "invalid_request")
GOOD: dict[str, Any] = {"agent_name": "walker", "identity_type": "anonymous"}
TYPES, KINDS = "urn:ietf:params:oauth:token-type:", ("saml2", "jwt", "access_token", "id_token", "ID-JAG")
JSON = {"content-type": "application/json"}


def _body(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


BODIES: dict[str, bytes] = {
    "1 no identity_type": b'{"agent_name": "x"}',
    "1 an unknown identity_type": _body(identity_type="root"),
    "1 identity_type in another case": _body(identity_type="Anonymous"),
    "1 identity_type as an array": _body(identity_type=["anonymous"]),
    "1 identity_type as null": _body(identity_type=None),
    "1 no agent_name": b'{"identity_type": "anonymous"}',
    "1 agent_name as a number": _body(agent_name=7),
    "1 agent_name as null": _body(agent_name=None),
    "1 neither": b"{}",
    "2 identity_type and type disagree": _body(type="identity_assertion"),
    "3 identity_type twice": b'{"identity_type": "x", "agent_name": "x", "identity_type": "anonymous"}',
    "3 twice by an escape": rb'{"identity_type": "x", "agent_name": "x", "\u0069dentity_type": "anonymous"}',
    "4 nested": b'{"agent_name": "x", "identity_type": "anonymous", "x": ' + b"[" * 4000 + b"]" * 4000,
    "4 a number of 5000 digits": b'{"identity_type": "anonymous", "agent_name": "x", "n": ' + b"9" * 5000,
    "4 not a number": b'{"identity_type": "anonymous", "agent_name": "x", "n": NaN}',
    "4 not UTF-8": b'{"identity_type": "anonymous", "agent_name": "\xff\xfe"}',
    "4 UTF-16": json.dumps(GOOD).encode("utf-16"),
    "4 an array": b"[]",
    "4 nothing": b"",
    "4 a string": b'"anonymous"',
    "8 an assertion too": _body(assertion="x"),
    "8 an assertion_type too": _body(assertion_type=ID_JAG),
    "8 an empty assertion too": _body(assertion=""),
    "8 an assertion as an object": _body(
        identity_type="identity_assertion", assertion_type=ID_JAG, assertion={"jwt": "x.y.z"}
    ),
    "8 neither of the two": _body(identity_type="identity_assertion"),
    "8 no assertion": _body(identity_type="identity_assertion", assertion_type=ID_JAG),
    "8 no assertion_type": _body(identity_type="identity_assertion", assertion="x.y.z"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", BODIES)
@covers("2.2:no-assertion", "2.1:alias", "2.1:types", "2.5:invalid_request")
@covers("1.2:json-object", "1.2:json-strict", "1.2:json-depth", "1.3:never-500")
async def test_a_body_that_is_no_registration_is_refused(forger: Forger, name: str) -> None:
    before = forger.counts()
    refused(await forger.client.post(REGISTER, content=BODIES[name], headers=JSON), REQUEST)
    assert forger.counts() == before
    assert (await forger.client.post(REGISTER, content=_body(), headers=JSON)).status_code == 201


@pytest.mark.asyncio
@covers("1.2:size-reading", "1.3:never-500")
async def test_a_body_that_never_ends_is_cut_off_while_it_is_read(forger: Forger) -> None:
    """4: the chunks stop being taken soon after the limit; nothing is collected first."""
    sent = 0

    async def drip() -> AsyncGenerator[bytes]:
        nonlocal sent
        for _ in range(10_000):
            sent += 1024
            yield b" " * 1024

    answer = await forger.client.post(REGISTER, content=drip(), headers=JSON)
    refused(answer, (413, "invalid_request"))
    assert sent <= 16 * 1024


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json", "", None]
)
@covers("1.2:media-type", "1.2:media-type-sent")
async def test_a_body_of_another_type_is_refused(forger: Forger, media_type: str | None) -> None:
    headers = {} if media_type is None else {"content-type": media_type}
    answer = await forger.client.post(REGISTER, content=_body(), headers=headers)
    refused(answer, (415, "invalid_request"))
    charset = {"content-type": "application/json; charset=utf-8"}
    assert (await forger.client.post(REGISTER, content=_body(), headers=charset)).status_code == 201


NAMES = {
    "a NUL": "a\x00b",
    "a line break": "a\nb",
    "a delete": "a\x7fb",
    "an escape": "a\x1b[2Jb",
    "a right-to-left override": "agent\u202etxt.exe",
    "an isolate": "a\u2066b",
    "a zero-width space": "a\u200bb",
    "a zero-width joiner": "a\u200db",
    "a byte-order mark": "\ufeffagent",
    "a tag character": "a\U000e0041",
    "half a character": "a\ud800",
    "private use": "\ue000",
    "nothing but blanks": " \u3000 ",
    "nothing": "",
    "101 characters": "x" * 101,
    "a line separator": "a\u2028b",
    "a paragraph separator": "a\u2029b",
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NAMES)
@covers("2.1:name", "2.5:invalid_request")
async def test_a_name_that_deceives_the_eye_is_refused(forger: Forger, name: str) -> None:
    before = forger.counts()
    answer = await forger.client.post(REGISTER, content=_body(agent_name=NAMES[name]), headers=JSON)
    refused(answer, REQUEST)
    assert forger.counts() == before
    plain = _body(agent_name="Jörg's 代理 <b>agent</b> #1")
    assert (await forger.client.post(REGISTER, content=plain, headers=JSON)).status_code == 201


@pytest.mark.asyncio
async def test_nothing_asked_for_widens_an_anonymous_grant(forger: Forger) -> None:
    """7, 11: scopes, ids and users in the body are passed over."""
    wish = {"scope": "memories:write", "scopes": ["openid"], "client_id": "agt_mine", "user_id": "usr_x"}
    answer = await forger.client.post(REGISTER, json={**GOOD, **wish, "expires_in": 10**9})
    plain = await forger.client.post(REGISTER, json=GOOD)
    assert answer.status_code == 201
    for member in ("scopes", "expires_in", "token_type"):
        assert answer.json()[member] == plain.json()[member]
    assert answer.json()["client_id"].startswith("agt_")
    assert answer.json()["client_id"] != "agt_mine"


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", [*(f"{TYPES}{kind}" for kind in KINDS), "id-jag", "VERIFIED_EMAIL", ""])
@covers("2.5:unsupported_assertion_type")
async def test_another_assertion_type_is_refused(forger: Forger, kind: str) -> None:
    before = forger.counts()
    text = forger.forge(Forgery(), "register")
    body = {**registration(text), "assertion_type": kind}
    answer = await forger.client.post(REGISTER, json=body)
    refused(answer, (400, "unsupported_assertion_type"), text)
    assert forger.counts() == before
    assert (await forger.client.post(REGISTER, json=registration(text))).status_code == 201


@pytest.mark.asyncio
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
async def test_another_method_is_told_the_right_one(forger: Forger, method: str) -> None:
    answer = await forger.client.request(method, REGISTER)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


VERIFIED = {"iss": MAILS, "email": "ada@corp.example", "email_verified": True}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "claim",
    [
        {"email_verified": None},
        {"email_verified": False},
        {"email_verified": "true"},
        {"email_verified": 1},
        {"email": "ada@evil.example"},
        {"email": "ada@corp.example.evil.example"},
        {"email": "ada@evil.example,ada@corp.example"},
        {"email": '"ada<x>"@corp.example'},
        {"email": None},
    ],
    ids=repr,
)
async def test_an_address_nobody_vouches_for_is_no_identity(forger: Forger, claim: dict[str, Any]) -> None:
    """60: the boolean true, of a domain the issuer may speak for, and nothing else."""
    before = forger.counts()
    claims = {name: value for name, value in {**VERIFIED, **claim}.items() if value is not None}
    text = forger.forge(Forgery(claims=claims), "register")
    body = {**registration(text), "assertion_type": "verified_email"}
    answer = await forger.client.post(REGISTER, json=body)
    assert answer.json()["error"] in {"missing_verified_email", "invalid_request"}
    refused(answer, (400, answer.json()["error"]), text)
    assert forger.counts() == before
    good = forger.forge(Forgery(claims=VERIFIED), "register")
    answer = await forger.client.post(REGISTER, json={**body, "assertion": good})
    assert answer.json()["identity"]["email"] == "ada@corp.example"


def _mail_to(address: str) -> dict[str, Any]:
    return {
        "agent_name": "scout",
        "identity_type": "identity_assertion",
        "assertion_type": "verified_email",
        "assertion": address,
    }


def _outbox(settings: Settings) -> list[Message]:
    folder: Path = settings.data_dir / "outbox"
    return [message_from_bytes(path.read_bytes()) for path in sorted(folder.glob("*.eml"))]


@pytest.mark.asyncio
@covers("2.4:bare", "2.4:same")
async def test_an_answer_does_not_tell_whether_an_account_exists(
    forger: Forger, mint: Mint, settings: Settings
) -> None:
    """12: the same shape and length, and no account is made or touched."""
    await mint("ada@example.com")
    before = forger.counts()
    answers = [
        await forger.client.post(REGISTER, json=_mail_to(address)) for address in ("ada@example.com", "eve@example.com")
    ]
    known, unknown = (answer.json() for answer in answers)
    assert [answer.status_code for answer in answers] == [201, 201]
    assert list(known) == list(unknown)
    assert known["verification"] == unknown["verification"] == {"status": "pending", "expires_in": 3600}
    assert known["scopes"] == unknown["scopes"]
    assert answers[0].headers.keys() == answers[1].headers.keys()
    after = forger.counts()
    assert (after["users"], after["delegations"]) == (before["users"], before["delegations"])
    assert [mail["To"] for mail in _outbox(settings)] == ["ada@example.com", "eve@example.com"]


@pytest.mark.asyncio
async def test_a_mailbox_cannot_be_flooded_under_any_spelling(forger: Forger, settings: Settings) -> None:
    """One mail in ten minutes, however the address is written, and the answer stays the same."""
    spellings = [
        *["victim@example.com"] * 5,
        "VICTIM@Example.com",
        " victim@example.com ",
        "=?utf-8?q?victim?=@example.com",
        "=?utf-8?q?v=69ctim?=@example.com",
        "=?us-ascii?b?dmljdGlt?=@example.com",
    ]
    for address in spellings:
        answer = await forger.client.post(REGISTER, json=_mail_to(address))
        assert answer.status_code in {201, 400}, answer.text
    assert len(_outbox(settings)) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "address",
    [
        "a@b.example\r\nBcc: all@corp.example",
        "a@b.example, c@d.example",
        "Ada <a@b.example>",
        "@",
        "a@",
        "a@b",
        "a b@c.example",
        "@b.example",
        "a@b@c.example",
        "a\x00@b.example",
        f"{'a' * 250}@b.example",
    ],
)
@covers("2.5:invalid_request")
async def test_an_address_that_would_steer_the_mail_is_refused(
    forger: Forger, settings: Settings, address: str
) -> None:
    before = forger.counts()
    refused(await forger.client.post(REGISTER, json=_mail_to(address)), REQUEST)
    assert forger.counts() == before
    assert _outbox(settings) == []


@pytest.mark.asyncio
@pytest.mark.parametrize(("trusted", "spoofed_count"), [([], 3), (["192.0.2.0/24"], 3), (["203.0.113.7/32"], 5)])
async def test_a_forwarded_address_counts_only_from_a_configured_proxy(
    settings: Settings, trusted: list[str], spoofed_count: int
) -> None:
    """9: three are allowed per address; five come, each with another X-Forwarded-For."""
    limited = make_settings(settings.data_dir, settings.keys_dir, register_limit_anonymous=3, trusted_proxies=trusted)
    async with running(limited) as application, connect(application) as client:
        answers: list[httpx2.Response] = []
        for number in range(5):
            headers = {"x-forwarded-for": f"198.51.100.{number}, 198.51.100.{number}"}
            answers.append(await client.post(REGISTER, json=GOOD, headers=headers))
    assert sum(answer.status_code == 201 for answer in answers) == spoofed_count
    for answer in answers:
        if answer.status_code == 429:
            refused(answer, (429, "rate_limit_exceeded"))
            assert int(answer.headers["retry-after"]) > 0
