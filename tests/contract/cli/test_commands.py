"""Every command of the contract: what it does, what it says, how it ends, beside a running server."""

import asyncio
import json
import re
from pathlib import Path

import httpx2
import pytest

from tests.conftest import Account, Browsers, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE, PASSWORD
from tests.helpers.operator_commands import ISSUER, Operator
from tests.helpers.operator_commands import operator as operator

CODE = "([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}"


@pytest.mark.asyncio
@covers("5.2:users", "5.2:json", "5.2:refusal", "5.2:beside")
async def test_people_are_added_listed_and_closed(operator: Operator) -> None:
    added = await operator.json("users", "add", "Ada@Example.com", "--name", "Ada", "--admin")
    assert added.value["email"] == "ada@example.com"
    assert re.fullmatch("usr_[0-9a-z]{26}", added.value["id"])
    (ada,) = (await operator.json("users", "list")).value
    assert (ada["id"], ada["name"], ada["is_admin"]) == (added.value["id"], "Ada", True)
    assert "password" not in json.dumps(ada)
    assert "ada@example.com" in await operator.refused("users", "add", "ada@example.com")
    await operator.refused("users", "add", "no address")
    short = await operator.refused("users", "add", "b@example.com", "--password-stdin", given="x\n")
    assert "password" in short.lower()
    given = "a long enough password\n"
    await operator.json("users", "add", "b@example.com", "--password-stdin", given=given)
    for option, is_admin in (("", True), ("--off", False)):
        command = ("users", "admin", "b@example.com", *([option] if option else []))
        assert (await operator.json(*command)).value["is_admin"] is is_admin
        listed = (await operator.json("users", "list")).value
        assert next(each for each in listed if each["email"] == "b@example.com")["is_admin"] is is_admin
    await operator.refused("users", "admin", "nobody@example.com")
    assert (await operator.json("users", "disable", "ada@example.com")).value["disabled"] is True
    await operator.refused("users", "disable", "nobody@example.com")
    listed = (await operator.json("users", "list")).value
    assert {user["email"]: user["disabled_at"] is None for user in listed} == {
        "ada@example.com": False,
        "b@example.com": True,
    }
    table = await operator("users", "list")
    assert table.exit_code == 0
    assert "ada@example.com" in table.out


@pytest.mark.asyncio
@covers("5.2:users", "5.2:first-user")
async def test_the_first_user_is_an_administrator_and_the_last_one_stays(
    operator: Operator, browsers: Browsers
) -> None:
    said = await operator("users", "add", "ada@example.com")
    assert "is usr_" in said.out
    assert ", as the first user an administrator.\n" in said.out
    assert "without a password" in said.out
    link = next(line.strip() for line in said.out.splitlines() if BASE in line)
    form = {"new": PASSWORD, "repeated": PASSWORD}
    path = link.removeprefix(BASE)
    assert (await browsers().send(path, on=path, **form)).status_code == 303
    assert (await browsers().sign_in("ada@example.com", PASSWORD)).status_code == 303
    given = f"{PASSWORD}\n"
    second = await operator("users", "add", "b@example.com", "--password-stdin", given=given)
    assert "administrator" not in second.out + second.err
    off = ("users", "admin", "ada@example.com", "--off")
    assert "only administrator" in await operator.refused(*off)
    assert (await operator("users", "admin", "b@example.com")).exit_code == 0
    assert (await operator(*off)).out == "ada@example.com is no administrator any more.\n"
    assert "only administrator" in await operator.refused("users", "admin", "b@example.com", "--off")
    erase = ("users", "erase", "b@example.com", "--yes")
    assert "--last" in await operator.refused(*erase)
    assert (await operator(*erase, "--last")).exit_code == 0


@pytest.mark.asyncio
@covers("5.2:users")
async def test_a_disabled_account_is_opened_again(operator: Operator, browsers: Browsers) -> None:
    add = ("users", "add", "b@example.com", "--password-stdin")
    await operator.json(*add, given=f"{PASSWORD}\n")
    assert "not disabled" in await operator.refused("users", "enable", "b@example.com")
    assert "users enable" in (await operator("users", "disable", "b@example.com")).out
    assert (await browsers().sign_in("b@example.com", PASSWORD)).status_code == 403
    assert "is disabled" in await operator.refused("users", "admin", "b@example.com")
    assert "stays ended" in (await operator("users", "enable", "b@example.com")).out
    browser = browsers()
    assert (await browser.sign_in("b@example.com", PASSWORD)).status_code == 303
    assert (await browser.open("/account")).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("by", ["command", "page"])
