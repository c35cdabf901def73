"""The link that makes the first user."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from negotiator.cli.output import command_name
from negotiator.users import user_queries
from negotiator.users.invitation import invite
from tests.conftest import PEPPER, Account, Browsers, Change, Clock
from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine
from tests.helpers.form_browser import BASE, PASSWORD, redirect_path

FORM = {"email": "Grace@Example.com", "name": "Grace", "password": PASSWORD}


def link(pepper: str = PEPPER) -> str:
    """The path of a new link."""
    return f"/first-user/{invite(pepper.encode())}"


@pytest.mark.asyncio
@covers("5.3:first-user")
async def test_the_link_makes_an_administrator_signs_them_in_and_works_once(browsers: Browsers, change: Change) -> None:
    browser, path = browsers(), link()
    page = await browser.open(path)
    assert page.status_code == 200
    assert redirect_path(await browser.send(path, on=path, **FORM)) == "/"
    assert (await browser.open("/agents")).status_code == 200
    user = await change(lambda tx: user_queries.by_email(tx, "grace@example.com"))
    assert (user.name, user.is_admin) == ("Grace", 1)
    for each in (path, link()):
        assert (await browsers().open(each)).status_code == 410


def _stays(_log_format: str, _options: dict[str, Any], _drain_seconds: float) -> None:
    """In place of the server that would run in this process."""


@covers("5.3:first-user", "5.3:serve-says")
def test_serve_prints_the_link_while_there_is_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {"NEGOTIATOR_DATA_DIR": str(tmp_path / "var"), "NEGOTIATOR_KEYS_DIR": str(tmp_path)}
    machine = CommandLine({**places, "NEGOTIATOR_BASE_URL": BASE})
    monkeypatch.setattr("negotiator.cli.supervisor.main", _stays)
    said = machine.run("serve", "--port", "0")
    assert said.exit_code == 0, said
    assert said.out.splitlines()[2] == f"Data folder: {tmp_path / 'var'}"
    assert re.search(f"^ +{re.escape(BASE)}/first-user/[0-9a-f]+-[0-9a-f]{{64}}$", said.out, re.M)
    machine.run("users", "add", "ada@example.com")
    assert "first-user" not in machine.run("serve", "--port", "0").out


def test_the_command_is_printed_as_the_user_can_paste_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Path(sys.executable).with_name("negotiator")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command_name() == str(own)
    other = tmp_path / "negotiator"
    other.touch(mode=0o755)
    assert command_name() == str(own)
    other.unlink()
    other.symlink_to(own)
    assert command_name() == "negotiator"


@pytest.mark.asyncio
@covers("5.3:first-user")
async def test_of_many_who_use_it_at_once_one_wins(browsers: Browsers, change: Change) -> None:
    path = link()
    crowd = [browsers() for _ in range(8)]
    tokens = [await browser.token(path) for browser in crowd]
    answers = await asyncio.gather(
        *(
            browser.client.post(path, data={**FORM, "csrf": token, "email": f"u{n}@example.com"})
            for n, (browser, token) in enumerate(zip(crowd, tokens, strict=True))
        )
    )
    assert sorted(answer.status_code for answer in answers) == [303] + [410] * 7
    assert len(await change(user_queries.list_users)) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("email", "nobody", "no e-mail address"),
        ("password", "short", "at least 12"),
        ("name", "a\u202eb", "cannot be seen"),
    ],
)
async def test_what_cannot_be_an_account_is_said_and_the_link_lives(
    browsers: Browsers, field: str, value: str, said: str
) -> None:
    browser, path = browsers(), link()
    answer = await browser.send(path, on=path, **{**FORM, field: value})
    assert answer.status_code == 422
    assert said in answer.text
    assert (await browser.open(path)).status_code == 200


@pytest.mark.asyncio
async def test_an_old_a_foreign_or_a_garbled_link_is_gone(clock: Clock, browsers: Browsers, change: Change) -> None:
    del change
    browser, old = browsers(), link()
    bad = [link("another pepper"), "/first-user/x", f"{old}0", old[:-1]]
    for path in bad:
        assert (await browser.open(path)).status_code == 410, path
    clock.advance(86_400)
    assert (await browser.open(old)).status_code == 410


@pytest.mark.asyncio
async def test_once_anybody_exists_no_link_works(browsers: Browsers, account: Account) -> None:
    path = link()
    await account()
    assert (await browsers().open(path)).status_code == 410
