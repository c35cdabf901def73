"""Reaching the owner of a mailbox: by SMTP when configured, else into an outbox folder."""

import asyncio
import smtplib
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from negotiator import values
from negotiator.store import moves
from negotiator.store.statement import Transaction
from negotiator.telemetry import logger
from negotiator.values import new_id

log = logger(__name__)

_TEN_MINUTES = 600_000_000
_PER_DAY = 3
_TIMEOUT = 20
# A line may have 998 characters (RFC 5322 §2.1.1): a link broken at 78 could not be opened from the outbox.
_WHOLE_LINES = default.clone(max_line_length=998)


def may_write(tx: Transaction, email: str) -> bool:
    """Take one mail to this address from its budget: one in ten minutes, three a day, whoever asks for them.

    Nobody can be flooded through us; every reason to write draws on the same budget.
    """
    now = values.now() * 1000
    if not moves.bump(tx, f"mail:{email}", now=now, interval=_TEN_MINUTES, burst=1):
        return False
    day = 144 * _TEN_MINUTES // _PER_DAY
    return moves.bump(tx, f"mail-day:{email}", now=now, interval=day, burst=_PER_DAY) is not None


class Mailer(Protocol):
    """Sends one plain-text mail."""

    async def send(self, to: str, subject: str, text: str) -> None:
        """Hand the mail over; raises `OSError` when that fails."""
        ...


class Outbox:
    """A folder of `.eml` files, for machines without a mail server. Its path is logged with every mail."""

    def __init__(self, folder: Path, sender: str) -> None:
        self._folder = folder
        self._sender = sender

    async def send(self, to: str, subject: str, text: str) -> None:
        """Write the mail to a file of its own, readable by the operator only."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{new_id('mail')}.eml"
        path.touch(mode=0o600)
        path.write_bytes(_message(self._sender, to, subject, text).as_bytes())
        log.info("mail in the outbox", path=str(path))


class Smtp:
    """An SMTP server: `smtp://user:password@host:port` with STARTTLS where offered, or `smtps://`."""

    def __init__(self, url: str, sender: str) -> None:
        self._url = urlsplit(url)
        self._sender = sender

    async def send(self, to: str, subject: str, text: str) -> None:
        """Send from a thread: smtplib blocks."""
        await asyncio.to_thread(self._send, _message(self._sender, to, subject, text))

    def _send(self, message: EmailMessage) -> None:
        host, port = self._url.hostname or "localhost", self._url.port or 0
        kind = smtplib.SMTP_SSL if self._url.scheme == "smtps" else smtplib.SMTP
        with kind(host, port, timeout=_TIMEOUT) as server:
            server.ehlo()
            if self._url.scheme == "smtp" and server.has_extn("starttls"):
                server.starttls()
            if self._url.username:
                server.login(unquote(self._url.username), unquote(self._url.password or ""))
            server.send_message(message)


def mailer(smtp_url: str, *, outbox: Path, sender: str) -> Mailer:
    """SMTP when a server is configured, else the outbox folder."""
    return Smtp(smtp_url, sender) if smtp_url else Outbox(outbox, sender)


def _message(sender: str, to: str, subject: str, text: str) -> EmailMessage:
    message = EmailMessage(_WHOLE_LINES)
    message["From"], message["To"], message["Subject"] = sender, to, subject
    message.set_content(text)
    return message
