"""The commands that back up, check and restore, and those that erase a user or an agent, beside a running server."""

from pathlib import Path
from typing import Final

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.conftest import Account, Browsers, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.backup_keys import ANOTHER_KEY, BACKUP_KEY
from tests.helpers.command_line import CommandLine
from tests.helpers.form_browser import BASE, PASSWORD
from tests.helpers.operator_commands import Operator
from tests.helpers.operator_commands import operator as operator

GIVEN: Final = "--key-stdin"


def elsewhere(folder: Path, **variables: str) -> Operator:
    """The operator of an empty machine."""
    places = {
        "NEGOTIATOR_BASE_URL": BASE,
        "NEGOTIATOR_DATA_DIR": str(folder / "var"),
        "NEGOTIATOR_KEYS_DIR": str(folder / "keys"),
    }
    return Operator(CommandLine(places | variables))


@pytest.mark.asyncio
@covers("5.2:backup", "5.2:json", "5.2:refusal", "5.2:misuse", "5.2:beside")
async def test_what_was_backed_up_beside_the_server_is_restored_on_another_machine(
    operator: Operator, account: Account, register: Register, settings: Settings, tmp_path: Path
) -> None:
    await account("ada@example.com")
    await register()
    await operator("keys", "list")
    file, there = tmp_path / "a.backup", elsewhere(tmp_path / "there")
    made = await operator.json("backup", str(file), GIVEN, given=BACKUP_KEY)
    assert (made.value["counts"]["users"], made.value["counts"]["agents"]) == (1, 1)
    assert file.stat().st_mode & 0o777 == 0o600
    assert b"ada@example.com" not in file.read_bytes()
    assert (await there.json("verify", str(file), GIVEN, given=BACKUP_KEY)).value["whole"] is True
    assert not (tmp_path / "there").exists(), "verify leaves nothing"
    done = await there("restore", str(file), GIVEN, given=BACKUP_KEY)
    assert done.exit_code == 0, done
    assert "1 user, 1 agent" in done.out
    assert "erase them again" in done.err
    [ada] = (await there.json("users", "list")).value
    assert ada["email"] == "ada@example.com"
    assert (tmp_path / "there/var/secret").read_text() == settings.secret
    kids = [key["kid"] for key in (await operator.json("keys", "list")).value]
    assert [key["kid"] for key in (await there.json("keys", "list")).value] == kids
    assert "--replace" in await there.refused("restore", str(file), GIVEN, given=BACKUP_KEY)
    again = await there.json("restore", str(file), GIVEN, "--replace", given=BACKUP_KEY)
    assert [Path(place).parent.name for place in again.value["set_aside"]] == ["keys", "var"]
    assert again.value["erased_again"] == 0
    running = ("restore", str(file), GIVEN, "--replace")
    assert "stop it first" in await operator.refused(*running, given=BACKUP_KEY)


