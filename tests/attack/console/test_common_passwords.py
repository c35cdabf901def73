"""Passwords that a guesser tries first: refused wherever a password is set, with a sentence that says why."""

import time
from pathlib import Path

import pytest
from starlette.applications import Starlette

from negotiator.base.errors import ValidationFailed
from negotiator.users import user_queries
from negotiator.users.invitation import invite
from tests.conftest import PEPPER, Account, Browsers
from tests.helpers.command_line import CommandLine
from tests.helpers.form_browser import PASSWORD

COMMON = (
    "password1234",
    "Password123!",
    "P@ssw0rd1234",
    "passwordpassword",
    "qwertyuiopas",
    "1q2w3e4r5t6y",
    "123456789012",
    "iloveyou1234",
    "aaaaaaaaaaaa",
    "letmeinletmein",
    "negotiator123",
    "passwordpasswordpasswordpasswordpassword",
)
GOOD = (
    PASSWORD,
    "correct horse battery staple",
    "jG8d!kP2zQw9",
    "Der Hund frisst keine Tapete",
    "密码不应该太短而且要很难猜到才好",
    "passwordpasswordpassword, then nine green otters",
)
SENTENCE = "among the first that a guesser tries"


@pytest.mark.parametrize("password", [*COMMON, "ada.lovelace@corp.example", "Ada Lovelace 1"])
def test_a_common_password_is_refused(password: str) -> None:
    with pytest.raises(ValidationFailed, match=SENTENCE):
        user_queries.hash_password(password, about=("ada.lovelace@corp.example", "Ada Lovelace"))


@pytest.mark.parametrize("password", GOOD)
def test_another_password_is_taken(password: str) -> None:
    hashed = user_queries.hash_password(password, about=("ada@corp.example", ""))
    assert user_queries.verify_password(hashed, password)


@pytest.mark.parametrize(
    ("password", "advice"),
    [
        ("qwertyuiopas", "Add another word or two"),
        ("aaaaaaaaaaaa", "Repeats like"),
        ("password1234", "very common password"),
        ("ada.lovelace@corp.example", "Add another word or two"),
    ],
)
def test_the_refusal_says_what_would_be_better(password: str, advice: str) -> None:
    told = user_queries.weakness(password, about=("ada.lovelace@corp.example",))
    assert advice in told
    assert password not in told
    assert told.endswith(".")


def test_looking_at_a_long_password_takes_no_longer_than_at_a_short_one() -> None:
    def taken(password: str) -> float:
        began = time.process_time()
        user_queries.weakness(password)
        return time.process_time() - began

    taken(PASSWORD)
    assert taken("p@$$w0rd1" * 800) < 20 * max(taken("p@$$w0rd1" * 3), 0.05)


@pytest.mark.asyncio
async def test_the_pages_refuse_a_common_password(application: Starlette, browsers: Browsers, account: Account) -> None:
    del application
    browser = browsers()
    path = f"/first-user/{invite(PEPPER.encode())}"
    form = {"email": "grace@example.com", "name": "Grace", "password": "password1234"}
    answer = await browser.send(path, on=path, **form)
    assert answer.status_code == 422
    assert SENTENCE in answer.text
    await account()
    await browser.sign_in()
    form = {"password": PASSWORD, "new": "qwerty123456", "repeated": "qwerty123456"}
    answer = await browser.send("/account/password", on="/account", **form)
    assert answer.status_code == 422
    assert SENTENCE in answer.text
    assert (await browsers().sign_in()).status_code == 303, "the old one is still the password"


def test_the_commands_refuse_a_common_password(tmp_path: Path) -> None:
    places = {"NEGOTIATOR_DATA_DIR": str(tmp_path), "NEGOTIATOR_KEYS_DIR": str(tmp_path / "keys")}
    machine, given = CommandLine(places), "--password-stdin"
    for password in ("password1234\n", "ada@corp.example\n", "Ada Lovelace\n"):
        add = ("users", "add", "ada@corp.example", "--name", "Ada Lovelace", given)
        said = machine.run(*add, given=password)
        assert (said.exit_code, said.out) == (1, "")
        assert SENTENCE in said.err
        assert password.strip() not in said.err
    assert machine.run("users", "add", "ada@corp.example").exit_code == 0
    said = machine.run("users", "password", "ada@corp.example", given, given="iloveyou1234\n")
    assert (said.exit_code, said.out) == (1, "")
    assert SENTENCE in said.err
