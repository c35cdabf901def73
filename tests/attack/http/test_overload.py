"""Requests that are refused because they would wait too long, over real sockets."""

from collections.abc import Generator
from pathlib import Path

import pytest

from negotiator.store.waiting import Priority
from tests.contract.requirements import covers
from tests.helpers.bare_server import BareServer, serve, statuses

GET, POST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"POST / HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
def busy(tmp_path: Path) -> Generator[BareServer]:
    """A server whose database has no time for changes."""

    def wait(priority: Priority) -> float:
        return 5.0 if priority == Priority.CHANGE else 0.0

    with serve(tmp_path, database_wait=wait) as running:
        yield running


@covers("1.11:overload")
def test_a_change_is_refused_at_once_and_a_read_on_the_same_connection_is_served(busy: BareServer) -> None:
    closing = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with busy.connect() as made:
        made.sendall(POST + b"Content-Length: 2\r\n\r\n{}")
        refused = made.recv(65_536)
        made.sendall(closing)
        served = made.recv(65_536)
    assert statuses(refused) == [503]
    assert b"\r\nretry-after: " in refused
    assert b"temporarily_unavailable" in refused
    assert statuses(served) == [200]


def test_a_refused_request_with_connection_close_closes(busy: BareServer) -> None:
    received = busy.exchange(POST + b"Connection: close\r\nContent-Length: 0\r\n\r\n")
    assert statuses(received) == [503]
    assert b"\r\nconnection: close\r\n" in received
