"""What strangers choose, an agent's name and an address, and what of it a mail carries."""

import re
import tempfile
from email.message import EmailMessage
from email.parser import Parser
from email.policy import default
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.agents.assertion_registration import EmailVerification
from negotiator.agents.mail import Mailer, quote_name
from negotiator.agents.mail_queue import MailQueue
from negotiator.base.errors import ValidationFailed
from negotiator.config.settings import load
from negotiator.config.settings_files import SettingsError
from negotiator.directory.accounts_registration import queue_code
from negotiator.store.statement import Transaction
from negotiator.users.user_queries import normalise_email

BASE = "https://negotiator.example"
MARKS = "\r\n\0\t :/.@<>\"'()[]*_`#&=?%\\.․。｡⁄∕：＠＜\u202e\u200b\x1b"
NAMES = st.text(max_size=150) | st.text(MARKS + "aA1-", max_size=60)
HOSTILE = (
    "https://evil.example/login",
    "evil.example",
    "evil。example",
    "EVIL．example",
    "<a href=//evil.example>click</a>",
    "[click](https://evil.example)",
    "boss@evil.example",
    "call +1 (800) 555-0199 now",
    "\r\nBcc: victim@corp.example\r\n\r\nhello",
    "\x1b]8;;https://evil.example\x07click",
)


@given(NAMES)
def test_a_name_in_a_mail_is_quoted_short_and_points_nowhere(name: str) -> None:
    shown = quote_name(name)
    assert (shown[0], shown[-1]) == ('"', '"')
    assert 1 <= len(shown[1:-1]) <= 40
    assert not set(shown[1:-1]) & set(MARKS.replace(" ", "").replace("_", ""))
    assert sum(mark.isdigit() for mark in shown) <= 6


def test_an_ordinary_name_is_left_as_it_is() -> None:
    for name in ("Claude-4 at Corp", "Zoë's helper".replace("'", " "), "मोल भाव", "交渉助手", "x_1"):
        assert quote_name(name) == f'"{name}"'
    assert quote_name("...") == '"unnamed"'


def sent(name: str, to: str) -> list[EmailMessage]:
    """The mails of both services for this name and address."""

    def write(folder: Path) -> None:
        mailer = Mailer("", sender="n@negotiator.example", outbox=folder)

        def keep(_tx: Transaction, to: str, subject: str, text: str, *, life: int) -> bool:
            mailer.keep(to, subject, text)
            return life > 0

        mails, tx = create_autospec(MailQueue, instance=True), create_autospec(Transaction)
        mails.add.side_effect = keep
        verification = EmailVerification(BASE, mails)
        verification.request(tx, "s" * 43, email=to, agent_id="agt_1", agent_name=name)
        queue_code(tx, mails, "12345678", base=BASE, email=to, agent_name=name)

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        texts = [each.read_text() for each in sorted(Path(folder).glob("*.eml"))]
        return [Parser(EmailMessage, policy=default).parsestr(text) for text in texts]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_adds_no_link_no_header_and_no_recipient(name: str) -> None:
    mails = sent(name, "ada@corp.example")
    assert len(mails) == 2
    for mail in mails:
        assert sorted(key.lower() for key in mail) == sorted(
            ["from", "to", "subject", "content-type", "content-transfer-encoding", "mime-version"]
        )
        text = mail.get_content()
        assert text.count("://") == text.count(f"{BASE}")
        assert "evil.example" not in text.lower()
        assert "@" not in text
        assert not re.search(r"\d{3}.*\d{4}", text.replace("12345678", ""))


@given(st.text(max_size=60) | st.from_regex(r"[^@]{1,20}@[^@]{1,20}\.[a-z]{2,3}", fullmatch=True))
def test_an_address_that_is_taken_is_the_only_recipient(text: str) -> None:
    try:
        to = normalise_email(text)
    except ValidationFailed:
        return
    for mail in sent("x", to):
        assert [address.addr_spec for address in mail["to"].addresses] == [to]
        assert mail["bcc"] is None
        assert mail["cc"] is None


@pytest.mark.asyncio
@pytest.mark.parametrize("to", ["a@b.example\r\nBcc: c@d.example", "a@b.c, d@e.f", "a@b.c.", ""])
async def test_what_is_not_one_address_is_never_written_to(tmp_path: Path, to: str) -> None:
    mailer = Mailer("", sender="n@n.example", outbox=tmp_path)
    mailer.keep(to, "S", "text\n")
    assert (await mailer.send(to, "S", "text\n")).is_final
    assert list(tmp_path.glob("*.eml")) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smtp_url", "mail.example:25"),
        ("smtp_url", "http://mail.example"),
        ("smtp_url", "smtp://"),
        ("smtp_url", "smtp://mail.example:port"),
        ("smtp_url", "smtp://mail.example/x"),
        ("redis_url", "localhost:6379"),
        ("redis_url", "redis://localhost:port"),
        ("mail_from", "n@n.example\r\nBcc: x@y.example"),
        ("mail_from", "a@n.example, b@n.example"),
        ("mail_from", ""),
    ],
)
def test_an_address_that_cannot_work_stops_the_start(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name.upper()):
        load(**{name: value})