@covers("5.2:users")
async def test_an_opened_account_takes_new_agents_and_no_old_token(
    operator: Operator,
    browsers: Browsers,
    client: httpx2.AsyncClient,
    account: Account,
    mint: Mint,
    register: Register,
    by: str,
) -> None:
    user_id = await account("b@example.com")

    async def claim(code: str) -> httpx2.Response:
        return await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(await register()))

    async def ends(claimed: dict[str, str]) -> tuple[int, int]:
        form = {
            "grant_type": "refresh_token",
            "client_id": claimed["client_id"],
            "refresh_token": claimed["refresh_token"],
        }
        read = await client.get("/api/negotiations", headers=bearer(claimed))
        return read.status_code, (await client.post("/oauth/token", data=form)).status_code

    before = (await claim((await mint("b@example.com"))[1])).json()
    _, unused = await mint("b@example.com")
    browser = browsers()
    await browser.sign_in("b@example.com", PASSWORD)
    if by == "command":
        await operator("users", "disable", "b@example.com")
    else:
        await operator("users", "add", "ada@example.com", "--admin", "--password-stdin", given=f"{PASSWORD}\n")
        administrator = browsers()
        await administrator.sign_in("ada@example.com", PASSWORD)
        ended = await administrator.send(f"/admin/people/{user_id}/end", on="/admin/people")
        assert ended.status_code == 303, ended.text
    await operator("users", "enable", "b@example.com")
    assert (await browser.open("/account")).status_code == 303, "its session stays ended"
    assert (await claim(unused)).status_code == 410
    assert await ends(before) == (401, 400)
    after = (await claim((await mint("b@example.com"))[1])).json()
    assert await ends(after) == (200, 200)


@pytest.mark.asyncio
@covers("5.2:users", "5.2:refusal", "5.2:misuse", "1.3:no-echo")
async def test_a_password_is_replaced_beside_the_running_server(operator: Operator, browsers: Browsers) -> None:
    first, second = "the first password\n", "the second password\n"
    await operator.json("users", "add", "b@example.com", "--password-stdin", given=first)
    browser = browsers()
    assert (await browser.sign_in("b@example.com", first.strip())).status_code == 303
    command = ("users", "password", "B@example.com")
    changed = await operator.json(*command, "--password-stdin", given=second)
    assert changed.value == {"email": "b@example.com", "changed": True}
    assert "password" not in changed.out.replace("changed", "")
    assert (await browser.open("/account")).status_code == 303, "signed out"
    assert (await browser.sign_in("b@example.com", first.strip())).status_code == 403
    assert (await browser.sign_in("b@example.com", second.strip())).status_code == 303
    await operator.refused("users", "password", "no@example.com", "--password-stdin", given=first)
    await operator.refused(*command, "--password-stdin", given="short\n")
    assert (await operator(*command)).exit_code == 2


@pytest.mark.asyncio
@covers("5.2:delegations", "2.6:code", "2.6:life", "5.2:beside")
async def test_a_code_made_at_the_command_line_works_at_the_running_server(
    operator: Operator, client: httpx2.AsyncClient, register: Register
) -> None:
    await operator.refused("delegations", "create", "--user", "ada@example.com")
    await operator.json("users", "add", "ada@example.com")
    create = ("delegations", "create", "--user", "ada@example.com")
    made = (await operator.json(*create, "--scope", "negotiations:read", "--label", "Laptop")).value
    assert set(made) == {"id", "code", "scopes", "expires_at"}
    assert re.fullmatch(CODE, made["code"])
    claim = {"claim_token": made["code"]}
    answer = await client.post("/api/agent/claim", json=claim, headers=bearer(await register()))
    assert answer.status_code == 200
    assert answer.json()["scopes"] == ["negotiations:read"]
    plain = await operator(*create)
    assert re.fullmatch(CODE, plain.out.strip())
    everything = (await operator.json(*create, "--ttl", "3600")).value
    assert len(everything["scopes"]) == 8
    for wrong in (("--ttl", "3601"), ("--ttl", "5"), ("--scope", "root")):
        await operator.refused(*create, *wrong)
    await operator.json("delegations", "revoke", everything["id"])
    await operator.refused("delegations", "revoke", everything["id"])
    listed = await operator.json("delegations", "list")
    assert [code["state"] for code in listed.value] == ["revoked", "open", "used"]
    assert [code["works_until"] is None for code in listed.value] == [True, True, False]
    bound = answer.json()
    assert (await client.get("/api/negotiations", headers=bearer(bound))).status_code == 200
    await operator.json("delegations", "revoke", made["id"])
    await operator.refused("delegations", "revoke", made["id"])
    assert (await client.get("/api/negotiations", headers=bearer(bound))).status_code == 401
    listed = await operator.json("delegations", "list")
    assert [code["state"] for code in listed.value] == ["revoked", "open", "revoked"]
    assert [code["works_until"] for code in listed.value] == [None] * 3
    assert made["code"] not in listed.out
    assert made["code"].replace("-", "") not in listed.out
    answer = await client.post(
        "/api/agent/claim", json={"claim_token": everything["code"]}, headers=bearer(await register())
    )
    refused(answer, 410, "claim_revoked")


