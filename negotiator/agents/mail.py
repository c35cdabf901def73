"""Mail: sent by SMTP over verified TLS, or written to an outbox folder; and how many mails an address may get."""

import asyncio
import contextlib
import ssl
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from email.utils import parseaddr
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from aiosmtplib import SMTP
from aiosmtplib.errors import SMTPException, SMTPRecipientsRefused, SMTPResponseException, SMTPSenderRefused

from negotiator.base import values
from negotiator.base.values import new_id
from negotiator.runtime.telemetry import logger
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction

log = logger(__name__)

_TEN_MINUTES: Final = 600_000_000
_PER_DAY: Final = 3
_BUDGETS: Final = (("mail", _TEN_MINUTES, 1), ("mail-day", 144 * _TEN_MINUTES // _PER_DAY, _PER_DAY))
"""The budgets of an address: the first part of the key, the interval in microseconds, the burst."""
_DEADLINE: Final = 10.0
"""Seconds for one mail, from the wait for a free connection to the server's last answer."""
_CONNECTIONS: Final = 8
_PERMANENT: Final = 500
"""From this reply code on, a server's refusal is permanent (RFC 5321 §4.2.1)."""
# A line may have 998 characters (RFC 5322 §2.1.1): a link broken at 78 could not be opened from the outbox.
_WHOLE_LINES = default.clone(max_line_length=998)
_LONGEST_NAME: Final = 40
_MOST_DIGITS: Final = 6
"""Digits that a name may have in a mail; more could be a telephone number."""


def allow_mail(tx: Transaction, email: str) -> bool:
    """Charge one mail to the budget of this address: one in ten minutes and three a day. False when it is empty.

    All kinds of mail and all senders share the budget, so that the service cannot be used to flood a mailbox.
    """
    now = values.now() * 1000
    return all(
        atomic_updates.charge_budget(tx, f"{kind}:{email}", now=now, interval=interval, burst=burst) is not None
        for kind, interval, burst in _BUDGETS
    )


def is_mail_allowed(tx: Transaction, email: str) -> bool:
    """Whether the budget of this address has room for a mail, without charging it."""
    now = values.now() * 1000
    return all(
        (atomic_updates.read_budget(tx, f"{kind}:{email}") or now) <= now + interval * (burst - 1)
        for kind, interval, burst in _BUDGETS
    )


def forget_address(tx: Transaction, email: str) -> None:
    """Delete the budgets of an address."""
    for name, _, _ in _BUDGETS:
        atomic_updates.forget_budget(tx, f"{name}:{email}")


def delete_mails(outbox: Path, emails: Collection[str]) -> int:
    """Delete the mails to these addresses from the outbox folder; returns how many."""
    deleted = 0
    for path in outbox.glob("*.eml"):
        with contextlib.suppress(FileNotFoundError):
            headers = message_from_bytes(path.read_bytes(), policy=default).get_all("To", [])
            if {each.addr_spec.lower() for to in headers for each in to.addresses} & {*emails}:
                path.unlink()
                deleted += 1
    return deleted


def quote_name(name: str) -> str:
    """Return a name chosen by a third party as a mail may show it: at most 40 characters, in quotation marks.

    Letters, digits, spaces, hyphens and underscores are kept. All digits are removed when there are more than six.
    So no mail program takes the name for an address, a link, markup or a telephone number.
    """
    plain = "".join(mark if _is_plain(mark) else " " for mark in unicodedata.normalize("NFKC", name))
    if sum(map(_is_digit, plain)) > _MOST_DIGITS:
        plain = "".join(" " if _is_digit(mark) else mark for mark in plain)
    return f'"{" ".join(plain.split())[:_LONGEST_NAME].strip() or "unnamed"}"'


def _is_plain(mark: str) -> bool:
    return mark in "-_" or unicodedata.category(mark)[0] in "LMN"


def _is_digit(mark: str) -> bool:
    return unicodedata.category(mark)[0] == "N"


def _said(failure: Exception) -> str:
    """What went wrong; a server's answer as its code and text."""
    if isinstance(failure, SMTPResponseException):
        return f"{failure.code} {failure.message}"
    return str(failure)


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """Why a mail was not sent, empty when it was; `is_final` tells that another attempt would fail too.

    `is_away` tells that the server gave no answer, so that other mails would fail as well, `is_of_recipient` that it
    takes none for this recipient.
    """

    failure: str = ""
    is_final: bool = False
    is_away: bool = False
    is_of_recipient: bool = False


class Mailer:
    """Sends plain-text mails to the SMTP server at `url`, and writes them to the `outbox` folder.

    `smtps://user:password@host:port` is TLS from the start, `smtp://` is STARTTLS. The certificate is verified against
    the system's authorities, or those of `SSL_CERT_FILE`. Only a server on loopback may be used without TLS.
    """

    def __init__(self, url: str, *, sender: str, outbox: Path) -> None:
        self._url = urlsplit(url)
        self._sender = sender
        self._outbox = outbox
        self._slots = asyncio.Semaphore(_CONNECTIONS)

    @property
    def has_server(self) -> bool:
        """Whether mails go to a server."""
        return bool(self._url.hostname)

    async def send(self, to: str, subject: str, text: str, *, message_id: str = "") -> DeliveryResult:
        """Send one mail within ten seconds and keep no copy.

        When `to` is not exactly one address, nothing is sent: it could inject a header or a recipient.
        """
        try:
            message = self._compose(to, subject, text)
            if message_id:
                message["Message-ID"] = f"<{message_id}@{self._domain}>"
        except ValueError as fault:
            return DeliveryResult(str(fault), is_final=True)
        if not self.has_server:
            return DeliveryResult("no mail server is configured")
        try:
            async with asyncio.timeout(_DEADLINE), self._slots:
                await self._deliver(message, to)
        except SMTPRecipientsRefused as refused:
            final = all(each.code >= _PERMANENT for each in refused.recipients)
            said = "; ".join(f"{each.recipient}: {each.message}" for each in refused.recipients)
            return DeliveryResult(said, is_final=final, is_of_recipient=True)
        except SMTPSenderRefused as refused:
            return DeliveryResult(f"the sender {refused.sender} is refused (NEGOTIATOR_MAIL_FROM): {refused.message}")
        except (SMTPException, OSError, ValueError) as failure:
            away = not isinstance(failure, SMTPResponseException)
            said = _said(failure) or f"no answer within {_DEADLINE:.0f} s"
            return DeliveryResult(said, is_away=away)
        return DeliveryResult()

    def keep(self, to: str, subject: str, text: str, *, failure: str = "") -> None:
        """Write a mail to a new file of the outbox folder that only the operator can read, and log its path."""
        try:
            message = self._compose(to, subject, text)
        except ValueError as fault:
            log.error("mail not written", error=str(fault))
            return
        self._keep(message, failure=failure)

    @property
    def _domain(self) -> str:
        return parseaddr(self._sender)[1].rpartition("@")[2] or "localhost"

    async def try_connect(self) -> str:
        """Connect and sign in to the server without sending; returns why that failed, empty when it worked."""
        client = self._client()
        try:
            await client.connect()
            with contextlib.suppress(SMTPException, OSError):
                await client.quit(timeout=1)
        except (SMTPException, OSError, ValueError) as failure:
            return _said(failure)
        finally:
            client.close()
        return ""

    async def _deliver(self, message: EmailMessage, to: str) -> None:
        client = self._client()
        try:
            await client.connect()
            await client.send_message(message, recipients=[to])
            with contextlib.suppress(SMTPException, OSError):
                await client.quit(timeout=1)
        finally:
            client.close()

    def _client(self) -> SMTP:
        host, over_tls = self._url.hostname or "", self._url.scheme == "smtps"
        user = self._url.username
        return SMTP(
            hostname=host,
            port=self._url.port or (465 if over_tls else 25),
            use_tls=over_tls,
            start_tls=not over_tls and not _is_loopback(host),
            tls_context=self._tls,
            username=unquote(user) if user else None,
            password=unquote(self._url.password or "") if user else None,
            timeout=_DEADLINE,
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    def _compose(self, to: str, subject: str, text: str) -> EmailMessage:
        message = EmailMessage(_WHOLE_LINES)
        message["From"], message["To"], message["Subject"] = self._sender, to, subject
        if [address.addr_spec for address in message["To"].addresses] != [to]:
            raise ValueError("not one e-mail address")
        message.set_content(text)
        return message

    def _keep(self, message: EmailMessage, *, failure: str) -> None:
        path = self._outbox / f"{new_id('mail')}.eml"
        try:
            self._outbox.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(message.as_bytes(policy=_WHOLE_LINES.clone(utf8=True)))
        except OSError as fault:
            log.error("mail lost", error=failure, outbox=str(fault))
            return
        if failure:
            log.error("mail not sent, kept in the outbox", path=str(path), error=failure)
        else:
            log.info("mail in the outbox", path=str(path))


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"
