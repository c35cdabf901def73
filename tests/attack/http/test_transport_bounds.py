"""Headers, bodies and time are bounded in the protocol, and each refusal is an answer."""

import contextlib
import logging
import select
import socket
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from starlette.requests import Request

from negotiator.console.browser_sessions import BrowserCookies
from negotiator.discovery.documents import preferred_media_type
from negotiator.http.connections import MAX_TARGET, ConnectionCount
from tests.contract.requirements import covers
from tests.helpers.bare_server import SMALL, BareServer, receive_all, serve, statuses

GET: Final = b"GET / HTTP/1.1\r\nHost: x\r\n"
CLOSE: Final = GET + b"Connection: close\r\n\r\n"
UPLOAD: Final = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
CHUNKED: Final = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
HANDSHAKE: Final = (
    b"GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
LIMIT: Final = SMALL.header_bytes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[BareServer]:
    """One server for all tests that leave it as it was."""
    with serve(tmp_path_factory.mktemp("meters")) as running:
        yield running


@pytest.fixture(scope="module")
def patient_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[BareServer]:
    """The same with long deadlines: what is closed here is closed for its place."""
    bounds = replace(SMALL, header_timeout=60, body_timeout=60, idle_timeout=60, write_timeout=60)
    with serve(tmp_path_factory.mktemp("meters"), bounds) as running:
        yield running


def head_of(size: int, first: bytes = GET) -> bytes:
    """A request head of exactly this many bytes that asks for the connection to close."""
    start = first + b"Connection: close\r\nA: "
    return start + b"a" * (size - len(start) - 4) + b"\r\n\r\n"


def refusal(received: bytes) -> dict[str, Any]:
    """The body of the last response, which has to be a refusal in the service's shape that closes."""
    head, _, body = received.rpartition(b"\r\n\r\n")
    last = head[head.rindex(b"HTTP/1.1 ") :].lower()
    assert b"connection: close" in last
    assert b"cache-control: no-store" in last
    assert b"x-content-type-options: nosniff" in last
    members: dict[str, Any] = orjson.loads(body)
    assert members.keys() == {"error", "error_description", "request_id"}
    assert b"x-request-id: " + members["request_id"].encode() in last
    return members


def test_a_server_that_stops_answers_what_is_sent_over_a_kept_connection(tmp_path: Path) -> None:
    """A proxy that kept the connection cannot know yet; the answer tells it to close."""
    with serve(tmp_path) as running, running.connect() as kept, running.connect() as silent:
        kept.sendall(GET + b"\r\n")
        assert statuses(kept.recv(65_536)) == [200]
        running.begin_to_stop()
        kept.sendall(GET + b"\r\n")
        received = receive_all(kept)
        assert statuses(received) == [200]
        assert b"connection: close" in received.lower()
        assert receive_all(silent) == b""


def test_headers_of_just_the_allowed_size_are_read(server: BareServer) -> None:
    assert statuses(server.exchange(head_of(LIMIT))) == [200]


@covers("1.11:header-bounds")
def test_one_byte_more_is_refused(server: BareServer) -> None:
    received = server.exchange(head_of(LIMIT + 1))
    assert statuses(received) == [431]
    assert str(LIMIT) in refusal(received)["error_description"]


def test_a_header_of_megabytes_is_refused_and_its_sender_can_read_why(server: BareServer) -> None:
    began = time.process_time()
    received = server.exchange(GET + b"A: " + b"a" * 20_000_000)
    assert statuses(received) == [431]
    assert time.process_time() - began < 2


def test_headers_that_come_one_byte_at_a_time_are_counted_as_a_whole(server: BareServer) -> None:
    head = head_of(LIMIT + 1)
    with server.connect() as made:
        made.sendall(head[: LIMIT - 20])
        for byte in head[LIMIT - 20 :]:
            with contextlib.suppress(OSError):
                made.sendall(bytes([byte]))
        assert statuses(receive_all(made)) == [431]


def test_the_count_begins_anew_with_each_request_of_a_connection(server: BareServer) -> None:
    kept = GET + b"A: " + b"a" * (LIMIT - 200) + b"\r\n\r\n"
    received = server.exchange(*[kept] * 5, CLOSE, gap=0.02)
    assert statuses(received) == [200] * 6


def test_a_long_body_does_not_count_as_headers(server: BareServer) -> None:
    body = b"b" * (LIMIT * 20)
    received = server.exchange(UPLOAD % len(body) + body)
    assert statuses(received) == [200]
    assert f'"bytes":{len(body)}'.encode() in received


def test_many_small_headers_are_refused_by_their_number(server: BareServer) -> None:
    count = SMALL.header_count
    assert statuses(server.exchange(CLOSE[:-2] + b"A: b\r\n" * (count - 2) + b"\r\n")) == [200]
    received = server.exchange(CLOSE[:-2] + b"A: b\r\n" * (count - 1) + b"\r\n")
    assert statuses(received) == [431]
    assert str(count) in refusal(received)["error_description"]


def test_a_long_target_is_414(tmp_path: Path) -> None:
    with serve(tmp_path, replace(SMALL, header_bytes=16_384)) as running:
        fits = b"GET /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert statuses(running.exchange(fits % (b"a" * (MAX_TARGET - 1)))) == [200]
        for size in (MAX_TARGET, 40_000):
            received = running.exchange(fits % (b"a" * size))
            assert statuses(received) == [414]
            refusal(received)


@pytest.mark.parametrize(
    "sent",
    [
        GET + b"Bad Name: x\r\n\r\n",
        GET + b"A: b\r\n folded\r\n\r\n",
        b"X" * 3000,
        b"GET http://elsewhere.example HTTP/1.1\r\n\r\n",
        b"CONNECT host:443 HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        GET + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        GET + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        CHUNKED + b"zz\r\n",
    ],
)
def test_what_is_no_http_is_a_refusal_in_our_shape(server: BareServer, sent: bytes) -> None:
    received = server.exchange(sent)
    assert statuses(received) == [400]
    assert refusal(received)["error"] == "invalid_request"


def test_a_refusal_comes_after_the_answers_that_are_owed(server: BareServer) -> None:
    received = server.exchange((GET + b"\r\n") * 3 + GET + b"Bad Name: x\r\n\r\n")
    assert statuses(received) == [200, 200, 200, 400]
    refusal(received)


def test_a_bad_body_behind_a_pipelined_request_spoils_only_its_own_answer(server: BareServer) -> None:
    received = server.exchange(GET + b"\r\n" + CHUNKED + b"zz\r\n")
    assert statuses(received) == [200, 400]


def test_pipelined_requests_are_bounded(server: BareServer) -> None:
    received = server.exchange((GET + b"\r\n") * 100)
    found = statuses(received)
    assert found[-1] == 503
    assert set(found[:-1]) == {200}
    assert 60 < len(found) < 70


def test_a_stream_with_a_pipelined_request_behind_it_ends_with_its_client(server: BareServer) -> None:
    with server.connect() as made:
        made.sendall(GET.replace(b"/", b"/stream", 1) + b"\r\n" + GET + b"\r\n")
        assert made.recv(100).startswith(b"HTTP/1.1 200")
    streams = [each for each in server.seen if each["path"] == "/stream"]
    server.until(lambda: "ended" in streams[-1])


def test_trailers_never_become_headers(server: BareServer) -> None:
    received = server.exchange(CHUNKED + b"2\r\nhi\r\n0\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n")
    assert statuses(received) == [200]
    assert b"forwarded" not in received


@pytest.mark.parametrize("rest", [b"0\r\nA: ", b"2;extension="])
def test_trailers_and_chunk_extensions_are_bounded_like_headers(server: BareServer, rest: bytes) -> None:
    received = server.exchange(CHUNKED + rest + b"b" * (3 * LIMIT))
    assert statuses(received) == [431]


def test_chunks_of_one_byte_are_read(server: BareServer) -> None:
    received = server.exchange(CHUNKED + b"1\r\nb\r\n" * 5000 + b"0\r\n\r\n")
    assert b'"bytes":5000' in received


def test_an_offer_of_another_protocol_is_ignored_and_the_connection_closes(server: BareServer) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    assert statuses(server.exchange(GET + upgrade + CLOSE)) == [200]


def test_a_body_behind_an_upgrade_is_never_taken_for_a_request(server: BareServer) -> None:
    before = len(server.seen)
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    head = GET + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: %d\r\n\r\n"
    assert statuses(server.exchange(head % len(smuggled), smuggled, gap=0.1)) == [400]
    assert all(scope["path"] != "/smuggled" for scope in server.seen[before:])


def test_a_silent_connection_is_closed(server: BareServer) -> None:
    began = time.monotonic()
    assert server.exchange() == b""
    assert time.monotonic() - began < 10


@covers("1.11:slow-requests")
def test_half_a_head_is_answered_408(server: BareServer) -> None:
    received = server.exchange(GET)
    assert statuses(received) == [408]
    assert refusal(received)["error"] == "request_timeout"


def test_a_head_that_drips_has_no_longer_than_one_that_stops(server: BareServer) -> None:
    began = time.monotonic()
    assert statuses(server.exchange(GET, *[b"a"] * 10, gap=0.1)) == [408]
    assert time.monotonic() - began < 10


def test_half_a_body_is_answered_408(server: BareServer) -> None:
    received = server.exchange(UPLOAD % 100 + b"{")
    assert statuses(received) == [408]
    assert refusal(received)["error"] == "request_timeout"


def test_a_body_that_drips_is_answered_408(server: BareServer) -> None:
    assert statuses(server.exchange(UPLOAD % 100, *[b"b"] * 12, gap=0.1)) == [408]


def test_a_body_that_comes_steadily_may_take_its_time(server: BareServer) -> None:
    part = b"b" * 8192
    received = server.exchange(UPLOAD % (len(part) * 12), *[part] * 12, gap=0.1)
    assert statuses(received) == [200]


def test_an_idle_connection_is_closed_after_its_time(server: BareServer) -> None:
    received = server.exchange(GET + b"\r\n")
    assert statuses(received) == [200]


def test_a_connection_is_used_again_within_its_time(server: BareServer) -> None:
    received = server.exchange(*[GET + b"\r\n"] * 6, gap=0.2)
    assert statuses(received) == [200] * 6


def test_a_body_that_nobody_wanted_is_not_read_for_ever(server: BareServer) -> None:
    early = b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n"
    began = time.monotonic()
    received = server.exchange(early, *[b"b" * 8192] * 25, gap=0.1)
    assert statuses(received) == [200]
    assert time.monotonic() - began < 15


def test_a_stream_outlives_every_deadline(server: BareServer) -> None:
    with server.connect() as made:
        made.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(2)
        made.settimeout(0.2)
        assert b"begun" in made.recv(65_536)
        with pytest.raises(TimeoutError):
            made.recv(1)


def test_a_client_that_does_not_read_is_let_go(server: BareServer) -> None:
    before = server.count("write_timeout")
    with server.connect() as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.sendall(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
        server.until(lambda: server.count("write_timeout") > before)
    server.until(lambda: not server.connections.stalled)


def test_a_client_that_reads_slowly_gets_everything(tmp_path: Path) -> None:
    with serve(tmp_path, replace(SMALL, write_timeout=2)) as running, running.connect() as made:
        made.sendall(b"GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = 0
        while chunk := made.recv(400_000):
            received += len(chunk)
            time.sleep(0.01)
        assert received > 32_000_000


def test_one_address_has_its_own_limit(patient_server: BareServer) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(SMALL.connections_per_address):
            stack.enter_context(patient_server.connect("127.0.0.9"))
        received = patient_server.exchange(CLOSE, source="127.0.0.9")
        assert statuses(received) == [503]
        assert refusal(received)["error"] == "temporarily_unavailable"
        assert b"retry-after: " in received.lower()
        assert statuses(patient_server.exchange(CLOSE, source="127.0.0.10")) == [200]
    patient_server.until(lambda: not patient_server.connections.requests.is_full_for("127.0.0.9"))


def test_when_all_are_taken_the_one_that_waited_longest_makes_place(patient_server: BareServer) -> None:
    sources = ("127.0.0.11", "127.0.0.12")
    evicted = patient_server.count("evicted")
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(patient_server.connect(sources[number % 2])) for number in range(SMALL.connections)]
        assert statuses(patient_server.exchange(CLOSE)) == [200]
        assert patient_server.count("evicted") == evicted + 1
        assert held[0].recv(1) == b""
        held[1].sendall(CLOSE)
        assert statuses(receive_all(held[1])) == [200]


def test_a_crowd_that_never_sends_a_request_closes_no_connection_that_had_an_answer(patient_server: BareServer) -> None:
    evicted = patient_server.count("evicted")
    crowd = 3 * SMALL.connections
    with contextlib.ExitStack() as stack, patient_server.connect() as kept:
        kept.sendall(GET + b"\r\n")
        assert statuses(kept.recv(65_536)) == [200]
        for number in range(crowd):
            silent = stack.enter_context(patient_server.connect(f"127.0.0.{20 + number % 8}"))
            silent.sendall(GET[: number % 2])
        patient_server.until(lambda: patient_server.count("evicted") >= evicted + crowd // 2)
        kept.sendall(CLOSE)
        assert statuses(receive_all(kept)) == [200]


def read_slowly(connection: socket.socket) -> int:
    """How many bytes come until the end, read by a client that takes its time and never stops."""
    received, end = 0, time.monotonic() + 1.5
    while part := connection.recv(65_536):
        received += len(part)
        time.sleep(0.01 if time.monotonic() < end else 0)
    return received


def test_clients_that_read_nothing_make_place_before_those_that_work(tmp_path: Path) -> None:
    bounds = replace(SMALL, connections=5, idle_timeout=60, write_timeout=60)
    with serve(tmp_path, bounds) as running, contextlib.ExitStack() as stack:
        kept, reading, *deaf = (stack.enter_context(running.connect()) for _ in range(5))
        kept.sendall(GET + b"\r\n")
        assert statuses(kept.recv(65_536)) == [200]
        for made in (*deaf, reading):
            made.sendall(b"GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        running.until(lambda: len(running.connections.stalled) >= len(deaf))
        reads = stack.enter_context(ThreadPoolExecutor(1)).submit(read_slowly, reading)
        time.sleep(1.2)
        fresh = [stack.enter_context(running.connect()) for _ in deaf]
        for made in fresh:
            made.sendall(GET + b"\r\n")
            assert statuses(made.recv(65_536)) == [200]
        assert running.count("evicted") == len(deaf)
        running.until(lambda: len(running.connections.stalled) <= 1)
        assert reads.result() > 32_000_000
        kept.sendall(CLOSE)
        assert statuses(receive_all(kept)) == [200]


def test_those_that_were_told_that_they_are_late_make_place_at_once(tmp_path: Path) -> None:
    bounds = replace(SMALL, header_timeout=1, idle_timeout=60)
    with serve(tmp_path, bounds) as running, contextlib.ExitStack() as stack, running.connect() as kept:
        kept.sendall(GET + b"\r\n")
        assert statuses(kept.recv(65_536)) == [200]
        late = [
            stack.enter_context(running.connect(f"127.0.0.{40 + number % 8}"))
            for number in range(SMALL.connections - 1)
        ]
        for made in late:
            made.sendall(GET)
        running.until(lambda: running.count("header_timeout") == len(late))
        for number in range(SMALL.connections // 2):
            made = stack.enter_context(running.connect(f"127.0.0.{48 + number % 8}"))
            made.sendall(CLOSE)
            assert statuses(receive_all(made)) == [200]
        kept.sendall(CLOSE)
        assert statuses(receive_all(kept)) == [200]


def test_a_kept_connection_whose_next_head_is_not_complete_is_one_of_the_crowd(patient_server: BareServer) -> None:
    with contextlib.ExitStack() as stack:
        held = [
            stack.enter_context(patient_server.connect(f"127.0.0.{30 + number % 8}"))
            for number in range(SMALL.connections)
        ]
        for made in held:
            made.sendall(GET + b"\r\n")
            assert statuses(made.recv(65_536)) == [200]
        begun = held[-SMALL.connections // 2 :]
        for made in begun:
            made.sendall(GET[:1])
        patient_server.until(lambda: 2 * len(patient_server.connections.waiting) >= SMALL.connections)
        assert statuses(patient_server.exchange(CLOSE)) == [200]
        closed, _, _ = select.select(held, [], [], 30)
        assert [(made in begun, made.recv(1)) for made in closed] == [(True, b"")]
        held[0].sendall(CLOSE)
        assert statuses(receive_all(held[0])) == [200]


def test_connections_at_work_are_not_closed_for_new_ones(tmp_path: Path) -> None:
    with serve(tmp_path, replace(SMALL, connections=8)) as running, contextlib.ExitStack() as stack:
        busy = [stack.enter_context(running.connect()) for _ in range(8)]
        for made in busy:
            made.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        running.until(lambda: len(running.seen) == 8)
        assert statuses(running.exchange(CLOSE)) == [503]
        assert [statuses(receive_all(made)) for made in busy] == [[200]] * 8


def test_streams_have_a_limit_of_their_own(server: BareServer) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(SMALL.streams_per_address):
            made = stack.enter_context(server.connect())
            made.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"200" in made.recv(65_536)
        server.until(lambda: server.connections.streams.total == SMALL.streams_per_address)
        assert server.connections.requests.total <= 1
        refused = server.exchange(b"GET /stream HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert statuses(refused) == [503]
        handshake = server.exchange(HANDSHAKE + b"\r\n")
        assert statuses(handshake) == [503]
        assert refusal(handshake)["error"] == "temporarily_unavailable"
        assert statuses(server.exchange(CLOSE)) == [200]
    server.until(lambda: server.connections.streams.total == 0)


def test_a_websocket_counts_as_a_stream_until_it_ends(server: BareServer) -> None:
    with server.connect() as made:
        made.sendall(HANDSHAKE + b"\r\n")
        assert b"101" in made.recv(65_536)
        assert server.connections.streams.total == 1
        assert server.connections.requests.total == 0
    server.until(lambda: server.connections.streams.total == 0)


def test_a_message_of_endless_empty_fragments_is_refused(server: BareServer) -> None:
    with server.connect() as made:
        made.sendall(HANDSHAKE + b"\r\n")
        assert b"101" in made.recv(65_536)
        mask = b"\x80\0\0\0\0"
        made.sendall(b"\x01" + mask + (b"\x00" + mask) * 3000)
        assert (1009).to_bytes(2) in receive_all(made)


@pytest.mark.parametrize("after", [b"", b"\x88\x82\0\0\0\0\x03\xe8"])
def test_a_text_that_is_not_utf_8_closes_without_a_trace(
    server: BareServer, after: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), server.connect() as made:
        made.sendall(HANDSHAKE + b"\r\n")
        assert b"101" in made.recv(65_536)
        made.sendall(b"\x81\x81\0\0\0\0\xff" + after)
        assert receive_all(made)[:1] == b"\x88"
    ours = ("uvicorn", "websockets", "negotiator")
    assert [record for record in caplog.records if record.name.startswith(ours)] == []


def test_a_handshake_that_the_library_could_not_read_is_refused_before(tmp_path: Path) -> None:
    with serve(tmp_path, replace(SMALL, header_bytes=16_384)) as running:
        long = HANDSHAKE + b"A: " + b"a" * 9000 + b"\r\n\r\n"
        assert statuses(running.exchange(long)) == [431]
        assert statuses(running.exchange(HANDSHAKE + b"Content-Length: 3\r\n\r\n")) == [400]


def test_a_handshake_behind_an_unanswered_request_is_refused(server: BareServer) -> None:
    assert statuses(server.exchange(GET + b"\r\n" + HANDSHAKE + b"\r\n")) == [200, 400]


def test_trusted_proxies_are_not_limited_as_one_client(tmp_path: Path) -> None:
    with serve(tmp_path, proxies=(ip_network("127.0.0.1/32"),)) as running:
        with contextlib.ExitStack() as stack:
            for _ in range(SMALL.connections_per_address + 2):
                stack.enter_context(running.connect())
            assert statuses(running.exchange(CLOSE)) == [200]
        assert running.connections.key("127.0.0.1") == ""


def test_ipv6_addresses_count_by_their_64(server: BareServer) -> None:
    key = server.connections.key
    assert key("2001:db8::1") == key("2001:db8::ffff:1")
    assert key("2001:db8::1") != key("2001:db8:0:1::1")
    assert key("::ffff:192.0.2.1") == key("192.0.2.1")


def test_a_tally_forgets_addresses_that_are_gone() -> None:
    tally = ConnectionCount(5, 2)
    for number in range(1000):
        tally.add(str(number))
        tally.remove(str(number))
    assert tally.total == 0
    assert not vars(tally)["_by_address"]


def test_there_are_fewer_connections_than_descriptors() -> None:
    wanted = replace(SMALL, connections=4096, streams=4096)
    assert wanted.within(20_000) == wanted
    for descriptors in (64, 256, 1024, 4096):
        held = wanted.within(descriptors)
        assert held.connections + held.streams + held.refused < descriptors
        assert held.connections > descriptors // 8


def test_nothing_is_left_of_many_connections(server: BareServer) -> None:
    def present() -> None:
        for sent in (CLOSE, GET, b"", b"bad\r\n\r\n", HANDSHAKE + b"\r\n"):
            with contextlib.suppress(OSError), server.connect() as made:
                made.sendall(sent)

    threads = [threading.Thread(target=present) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connections = server.connections
    server.until(lambda: connections.requests.total == connections.streams.total == 0)
    left = vars(connections)
    server.until(lambda: not any(left[name] for name in ("_members", "_refused", "waiting")))
    assert not connections.uploading


def test_cookies_are_read_by_name_and_never_unquoted() -> None:
    cookies = BrowserCookies("https://negotiator.test", b"pepper")
    name = b"__Host-negotiator-session"
    sent = [b"a=b; " + name + b"=older; " + name + b"=text.1; c", b"d"]
    request = Request({"type": "http", "headers": [(b"cookie", each) for each in sent]})
    assert cookies.read(request, "session") == "text.1"
    assert cookies.read(request, "pending-sign-in") == ""
    quoted = Request({"type": "http", "headers": [(b"cookie", name + b'="te\\170t"')]})
    assert cookies.read(quoted, "session") == '"te\\170t"'


def test_an_accept_header_that_is_too_long_says_nothing() -> None:
    forms = ("text/html", "text/markdown")
    assert preferred_media_type("text/markdown", forms) == "text/markdown"
    assert preferred_media_type('text/markdown;a="x,y\\"", */*;q=0.1', forms) == "text/markdown"
    assert preferred_media_type("text/markdown" + "," * 3000, forms) == "text/html"
