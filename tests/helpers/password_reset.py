"""Asking for a new password by mail, and setting it by the link."""

import re
from collections.abc import AsyncGenerator

import pytest_asyncio
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from tests.conftest import connect, make_settings, running
from tests.helpers.form_browser import BASE, FormBrowser, redirect_path
from tests.helpers.recording_smtp import RecordingSmtp, recording_smtp

FORGOTTEN = "/sign-in/forgotten"
NEW = "seven green otters swim"
LINK = re.compile(rf"{re.escape(BASE)}(/password/usr_[0-9a-z]{{26}}-[0-9a-f]+-[0-9a-f]{{64}})\s")


@pytest_asyncio.fixture
async def smtp() -> AsyncGenerator[RecordingSmtp]:
    """A mail server that takes everything."""
    async with recording_smtp("plain") as server:
        yield server


@pytest_asyncio.fixture
async def mailing(settings: Settings, smtp: RecordingSmtp) -> AsyncGenerator[Starlette]:
    """An application with mail."""
    url = f"smtp://127.0.0.1:{smtp.port}"
    async with running(make_settings(settings.data_dir, settings.keys_dir, smtp_url=url)) as application:
        yield application


async def ask(application: Starlette, email: str = "ada@example.com") -> str:
    """What a stranger is told who asks for a link."""
    async with connect(application) as client:
        answer = await FormBrowser(client).send(FORGOTTEN, on=FORGOTTEN, email=email)
        assert answer.status_code == 200
        return answer.text


async def link_in(smtp: RecordingSmtp) -> str:
    """The path of the link in the newest mail."""
    text = (await smtp.received()).get_content()
    found = LINK.search(text)
    assert found, text
    return found[1]


async def choose(application: Starlette, link: str, new: str = NEW, again: str = NEW) -> tuple[int, str]:
    """Open the link and send the form: status, and where it leads or what it says."""
    async with connect(application) as client:
        browser = FormBrowser(client)
        opened = await browser.open(link)
        if opened.status_code != 200:
            return opened.status_code, opened.text
        answer = await browser.send(link, on=link, new=new, repeated=again)
        led = answer.status_code == 303
        return answer.status_code, redirect_path(answer) if led else answer.text
