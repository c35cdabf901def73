"""The queue of mails: a row in the unit that asks, sent after its commit by any process, again until it is of no use.

A mail counts against the budget of its address when it went out. While one waits for an address, no other is queued for
it. The text, which may hold a link that grants something, is stored encrypted.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from opentelemetry.trace import SpanKind
from sqlalchemy import BigInteger, LargeBinary, bindparam, delete, or_, update
from sqlmodel import Field, col, func, select

from negotiator.agents.mail import Mailer, allow_mail, is_mail_allowed
from negotiator.base import values
from negotiator.base.errors import Unavailable
from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.tracing import NEW_TRACE, span
from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity
from negotiator.store.store import Store

LOOK_EVERY: Final = 10.0
"""Seconds between two looks for mails that wait."""
CLAIM: Final = 60_000
"""Milliseconds for which a process that sends a mail keeps it from the others."""
FIRST_RETRY: Final = 30_000
LONGEST_RETRY: Final = 900_000
"""Milliseconds until the second attempt; after answers of the server each further wait is four times as long, up to
the longest."""
AT_ONCE: Final = 8
_NONCE: Final = 12


class QueuedMail(TableModel, table=True):
    """A mail that was not sent yet. `text` is encrypted; after `until` (milliseconds) it is of no use.

    `attempts` is negative where the mail server refused the recipient for now, which is no failure of the server.
    """

    __tablename__ = "mails"
    __table_args__ = table_options(
        erased_by={"recipient": "email"},
        kept="mail_queue writes a mail that could not be sent into the outbox folder and deletes its row",
    )

    id: str = Field(primary_key=True)
    recipient: str = Field(index=True)
    subject: str
    text: bytes = Field(sa_type=LargeBinary)
    attempts: int
    next_at: int = Field(sa_type=BigInteger, index=True)
    until: int = Field(sa_type=BigInteger)


_IS_TIME = or_(
    col(QueuedMail.next_at) <= bindparam("now", type_=BigInteger),
    # No mail waits so long: the clock was ahead when it was queued.
    col(QueuedMail.next_at) > bindparam("longest", type_=BigInteger),
)
_ADD = RowInsertion(QueuedMail)
_OF_RECIPIENT = Query(
    select(func.count()).where(col(QueuedMail.recipient) == bindparam("recipient")), lambda row: int(row[0])
)
_DUE = Query(
    select(QueuedMail).where(_IS_TIME).order_by(col(QueuedMail.next_at)).limit(bindparam("limit")), entity(QueuedMail)
)
_COUNTS = Query(
    select(func.count(), func.count().filter(col(QueuedMail.attempts) > 0)), lambda row: (int(row[0]), int(row[1]))
)
_IS_DUE = Query(select(col(QueuedMail.id)).where(_IS_TIME).limit(1), lambda row: str(row[0]))
_POSTPONE = Statement(
    update(QueuedMail)
    .where(col(QueuedMail.id) == bindparam("mail"))
    .values(attempts=bindparam("new_attempts"), next_at=bindparam("new_next_at", type_=BigInteger))
)
_DELETE = Statement(delete(QueuedMail).where(col(QueuedMail.id) == bindparam("mail")))


@dataclass(frozen=True, slots=True)
class MailCipher:
    """Encrypts the texts of queued mails with a key that is derived from the server's secret (AES-256-GCM)."""

    secret: bytes

    def encrypt(self, mail_id: str, text: str) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._key().encrypt(nonce, text.encode(), mail_id.encode())

    def decrypt(self, mail_id: str, sealed: bytes) -> str:
        """The text; `cryptography.exceptions.InvalidTag` when it was encrypted with another secret."""
        return self._key().decrypt(sealed[:_NONCE], sealed[_NONCE:], mail_id.encode()).decode()

    def _key(self) -> AESGCM:
        return AESGCM(blake2b(self.secret, digest_size=32, person=b"mail-queue").digest())