@pytest.mark.asyncio
@covers("5.2:unreadable-backup", "5.2:refusal", "5.2:misuse", "1.3:no-echo")
async def test_a_backup_that_cannot_be_read_is_refused_with_its_reason(operator: Operator, tmp_path: Path) -> None:
    await operator("keys", "list")
    await operator("users", "list")
    file, there = tmp_path / "a.backup", elsewhere(tmp_path / "there")
    assert "no age key" in await operator.refused("backup", str(file), GIVEN, given="a passphrase\n")
    await operator.json("backup", str(file), GIVEN, given=BACKUP_KEY)
    whole = file.read_bytes()
    assert "exists already" in await operator.refused("backup", str(file), GIVEN, given=BACKUP_KEY)
    assert file.read_bytes() == whole
    lines = [await there.refused(word, str(file), GIVEN, given=ANOTHER_KEY) for word in ("verify", "restore")]
    assert {*lines} == {"negotiator: The backup key is wrong."}
    for content, reason in (
        (whole[: len(whole) // 2], "damaged"),
        (whole[:5000] + b"x" + whole[5001:], "damaged"),
        (whole + b"x", "damaged"),
        (b"something else", "no backup"),
    ):
        file.write_bytes(content)
        for word in ("verify", "restore"):
            line = await there.refused(word, str(file), GIVEN, given=BACKUP_KEY)
            assert reason in line
            assert "key" not in line
    assert "not a file" in await there.refused("verify", str(tmp_path), GIVEN, given=BACKUP_KEY)
    assert not (tmp_path / "there/keys").exists()
    assert not (tmp_path / "there/var/negotiator.db").exists(), "nothing was touched"
    assert (await there("verify", str(file))).exit_code == 2, "nobody can be asked"


@pytest.mark.asyncio
@covers("5.2:backup")
async def test_no_backup_is_made_of_nothing_or_over_anything(operator: Operator, tmp_path: Path) -> None:
    await operator("keys", "list")
    await operator("users", "list")
    target = tmp_path / "mine"
    target.write_text("mine")
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    for name in ("mine", "link", "nowhere"):
        line = await operator.refused("backup", str(tmp_path / name), GIVEN, given=BACKUP_KEY)
        assert "exists already" in line
    assert target.read_text() == "mine"
    assert not (tmp_path / "missing").exists()
    empty = elsewhere(tmp_path / "empty", NEGOTIATOR_BACKUP_KEY=BACKUP_KEY)
    assert "no database" in await empty.refused("backup", str(tmp_path / "b"))
    await empty("users", "add", "ada@example.com", "--password-stdin", given="correct horse battery\n")
    assert "pepper" in await empty.refused("backup", str(tmp_path / "b"))
    (tmp_path / "empty/var/secret").write_text("pepper")
    assert "no signing keys" in await empty.refused("backup", str(tmp_path / "b"))
    assert not list(tmp_path.glob(".b*")), "no file is left half written"
    assert not (tmp_path / "b").exists()
    assert not list((tmp_path / "empty/var").glob("unfinished-*"))


@pytest.mark.asyncio
@covers("5.2:erase", "5.2:json", "5.2:refusal", "5.2:misuse", "5.2:beside")
async def test_a_user_is_erased_beside_the_running_server(
    operator: Operator,
    client: httpx2.AsyncClient,
    browsers: Browsers,
    account: Account,
    mint: Mint,
    register: Register,
    settings: Settings,
) -> None:
    user_id = await account("ada@example.com", name="Ada Lovelace")
    browser = browsers()
    assert (await browser.sign_in("ada@example.com", PASSWORD)).status_code == 303
    _, code = await mint("ada@example.com")
    agent = await register("ada's agent")
    claim = await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
    headers = bearer(claim.json())
    body = {"title": "Laptops", "role": "buyer", "issues": [{"name": "price", "type": "money"}]}
    assert (await client.post("/api/negotiations", json=body, headers=headers)).status_code == 201
    settings.outbox_folder.mkdir(exist_ok=True)
    mails = [settings.outbox_folder / f"mail_{number}.eml" for number in (1, 2)]
    mails[0].write_text("To: Ada <ada@example.com>\n\nHello.")
    mails[1].write_text("To: bob@example.com\n\nHello.")
    (settings.outbox_folder / "no_mail.eml").write_text("")
    assert (await operator("users", "erase", "ada@example.com")).exit_code == 2, "nobody is asked"
    await operator.refused("users", "erase", "bob@example.com", "--yes")
    erased = (await operator.json("users", "erase", "Ada@example.com", "--yes")).value
    assert erased["id"] == user_id
    assert erased["agents"] == [agent["client_id"]]
    assert erased["rows"]["negotiations"] == 1
    assert erased["mails"] == 1
    assert [mail.exists() for mail in mails] == [False, True]
    assert (await client.get("/api/negotiations", headers=headers)).status_code == 401
    assert (await browser.open("/account")).status_code == 303, "signed out"
    assert (await browser.sign_in("ada@example.com", PASSWORD)).status_code == 403
    assert (await operator.json("users", "list")).value == []
    files = [path for path in settings.data_dir.rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() for path in files)
    for word in (b"ada@example.com", b"Ada Lovelace", b"ada's agent", b"Laptops"):
        assert word not in held, word
    await operator.refused("users", "erase", user_id, "--yes")


@pytest.mark.asyncio
@covers("5.2:erase")
async def test_the_last_administrator_is_not_erased_without_a_word(operator: Operator) -> None:
    for email in ("ada@example.com", "bob@example.com"):
        await operator("users", "add", email)
    refused = await operator("users", "erase", "ada@example.com", "--yes")
    assert refused.exit_code == 1
    assert "the only administrator" in refused.err
    erased = await operator("users", "erase", "ada@example.com", "--yes", "--last")
    assert erased.exit_code == 0
    await operator("users", "admin", "bob@example.com")
    await operator("users", "add", "eve@example.com")
    assert (await operator("users", "erase", "eve@example.com", "--yes")).exit_code == 0


@pytest.mark.asyncio
@covers("5.2:erase")
async def test_an_agent_is_erased_and_its_token_ends(
    operator: Operator, client: httpx2.AsyncClient, register: Register
) -> None:
    agent, other = await register("one"), await register("other")
    erased = await operator.json("agents", "erase", agent["client_id"], "--yes")
    assert erased.value["agents"] == [agent["client_id"]]
    codes = [(await client.get("/api/negotiations", headers=bearer(each))).status_code for each in (agent, other)]
    assert codes == [401, 200]
    events = (await operator.json("audit")).value
    assert [each["event"] for each in events if each["subject"] == agent["client_id"]] == [
        "agent.erased",
        "agent.registered",
    ]
    assert await operator.refused("agents", "erase", agent["client_id"], "--yes")
