"""Floods and crowds against two real workers: they keep their processes, and others are served meanwhile."""

import contextlib
import resource
import socket
import statistics
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

from tests.helpers.bare_server import receive_all, statuses
from tests.helpers.live_server import Server

WORKERS: Final = 2
CROWD: Final = 10_000
PER_ADDRESS: Final = 200
SERVED_WITHIN: Final = 5.0
"""Seconds in which half of the other requests are answered, whatever else the machine does."""
HEALTH: Final = b"GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


class Others:
    """A client of another address that asks for the service's health all the time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.seconds: list[float] = []
        self.answers: list[list[int]] = []

    def __enter__(self) -> "Others":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._ended.is_set() or len(self.answers) < 10:
            began = time.monotonic()
            with connect(self._port, "127.0.0.77") as made:
                made.sendall(HEALTH)
                self.answers.append(statuses(receive_all(made)))
            self.seconds.append(time.monotonic() - began)
            time.sleep(0.01)

    def check(self) -> None:
        """All were answered, and most of them soon."""
        assert self.answers == [[200]] * len(self.answers)
        assert statistics.median(self.seconds) < SERVED_WITHIN


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """Two workers that trust no proxy; what was printed has no crash in it."""
    started = Server(
        tmp_path_factory.mktemp("server"),
        workers=WORKERS,
        settings={"trusted_proxies": "", "limit_rpm": "1000000", "header_timeout": "20"},
    )
    started.start()
    yield started
    started.stop()
    log = (started.folder / "log").read_text()
    assert "Traceback" not in log


@pytest.fixture
def steady(server: Server) -> Generator[int]:
    """The port of the server, whose workers are the same ones after the test."""
    before = _workers(server)
    assert len(before) >= WORKERS
    yield server.port
    assert _workers(server) == before


def connect(port: int, source: str) -> socket.socket:
    """A connection from this loopback address."""
    return socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(source, 0))


def send(port: int, request: bytes, source: str = "127.0.0.2") -> list[int]:
    """The statuses of the answers to this."""
    with connect(port, source) as made:
        with contextlib.suppress(OSError):
            made.sendall(request)
        return statuses(receive_all(made))


@pytest.mark.parametrize(
    ("head", "value"),
    [
        (b"GET / HTTP/1.1\r\nAccept: ", b'"' + b'\\"' * 7500),
        (b"GET /tools HTTP/1.1\r\nAccept: ", b"a/b;q=" * 2500),
        (b"GET /sign-in HTTP/1.1\r\nCookie: negotiator-session=", b'"' + b'\\"' * 7500 + b'"'),
        (b"GET /oauth/authorize HTTP/1.1\r\nCookie: ", b"negotiator-session=;" * 750),
        (b"GET /api/negotiations HTTP/1.1\r\nAuthorization: DPoP ", b"." * 15_000),
        (b"GET /sign-in HTTP/1.1\r\nX: ", b"a" * 10_000_000),
        (b"GET /sign-in HTTP/1.1\r\n", b"A: b\r\n" * 100_000),
    ],
    ids=["accept", "weights", "quotes", "cookies", "dots", "endless", "many"],
)
def test_a_flood_of_headers_delays_nobody(steady: int, head: bytes, value: bytes) -> None:
    with Others(steady) as others:
        answers = [send(steady, head + value + b"\r\nConnection: close\r\n\r\n") for _ in range(8)]
    others.check()
    assert all(len(answer) == 1 and answer[0] < 500 for answer in answers)


def test_slow_clients_delay_nobody(steady: int) -> None:
    half = b"POST /api/agent/register HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
    with contextlib.ExitStack() as stack, Others(steady) as others:
        slow = [stack.enter_context(connect(steady, f"127.0.3.{n % 4}")) for n in range(400)]
        for number, made in enumerate(slow):
            made.sendall(half if number % 2 else b"GET / HTTP/1.1\r\nA: ")
        for _ in range(5):
            for made in slow:
                made.sendall(b"a")
            time.sleep(0.1)
    others.check()


def test_ten_thousand_idle_connections_keep_nobody_out(steady: int, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    crowd = min(CROWD, hard - 500)
    if crowd < CROWD:
        print(f"only {crowd}: this machine allows {hard} open files")  # noqa: T201
    try:
        with contextlib.ExitStack() as stack:
            for number in range(crowd):
                source = f"127.0.{10 + number // PER_ADDRESS // 250}.{1 + number // PER_ADDRESS % 250}"
                stack.enter_context(connect(steady, source))
            with Others(steady) as others:
                time.sleep(1)
            others.check()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _workers(server: Server) -> list[int]:
    """The processes that the supervisor started."""
    assert server.process is not None
    pid = server.process.pid
    return sorted(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
