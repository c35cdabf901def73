"""Clients that live as agents do, and a ledger of what the service acknowledged to them."""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self

import httpx2

from negotiator.base import values
from negotiator.store import audit
from negotiator.store.statement import Transaction
from tests.conftest import bearer
from tests.helpers.negotiation_client import negotiation_body
from tests.live.faults.site import HEALTH, Machine

REGISTER: Final = "/api/agent/register"
CLAIM: Final = "/api/agent/claim"
REVOKE: Final = "/oauth/revoke"
NEGOTIATIONS: Final = "/api/negotiations"
MEMORIES: Final = "/api/memories"
TOOLS: Final = "/api/v1/tools"
ANONYMOUS: Final = {"agent_name": "walker", "identity_type": "anonymous"}

SampleKind = Literal["read", "page", "write", "health"]
WITHOUT_ANSWER: Final = ("cut", "refused", "timeout")
"""Outcomes of requests that got no answer: a connection that was closed, that was refused, and none within a minute."""
_PATIENCE: Final = 60.0
_HEALTH_EACH: Final = 0.2
_NUMBERED: Final = re.compile(r"(?<=_)[0-9a-hjkmnp-tv-z]{26}")
"""What ids are numbered by: two refusals that differ only in them are the same."""
_FULL: Final = 5
"""Submissions that an agent may have waiting."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One request: when it began and ended (`time.monotonic`), and its status or why there is none."""

    kind: SampleKind
    began: float
    ended: float
    outcome: str
    detail: str = ""
    request: str = ""
    """Method and path."""

    def seconds_from(self, cause: float) -> float:
        """How long it took, the time before this moment left out."""
        return self.ended - max(self.began, cause)

    @property
    def failed(self) -> bool:
        """No answer, or one of the server's errors."""
        return self.outcome in WITHOUT_ANSWER or self.outcome.startswith("5")


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What a read has to answer from now on: its status and, if not empty, a text in it."""

    path: str
    headers: dict[str, str]
    status: int
    text: str = ""


@dataclass
class Ledger:
    """What was acknowledged, by kind and id. What a request without an answer was about is not in it."""

    entries: dict[tuple[str, str], LedgerEntry] = field(default_factory=dict[tuple[str, str], LedgerEntry])
    trail: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Events that the audit trail must have: kind and subject."""
    counts: Counter[str] = field(default_factory=Counter[str])
    """How much was acknowledged, by kind."""

    def add(self, kind: str, key: str, entry: LedgerEntry) -> None:
        """This was acknowledged."""
        self.entries[kind, key] = entry
        self.counts[kind] += 1

    def forget(self, kind: str, key: str) -> None:
        """This is about to change, so nothing is known of it until the answer."""
        self.entries.pop((kind, key), None)


