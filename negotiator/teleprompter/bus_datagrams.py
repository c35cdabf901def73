"""The bus of one machine: each process has a Unix datagram socket in one folder, and writes to those of the others."""

import asyncio
import contextlib
import os
import secrets
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from negotiator import telemetry
from negotiator.teleprompter.bus import (
    MAX_BUS_MESSAGE_BYTES,
    BusMessageCodec,
    BusSubscription,
    LocalBus,
)

_PATH_LIMIT: Final = 100
"""Bytes of a socket's path; `sun_path` has 108, of which macOS gives 104."""
_AGAIN: Final = 0.05
_TICK: Final = 50_000_000
log = telemetry.logger(__name__)


class DatagramBus:
    """A bus over a folder that only this service's processes may enter.

    A neighbour whose queue is full is told again in a moment, that there is news at least.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._here = LocalBus()
        self._words = BusMessageCodec()
        self._own = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._socket: socket.socket | None = None
        self._root = ""
        self._descriptor = -1
        self._seen = -1
        self._others: list[str] = []
        self._owed: set[tuple[str, str]] = set()
        self._able = hasattr(socket, "AF_UNIX")

    def tell(self, session: str, message: bytes = b"") -> None:
        """Tell those here, then every neighbour."""
        self._here.tell(session, message)
        if (own := self._open()) is None:
            return
        word = self._words.write(session, message)
        for other in self._neighbours():
            self._write(own, other, word, session=session)

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        """Ears that hear the neighbours too."""
        self._open()
        with self._here.following(*names) as ears:
            yield ears

    async def close(self) -> None:
        """Leave the folder."""
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None
            (self._folder / self._own).unlink(missing_ok=True)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._able = False

    def _open(self) -> socket.socket | None:
        """This process's socket, made when it is first needed; None where there can be none."""
        if self._socket is not None or not self._able:
            return self._socket
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._root = self._reachable()
            own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            own.setblocking(False)
            own.bind(f"{self._root}/{self._own}")
        except OSError as fault:
            self._able = False
            log.warning("workers do not hear of each other at once", detail=str(fault))
            return None
        self._socket = own
        asyncio.get_running_loop().add_reader(own, self._read, own)
        return own

    def _reachable(self) -> str:
        """A path of the folder that is short enough for a socket's address."""
        plain = str(self._folder.absolute())
        if len(os.fsencode(plain)) + len(self._own) < _PATH_LIMIT:
            return plain
        self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        return f"/proc/self/fd/{self._descriptor}"

    def _neighbours(self) -> list[str]:
        """The other sockets; looked for again when the folder has changed."""
        with contextlib.suppress(OSError):
            changed = self._folder.stat().st_mtime_ns
            if changed != self._seen:
                # Two changes within one tick of the file system's clock look like one.
                self._seen = changed if time.time_ns() - changed > _TICK else -1
                names = (path.name for path in self._folder.iterdir())
                self._others = [name for name in names if name != self._own]
        return self._others

    def _write(self, own: socket.socket, other: str, word: bytes, *, session: str) -> None:
        try:
            own.sendto(word, f"{self._root}/{other}")
        except BlockingIOError:
            self._owe(other, session)
        except (ConnectionRefusedError, FileNotFoundError):
            # Its process is gone, and left in a hurry.
            (self._folder / other).unlink(missing_ok=True)
        except OSError as fault:
            log.info("a neighbour was not told", detail=str(fault))

    def _owe(self, other: str, session: str) -> None:
        if (other, session) not in self._owed:
            self._owed.add((other, session))
            asyncio.get_running_loop().call_later(_AGAIN, self._pay, other, session)

    def _pay(self, other: str, session: str) -> None:
        self._owed.discard((other, session))
        if self._socket is not None:
            self._write(self._socket, other, self._words.write(session, b""), session=session)

    def _read(self, own: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                heard = self._words.read(own.recv(MAX_BUS_MESSAGE_BYTES + 200))
                if heard is not None:
                    self._here.tell(*heard)