@pytest.mark.asyncio
@covers("5.2:issuers", "5.2:misuse", "5.2:beside")
async def test_an_issuer_is_trusted_and_cut_off_while_the_server_runs(
    operator: Operator, client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    idp = FakeIssuer(BASE)
    keys = tmp_path / "jwks.json"
    keys.write_text(json.dumps(idp.jwks()))

    async def status(client_id: str = "corp-agent") -> int:
        body = registration(idp.assertion(client_id=client_id))
        return (await client.post("/api/agent/register", json=body)).status_code

    assert await status() == 400
    add = ("issuers", "add", ISSUER, "--jwks-file", str(keys))
    added = await operator.json(*add, "--algorithm", "ES256", "--client-id", "corp-agent")
    assert (added.value["issuer"], added.value["algorithms"]) == (ISSUER, ["ES256"])
    assert await status() == 201
    assert await status(client_id="other") == 400
    assert [row["issuer"] for row in (await operator.json("issuers", "list")).value] == [ISSUER]
    held = idp.assertion(sub="u-7", iat=idp.claims()["iat"] - 5)
    await operator.json("issuers", "revoke", ISSUER, "u-7")
    answer = await client.post("/api/agent/register", json=registration(held))
    refused(answer, 400, "expired")
    await operator.json("issuers", "remove", ISSUER)
    assert await status() == 400
    for again in (("remove", ISSUER), ("revoke", ISSUER, "u-7")):
        await operator.refused("issuers", *again)
    await operator.refused(*add, "--algorithm", "HS256")
    refusal = await operator.refused(*add, "--algorithm", "RS256")
    assert "no key fits RS256" in refusal
    assert "the keys fit ES256" in refusal
    half = await operator(*add, "--algorithm", "ES256", "--algorithm", "RS256")
    assert half.exit_code == 0
    assert "warning: no key of the issuer fits RS256" in half.err
    await operator.json("issuers", "remove", ISSUER)
    await operator.refused(*add, "--scope", "root")
    await operator.refused("issuers", "add", BASE, "--discover")
    await operator.refused("issuers", "add", "http://idp.example", "--discover")
    for wrong in ((), ("--discover", "--jwks-url", f"{ISSUER}/jwks"), ("--jwks-file", "nowhere")):
        assert (await operator("issuers", "add", ISSUER, *wrong)).exit_code == 2
    keys.write_text("{}")
    await operator.refused(*add)


@pytest.mark.asyncio
@covers("5.2:clients", "5.2:beside")
async def test_a_client_is_added_with_a_secret_that_is_shown_once_or_with_its_keys(
    operator: Operator, client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    added = (await operator.json("clients", "add", "App", "--scope", "negotiations:read")).value
    assert set(added) == {"client_id", "client_secret"}
    pair = (added["client_id"], added["client_secret"])
    form = {"grant_type": "client_credentials"}
    assert (await client.post("/oauth/token", data=form, auth=pair)).status_code == 200
    listed = await operator.json("clients", "list")
    assert [row["client_id"] for row in listed.value] == [pair[0]]
    assert pair[1] not in listed.out
    plain = await operator("clients", "add", "Other", "--grant", "client_credentials")
    assert "client_secret" in plain.out
    callback = ("--redirect-uri", "https://app.example/callback")
    public = await operator("clients", "add", "Desk", "--auth-method", "none", *callback)
    assert "client_secret" not in public.out
    await operator.refused("clients", "add", "App", "--redirect-uri", "javascript:alert(1)")
    for wrong in (("--grant", "password"), ("--scope", "root"), ("--auth-method", "none")):
        await operator.refused("clients", "add", "App", *wrong)
    signer, keys = ClientAssertionSigner(), tmp_path / "keys.json"
    keys.write_text('{"keys": []}')
    await operator.refused("clients", "add", "App", "--jwks", str(keys))
    keys.write_text(json.dumps(signer.jwks))
    keyed = (await operator.json("clients", "add", "App", "--jwks", str(keys))).value
    signer.client_id = keyed.pop("client_id")
    assert keyed == {}
    assert (await client.post("/oauth/token", data={**form, **signer.form()})).status_code == 200
    changed = (await operator.json("clients", "secret", pair[0])).value["client_secret"]
    assert (await client.post("/oauth/token", data=form, auth=pair)).status_code == 401
    pair = (pair[0], changed)
    assert (await client.post("/oauth/token", data=form, auth=pair)).status_code == 200
    await operator.refused("clients", "secret", "cli_unknown")
    address = "https://app.example/client.json"
    allowed = (await operator.json("clients", "allow", address, "--scope", "negotiations:read")).value
    assert allowed == {"client_id": address, "scopes": ["negotiations:read"]}
    assert (await operator.json("clients", "list")).value[-1]["origin"] == "document"
    await operator.json("clients", "remove", address)
    for wrong in (("cli_unknown", "--scope", "negotiations:read"), (address, "--scope", "root")):
        await operator.refused("clients", "allow", *wrong)
    await operator.json("clients", "remove", pair[0])
    await operator.refused("clients", "remove", pair[0])
    refused(await client.post("/oauth/token", data=form, auth=pair), 401, "invalid_client")


@pytest.mark.asyncio
@covers("5.2:keys")
async def test_keys_are_listed_and_rotated(operator: Operator) -> None:
    before = (await operator.json("keys", "list")).value
    states = [(key["algorithm"], key["state"]) for key in before]
    assert states == [(name, state) for name in ("ES256", "RS256") for state in ("current", "next")]
    rotated = (await operator.json("keys", "rotate")).value
    assert rotated["current"] == before[1]["kid"]
    after = (await operator.json("keys", "list")).value
    assert [key["state"] for key in after] == ["retired", "current", "next"] * 2
    kept = [key["kid"] for key in (*after[:2], *after[3:5])]
    assert kept == [key["kid"] for key in before]
    assert set(after[0]) == {"kid", "algorithm", "state", "made_at"}


@pytest.mark.asyncio
@covers("5.2:trail", "5.2:json", "1.3:no-echo")
async def test_the_trail_tells_what_happened_and_no_secret(
    operator: Operator, client: httpx2.AsyncClient, register: Register
) -> None:
    agent = await register()
    await operator.json("users", "add", "ada@example.com")
    code = (await operator.json("delegations", "create", "--user", "ada@example.com")).value["code"]
    await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
    trail = await operator.json("audit")
    assert [event["event"] for event in trail.value] == [
        "authorization.granted",
        "agent.claimed",
        "delegation.created",
        "user.created",
        "agent.registered",
    ]
    assert code not in trail.out
    assert agent["access_token"] not in trail.out
    assert len((await operator.json("audit", "--limit", "2")).value) == 2
    assert (await operator.json("migrate")).value == {"migrated": True}
    described = (await operator.json("openapi")).value
    served = (await client.get("/openapi.json")).json()
    assert described == served


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "words",
    [
        ("unknown",),
        ("users", "add"),
        ("users", "add", "a@example.com", "--unknown"),
        ("delegations", "create"),
        ("delegations", "create", "--user", "a@example.com", "--ttl", "soon"),
        ("issuers", "revoke", ISSUER),
        ("audit", "--limit", "0"),
        ("serve", "--port", "http"),
    ],
)
@covers("5.2:misuse")
async def test_misuse_ends_with_two(operator: Operator, words: tuple[str, ...]) -> None:
    said = await operator(*words)
    assert said.exit_code == 2
    assert said.out == ""
    assert "Traceback" not in said.err


@pytest.mark.asyncio
@covers("5.2:beside")
async def test_commands_and_requests_share_the_database_at_the_same_time(
    operator: Operator, client: httpx2.AsyncClient, register: Register
) -> None:
    del client

    async def commands() -> None:
        for number in range(2):
            await operator.json("users", "add", f"u{number}@example.com")

    await asyncio.gather(commands(), *(register() for _ in range(30)))
    assert len((await operator.json("users", "list")).value) == 2