@dataclass
class Load:
    """So many clients at work on these machines from `async with` until its end, and a check of health beside them.

    A client pauses up to twice `pause` seconds between requests. `weights` chooses among the methods of `LoadClient`.
    """

    machines: Sequence[Machine]
    clients: int = 16
    pause: float = 0.05
    seed: int = 1
    base: str = ""
    """Where the clients ask, when it is not the machines themselves (a proxy)."""
    retry_cut_reads: bool = True
    """Ask again, once, when an idle connection turns out to be closed, as browsers and proxies do."""
    weights: dict[str, int] = field(default_factory=lambda: dict(_WEIGHTS))
    samples: list[Sample] = field(default_factory=list[Sample])
    ledger: Ledger = field(default_factory=Ledger)
    codes: list[str] = field(default_factory=list[str])
    health_words: Counter[str] = field(default_factory=Counter[str])
    """What health called not well, by part."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])
    _ending: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def __aenter__(self) -> Self:
        if not self.codes and self.weights.get("claim"):
            self.codes = await self.machines[0].delegation_codes(400)
        for number in range(self.clients):
            client = await self._connect(number)
            life = LoadClient(self, client, random.Random(self.seed * 1000 + number))
            self._tasks.append(asyncio.create_task(life.run()))
        for number in range(len(self.machines)):
            self._tasks.append(asyncio.create_task(self._watch_health(number)))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Let every client finish its request, and end."""
        self.done.set()
        results = await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        await self._ending.aclose()
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _connect(self, number: int, keep: int = 1) -> httpx2.AsyncClient:
        machine = self.machines[number % len(self.machines)]
        client = await self._ending.enter_async_context(machine.connect(keep=keep))
        client.timeout = httpx2.Timeout(_PATIENCE)
        if self.base:
            client.base_url = self.base
        return client

    async def call(
        self, kind: SampleKind, client: httpx2.AsyncClient, method: str, path: str, **options: Any
    ) -> httpx2.Response | None:
        """One request, noted; None when it got no answer."""
        began, answer, detail = time.monotonic(), None, ""
        again = self.retry_cut_reads and method == "GET"
        while True:
            try:
                answer = await client.request(method, path, **options)
            except httpx2.TimeoutException:
                outcome = "timeout"
            except httpx2.ConnectError:
                outcome = "refused"
            except httpx2.TransportError:
                if again:
                    again = False
                    continue
                outcome = "cut"
            else:
                outcome = str(answer.status_code)
                if answer.status_code >= 400:
                    detail = f"{method} {_NUMBERED.sub('…', f'{path}: {answer.text[:110]!r}')}"
            break
        ended, request = time.monotonic(), _NUMBERED.sub("…", f"{method} {path}")
        self.samples.append(Sample(kind, began, ended, outcome, detail, request))
        return answer

    async def _watch_health(self, number: int) -> None:
        client = await self._connect(number, keep=0)
        while not self.done.is_set():
            answer = await self.call("health", client, "GET", HEALTH)
            if answer is not None and "checks" in answer.text:
                checks: dict[str, str] = answer.json()["checks"]
                for name, word in checks.items():
                    if word.partition(":")[0] not in {"ok", "off", "idle", "loading"}:
                        self.health_words[f"{name} {word}"] += 1
            await asyncio.sleep(_HEALTH_EACH)

    async def missing(self, *, newest: int | None = None) -> list[str]:
        """What was acknowledged and is not so, asked of each machine in turn; of all, or the `newest` entries."""
        asking = asyncio.Semaphore(16)
        found: list[str] = []
        async with AsyncExitStack() as opened:
            clients = [await opened.enter_async_context(machine.connect(keep=16)) for machine in self.machines]

            async def check(number: int, key: tuple[str, str], entry: LedgerEntry) -> None:
                async with asking:
                    answer = await clients[number % len(clients)].get(entry.path, headers=entry.headers)
                if answer.status_code != entry.status or entry.text not in answer.text:
                    found.append(f"{key[0]} {key[1]}: {answer.status_code} instead of {entry.status}")

            entries = list(self.ledger.entries.items())[-newest if newest else None :]
            await asyncio.gather(*(check(number, *item) for number, item in enumerate(entries)))
        found += await self.machines[0].change(self._missing_events)
        return found

    def _missing_events(self, tx: Transaction) -> list[str]:
        kinds = {kind for kind, _ in self.ledger.trail}
        there = {
            (kind, event.subject)
            for kind in kinds
            for event in audit.search(tx, audit.AuditFilter(event=kind), before="", limit=10_000_000)
        }
        return [f"trail: no {kind} of {subject}" for kind, subject in self.ledger.trail - there]


_WEIGHTS: Final = {
    "register": 4,
    "claim": 2,
    "revoke": 1,
    "open_negotiation": 5,
    "record_offer": 6,
    "write_memory": 2,
    "delete_memory": 1,
    "submit_tool": 2,
    "read_negotiations": 10,
    "read_catalogue": 5,
    "read_page": 3,
}


