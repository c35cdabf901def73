"""A forgotten password in a real browser: the mail comes by SMTP, the link sets a password, every browser is out."""

import asyncio
import re
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final

import pytest
from playwright.sync_api import Browser

from negotiator.users import session_queries, user_queries
from tests.helpers.chromium import PASSWORD, Tab, tab
from tests.helpers.chromium import chromium as chromium
from tests.helpers.live_server import PATIENCE, Server
from tests.helpers.recording_smtp import RecordingSmtp, recording_smtp

NEW: Final = "seven green otters swim"


@contextmanager
def mail_server() -> Generator[RecordingSmtp]:
    """A mail server in a thread of its own."""
    started, ended = Event(), Event()
    made: list[RecordingSmtp] = []

    async def serve() -> None:
        async with recording_smtp("plain") as server:
            made.append(server)
            started.set()
            await asyncio.to_thread(ended.wait)

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(asyncio.run, serve())
        assert started.wait(PATIENCE)
        yield made[0]
        ended.set()
        running.result()


@pytest.fixture(scope="module")
def mails() -> Generator[RecordingSmtp]:
    """What the service sent."""
    with mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def mailing_server(tmp_path_factory: pytest.TempPathFactory, mails: RecordingSmtp) -> Generator[Server]:
    """A service with mail, and an account for Ada."""
    folder: Path = tmp_path_factory.mktemp("house")
    server = Server(folder, workers=1, settings={"smtp_url": f"smtp://127.0.0.1:{mails.port}"})
    server.start()
    hashed = user_queries.hash_password(PASSWORD)
    server.change_now(
        lambda tx: user_queries.add(tx, "ada@example.com", name="Ada", password_hash=hashed, actor="operator")
    )
    yield server
    server.stop()


def enter(one: Tab, password: str) -> None:
    """Fill the sign-in form and send it."""
    one.open("/sign-in?next=/account")
    one.fill("E-mail", "ada@example.com")
    one.fill("Password", password)
    one.press("Sign in")
    one.page.wait_for_load_state()


def newest_link(mails: RecordingSmtp) -> str:
    """The link in the mail, which may still be on its way."""
    until = time.monotonic() + PATIENCE
    while not mails.mails and time.monotonic() < until:
        time.sleep(0.05)
    found = re.search(r"http://\S+/password/\S+", mails.mails[-1].get_content())
    assert found
    return found[0]


def test_a_forgotten_password_is_replaced_by_mail(
    chromium: Browser, mailing_server: Server, mails: RecordingSmtp
) -> None:
    with chromium.new_context() as desk, chromium.new_context(viewport={"width": 390, "height": 844}) as phone:
        signed_in, one = tab(desk, mailing_server.base), tab(phone, mailing_server.base)
        enter(signed_in, PASSWORD)
        signed_in.at("/account")
        enter(one, "not the password at all")
        assert one.sees("E-mail or password is wrong.")
        assert one.page.get_by_label("E-mail").input_value() == "ada@example.com"
        one.page.get_by_role("link", name="Forgot your password?").click()
        one.fill("E-mail", "ada@example.com")
        one.press("Send the link")
        one.page.get_by_role("heading", name="Check your mail").wait_for()
        link = newest_link(mails)
        one.open(link)
        one.page.get_by_label("New password at least").fill("password1234")
        one.page.get_by_label("New password again").fill("password1234")
        one.press("Set the password")
        one.page.get_by_text("Uncommon words are better.").wait_for()
        one.page.get_by_label("New password at least").fill(NEW)
        one.page.get_by_label("New password again").fill(NEW)
        one.press("Set the password")
        one.page.get_by_text("Your password was changed. Sign in with the new one.").wait_for()
        signed_in.open("/account")
        assert signed_in.page.url.endswith("/sign-in?next=%2Faccount")
        enter(one, NEW)
        one.at("/account")
        one.open(link)
        assert one.sees("This link does not work any more") or one.sees("This link was used")
        assert one.outside == []

    ada = mailing_server.change_now(lambda tx: user_queries.by_email(tx, "ada@example.com"))
    sessions = mailing_server.change_now(lambda tx: session_queries.of_user(tx, ada.id))
    assert len(sessions) == 1, "the new one only"
