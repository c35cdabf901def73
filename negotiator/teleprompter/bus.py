"""The bus: it wakes the followers of a session in every process that shares the store.

A message on the bus is a wake-up and may carry a volatile event (a growing utterance, a level). It may be lost, so a
follower also reads the numbered events every `POLL_SECONDS`. `Bus` reaches one process, `DatagramBus` one machine;
`bus_servers` has the buses over PostgreSQL and Redis.
"""

import asyncio
import contextlib
import hashlib
import os
import secrets
import socket
import time
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from negotiator.runtime import telemetry
from negotiator.store.store import Store

log = telemetry.logger(__name__)

POLL_SECONDS: Final = 2.0
_VOLATILE: Final = 32


def revocation_topic(subject: str) -> str:
    """The topic of a subject's revocations: ASCII without blanks, never equal to a session's id."""
    return f"revoked-{hashlib.sha256(subject.encode()).hexdigest()[:32]}"


def publish_revocations(store: Store, bus: "Bus") -> None:
    """After each commit, send the subjects whose credentials it revoked to every process."""

    def send(subjects: Sequence[str]) -> None:
        for subject in set(subjects):
            bus.tell(revocation_topic(subject))

    store.listen(send)


class BusSubscription:
    """What one follower has not read yet; at most 32 volatile messages, the oldest is lost first."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque(maxlen=_VOLATILE)
        self._woken = asyncio.Event()

    def tell(self, message: bytes) -> None:
        """Wake the follower; an empty message is a wake-up only."""
        if message:
            self._messages.append(message)
        self._woken.set()

    async def listen(self, seconds: float) -> list[bytes]:
        """The volatile messages since the last call, after waiting up to `seconds` for a wake-up."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return []
        self._woken.clear()
        messages = list(self._messages)
        self._messages.clear()
        return messages


MAX_BUS_MESSAGE_BYTES: Final = 7_900
"""PostgreSQL takes fewer than 8,000 bytes in a NOTIFY. A longer message is sent as a wake-up only."""


class Bus:
    """Reaches every follower of a session in this process; its subclasses also those in other processes.

    Processes send each other `<process> <session> <message>`.
    """

    def __init__(self) -> None:
        self._process = secrets.token_hex(6).encode()
        self._subscriptions: dict[str, set[BusSubscription]] = {}

    def tell(self, session: str, message: bytes = b"") -> None:
        """Wake the followers of a session; never waits, never fails."""
        for subscription in self._subscriptions.get(session, ()):
            subscription.tell(message)

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        """A subscription to sessions and topics, for the duration of the block."""
        subscription = BusSubscription()
        for name in names:
            self._subscriptions.setdefault(name, set()).add(subscription)
        try:
            yield subscription
        finally:
            for name in names:
                self._subscriptions[name].discard(subscription)
                if not self._subscriptions[name]:
                    del self._subscriptions[name]

    def wake_all(self) -> None:
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.tell(b"")

    async def close(self) -> None:
        """Close connections."""

    def line(self, session: str, message: bytes = b"") -> bytes:
        """A message for other processes, as bytes; a wake-up when it is too long."""
        head = b"%b %b " % (self._process, session.encode())
        return head if len(head) + len(message) > MAX_BUS_MESSAGE_BYTES else head + message

    def hear(self, line: bytes) -> bool:
        """Tell the followers in this process what another one sent; whether this process sent the line itself."""
        process, _, rest = line.partition(b" ")
        session, separator, message = rest.partition(b" ")
        is_own = process == self._process
        if separator and not is_own:
            Bus.tell(self, session.decode(errors="replace"), message)
        return is_own


_PATH_LIMIT: Final = 100
"""Bytes of a socket's path; `sun_path` has 108, of which macOS gives 104."""
_RETRY_SECONDS: Final = 0.05
_CLOCK_TICK_NS: Final = 50_000_000


class DatagramBus(Bus):
    """A bus over the processes of one machine: each has a Unix datagram socket in one private folder.

    A process whose queue is full is sent a wake-up again after 50 ms.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._own = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._socket: socket.socket | None = None
        self._root = ""
        self._descriptor = -1
        self._read_at = -1
        self._peers: list[str] = []
        self._unsent: set[tuple[str, str]] = set()
        self._usable = hasattr(socket, "AF_UNIX")

    def tell(self, session: str, message: bytes = b"") -> None:
        super().tell(session, message)
        if (own := self._open()) is None:
            return
        line = self.line(session, message)
        for other in self._peer_names():
            self._write(own, other, line, session=session)

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        self._open()
        with super().following(*names) as subscription:
            yield subscription

    async def close(self) -> None:
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None
            self._remove(self._own)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._usable = False

    def _open(self) -> socket.socket | None:
        """This process's socket, made at the first call; None where Unix sockets cannot be used."""
        if self._socket is not None or not self._usable:
            return self._socket
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._root = self._reachable()
            own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            own.setblocking(False)
            own.bind(f"{self._root}/{self._own}")
        except OSError as fault:
            self._usable = False
            log.warning("workers do not hear of each other at once", detail=str(fault))
            return None
        self._socket = own
        asyncio.get_running_loop().add_reader(own, self._read, own)
        return own

    def _reachable(self) -> str:
        """A path of the folder that is short enough for the address of a socket."""
        plain = str(self._folder.absolute())
        if len(os.fsencode(plain)) + len(self._own) < _PATH_LIMIT:
            return plain
        self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        return f"/proc/self/fd/{self._descriptor}"

    def _peer_names(self) -> list[str]:
        """The names of the other sockets; the folder is read again when it has changed."""
        with contextlib.suppress(OSError):
            changed = self._folder.stat().st_mtime_ns
            if changed != self._read_at:
                # Two changes within one tick of the file system's clock look like one.
                self._read_at = changed if time.time_ns() - changed > _CLOCK_TICK_NS else -1
                names = (path.name for path in self._folder.iterdir())
                self._peers = [name for name in names if name != self._own]
        return self._peers

    def _write(self, own: socket.socket, other: str, line: bytes, *, session: str) -> None:
        try:
            own.sendto(line, f"{self._root}/{other}")
        except BlockingIOError:
            self._retry_later(other, session)
        except (ConnectionRefusedError, FileNotFoundError):
            # Its process ended without removing it.
            self._remove(other)
        except OSError as fault:
            log.info("a bus message was not sent", detail=str(fault))

    def _remove(self, name: str) -> None:
        with contextlib.suppress(OSError):  # gone, or on a disk that takes no changes
            (self._folder / name).unlink()

    def _retry_later(self, other: str, session: str) -> None:
        if (other, session) not in self._unsent:
            self._unsent.add((other, session))
            asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._retry, other, session)

    def _retry(self, other: str, session: str) -> None:
        self._unsent.discard((other, session))
        if self._socket is not None:
            self._write(self._socket, other, self.line(session), session=session)

    def _read(self, own: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self.hear(own.recv(MAX_BUS_MESSAGE_BYTES + 200))