@dataclass
class LoadClient:
    """One agent at a time, which registers, works, may be claimed, and is revoked in the end."""

    load: Load
    client: httpx2.AsyncClient
    random: random.Random
    agent: str = ""
    token: str = ""
    claimed: bool = False
    negotiation: str = ""
    memories: list[str] = field(default_factory=list[str])
    publisher: dict[str, str] = field(default_factory=dict[str, str])
    submitted: int = 0

    async def run(self) -> None:
        """Do one thing after another until the load ends."""
        names, weights = zip(*self.load.weights.items(), strict=True)
        while not self.load.done.is_set():
            name: str = self.random.choices(names, weights)[0]
            action: Callable[[], Awaitable[None]] = getattr(self, name)
            await action()
            await asyncio.sleep(self.random.uniform(0, 2 * self.load.pause))

    async def _write(self, method: str, path: str, statuses: tuple[int, ...], **options: Any) -> dict[str, Any] | None:
        """The answer's members when it has one of these statuses."""
        answer = await self.load.call("write", self.client, method, path, **options)
        if answer is None or answer.status_code not in statuses:
            return None
        members: dict[str, Any] = answer.json() if answer.content else {}
        return members

    @property
    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    def _expect(self, kind: str, key: str, path: str, text: str = "", status: int = 200) -> None:
        entry = LedgerEntry(path, self._headers, status, text)
        self.load.ledger.add(kind, key, entry)

    async def register(self) -> None:
        made = await self._write("POST", REGISTER, (201,), json=ANONYMOUS)
        if made is None:
            return
        self.agent, self.token, self.claimed = made["client_id"], made["access_token"], False
        self.negotiation, self.memories = "", []
        self._expect("registration", self.agent, NEGOTIATIONS)
        self.load.ledger.trail.add(("agent.registered", self.agent))

    async def claim(self) -> None:
        """Redeem a code: what the agent owns moves to the user, and its token is replaced."""
        if not self.token or self.claimed or not self.load.codes:
            return
        code, ledger = self.load.codes.pop(), self.load.ledger
        owned = [key for key, each in ledger.entries.items() if each.headers == self._headers]
        known = {key: ledger.entries.pop(key) for key in owned}
        agent, old = self.agent, self.token
        self.token = ""
        body = {"claim_token": code}
        made = await self._write("POST", CLAIM, (200,), json=body, headers=_bearer(old))
        if made is None:
            return
        self.token, self.claimed = made["access_token"], True
        for key, entry in known.items():
            ledger.entries[key] = LedgerEntry(entry.path, self._headers, entry.status, entry.text)
        self._expect("claim", agent, NEGOTIATIONS)
        ledger.entries["replaced token", agent] = LedgerEntry(NEGOTIATIONS, _bearer(old), 401)
        ledger.trail.add(("agent.claimed", agent))

    async def revoke(self) -> None:
        """End the agent's token; what it owns cannot be read with it any more."""
        if not self.token or self.claimed:
            return
        ledger, headers, agent = self.load.ledger, self._headers, self.agent
        for key in [key for key, each in ledger.entries.items() if each.headers == headers]:
            del ledger.entries[key]
        form = {"token": self.token}
        self.token = ""
        if await self._write("POST", REVOKE, (200,), data=form) is not None:
            ledger.add("revocation", agent, LedgerEntry(NEGOTIATIONS, headers, 401))

    async def open_negotiation(self) -> None:
        if not self.token:
            return await self.register()
        title = f"Laptops {self.random.random()}"
        body = negotiation_body(title=title)
        made = await self._write("POST", NEGOTIATIONS, (201,), json=body, headers=self._headers)
        if made is not None:
            self.negotiation = made["id"]
            path = f"{NEGOTIATIONS}/{self.negotiation}"
            self._expect("negotiation", self.negotiation, path, title)
        return None

    async def record_offer(self) -> None:
        if not self.negotiation or not self.token:
            return await self.open_negotiation()
        path = f"{NEGOTIATIONS}/{self.negotiation}/offers"
        body = {"by": "me", "package": {"price": str(self.random.randrange(800, 1000))}}
        made = await self._write("POST", path, (201,), json=body, headers=self._headers)
        if made is not None:
            self._expect("offer", made["id"], f"{path}?limit=100", made["id"])
            if made["seq"] > 50:
                self.negotiation = ""
        return None

    async def write_memory(self) -> None:
        if not self.claimed or not self.token:
            return await self.claim()
        text = f"Acme gives way by {self.random.random()}"
        body = {"text": text}
        made = await self._write("POST", MEMORIES, (201,), json=body, headers=self._headers)
        if made is not None:
            self.memories.append(made["id"])
            self._expect("memory", made["id"], f"{MEMORIES}/{made['id']}", text)
        return None

    async def delete_memory(self) -> None:
        if not self.memories or not self.token:
            return
        key = self.memories.pop()
        self.load.ledger.forget("memory", key)
        path = f"{MEMORIES}/{key}"
        if await self._write("DELETE", path, (204,), headers=self._headers) is not None:
            self._expect("deletion", key, path, status=404)

    async def submit_tool(self) -> None:
        """Propose a tool to the directory; at the quota, as another agent."""
        if not self.publisher or self.submitted >= _FULL:
            name = f"publisher-{values.new_ulid()}"
            scopes = ["tools:read", "tools:write"]
            body = {"agent_name": "publisher", "identity_type": "agent_id", "identity_value": name}
            body = {**body, "requested_scopes": scopes}
            made = await self._write("POST", "/api/auth/register", (201,), json=body)
            if made is not None:
                self.publisher, self.submitted = _bearer(made["api_key"]), 0
                entry = LedgerEntry(f"{TOOLS}?limit=1", self.publisher, 200)
                self.load.ledger.add("directory agent", made["client_id"], entry)
            return
        self.submitted += 1
        host = f"t{values.new_ulid()}.example"
        tool = {"name": host, "summary": "Works", "kind": "app", "category": "coding"}
        tool["homepage_url"] = f"https://{host}"
        made = await self._write("POST", TOOLS, (201, 202), json=tool, headers=self.publisher)
        if made is not None:
            path = f"/api/v1/submissions/{made['id']}"
            self.load.ledger.add("submission", made["id"], LedgerEntry(path, self.publisher, 200, host))
            self.load.ledger.trail.add(("submission.made", made["id"]))

    async def read_negotiations(self) -> None:
        if self.token:
            headers = self._headers
            await self.load.call("read", self.client, "GET", NEGOTIATIONS, headers=headers)

    async def read_catalogue(self) -> None:
        await self.load.call("read", self.client, "GET", f"{TOOLS}?limit=5")

    async def read_page(self) -> None:
        await self.load.call("page", self.client, "GET", "/tools")


def _bearer(token: str) -> dict[str, str]:
    return {name.lower(): value for name, value in bearer({"access_token": token}).items()}