class MailQueue:
    """Queues mails in the caller's unit and sends them after it."""

    def __init__(self, store: Store, mailer: Mailer, secret: bytes) -> None:
        self._store = store
        self._mailer = mailer
        self._cipher = MailCipher(secret)
        self._news = asyncio.Event()
        self._faults = FaultLog("mails cannot be sent")
        self._breaker = CircuitBreaker(
            "",  # `_faults` logs
            "Mails cannot be sent now.",
            seconds=CLAIM / 1000,
            at_once=AT_ONCE,
            cool_down=LOOK_EVERY,
        )
        self.waiting = 0
        """The mails that were not sent yet, by any process, when this one looked last."""
        self._delayed = 0

    def add(self, tx: Transaction, to: str, subject: str, text: str, *, life: int) -> bool:
        """Queue a mail that is of use for `life` milliseconds; False when its address got enough mails.

        The caller calls `dispatch` once the unit is committed.
        """
        if tx.one(_OF_RECIPIENT, recipient=to) or not is_mail_allowed(tx, to):
            return False
        now, mail_id = values.now(), values.new_id("mail")
        tx.run(
            _ADD,
            id=mail_id,
            recipient=to,
            subject=subject,
            text=self._cipher.encrypt(mail_id, text),
            attempts=0,
            next_at=now,
            until=now + life,
        )
        return True

    async def dispatch(self) -> None:
        """Let the queued mails go: to the server in the background, to the outbox folder at once."""
        if self._mailer.has_server:
            self._news.set()
        else:
            await self.send_due()

    async def run(self) -> None:
        """Send what is due, at each dispatch and every ten seconds, until cancelled."""
        while True:
            try:
                await self.send_due()
            except Unavailable:
                pass  # the database is away, whose own log tells of it; the mails stay queued
            except Exception as fault:
                self._faults.failed(str(fault))
            self._news.clear()
            try:
                async with asyncio.timeout(LOOK_EVERY):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def send_due(self) -> None:
        """Send every mail that is due and that no other process is sending, eight at a time.

        A server that does not answer is tried with one mail every ten seconds.
        """
        while not self._breaker.wait_seconds and await self._store.read(lambda tx: tx.one(_IS_DUE, **_clock())):
            most = 1 if self._breaker.is_open else AT_ONCE
            claimed = await self._store.write(partial(_claim, most=most))
            await asyncio.gather(*(self._send(mail) for mail in claimed))
            await self._count()
        await self._count()

    async def _count(self) -> None:
        found = await self._store.read(lambda tx: tx.one(_COUNTS))
        self.waiting, self._delayed = found or (0, 0)

    def state(self) -> str:
        """`ok`, `off` without a mail server, or `failing` while mails wait for another attempt by any process."""
        if not self._mailer.has_server:
            return "off"
        if not self._delayed:
            return "ok"
        reason = f" ({self._faults.error})" if self._faults.error else ""
        return f"failing: {self._delayed} waiting for another attempt{reason}"

    async def _send(self, mail: QueuedMail) -> None:
        text = self._cipher.decrypt(mail.id, bytes(mail.text))
        if not self._mailer.has_server:
            self._mailer.keep(mail.recipient, mail.subject, text)
            await self._store.write(lambda tx: _sent(tx, mail))
            return
        with span("smtp", SpanKind.CLIENT, parent=NEW_TRACE):
            result = await self._mailer.send(mail.recipient, mail.subject, text, message_id=mail.id)
        if result.is_away:
            self._breaker.failed(result.failure)
        else:
            self._breaker.worked()
        if not result.failure:
            self._faults.worked()
            await self._store.write(lambda tx: _sent(tx, mail))
            return
        if not result.is_final and not result.is_of_recipient:
            self._faults.failed(result.failure)
        # The mail is not at fault when the server is away: it goes soon after the server is back.
        delay = FIRST_RETRY if result.is_away else FIRST_RETRY * 4 ** abs(mail.attempts)
        next_at = values.now() + min(delay, LONGEST_RETRY)
        if result.is_final or next_at >= mail.until:
            # An erasure may have deleted the mail while it was on its way.
            if await self._store.read(lambda tx: tx.one(_OF_RECIPIENT, recipient=mail.recipient)):
                self._mailer.keep(mail.recipient, mail.subject, text, failure=result.failure)
            await self._store.write(lambda tx: tx.run(_DELETE, mail=mail.id))
            return
        tried = abs(mail.attempts) + 1
        attempts = -tried if result.is_of_recipient else tried
        await self._store.write(lambda tx: tx.run(_POSTPONE, mail=mail.id, new_attempts=attempts, new_next_at=next_at))


def _clock() -> dict[str, int]:
    """The moments between which a mail waits."""
    now = values.now()
    return {"now": now, "longest": now + LONGEST_RETRY}


def _claim(tx: Transaction, *, most: int) -> Sequence[QueuedMail]:
    """The mails that are due, kept from other processes for a minute."""
    now = values.now()
    due = tx.all(_DUE, **_clock(), limit=most)
    for mail in due:
        tx.run(_POSTPONE, mail=mail.id, new_attempts=mail.attempts, new_next_at=now + CLAIM)
    return due


def _sent(tx: Transaction, mail: QueuedMail) -> None:
    allow_mail(tx, mail.recipient)
    tx.run(_DELETE, mail=mail.id)
