"""A clock that is set an hour forwards or back, by libfaketime, on one machine or on all."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake
from websockets.typing import Subprotocol

from negotiator.base import values
from negotiator.base.scopes import ASSISTANT
from negotiator.compose.application import build_application
from negotiator.store.statement import Transaction
from negotiator.teleprompter.websocket_messages import SUBPROTOCOL, TICKET_PREFIX
from negotiator.tokens import authorization_codes, clients
from negotiator.tokens.authorization_codes import NewGrant, s256_challenge
from negotiator.tokens.clients import JWT_BEARER, NewClient
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.helpers.dpop_proofs import DpopProver
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.teleprompter_client import CONSENT, PATH, SCOPES
from tests.live.faults.load import ANONYMOUS, CLAIM, NEGOTIATIONS, REGISTER, TOOLS, Load
from tests.live.faults.row import Bounds, Finding, Row, observed
from tests.live.faults.site import SECRET, Machine, Site, progress
from tests.live.faults.wrong_clock import WrongClock

_HOUR: Final = 3600
_SWEEP: Final = 65.0
"""Seconds that pass at each setting of the clock: one round of housekeeping, which runs each minute."""
_CLIENTS: Final = 6
_LOG_LINES: Final = 10
_CALLBACK: Final = "https://app.example/callback"
_VERIFIER: Final = "v" * 43
_TOKEN: Final = "/oauth/token"


@dataclass
class OneTimeThing:
    """What may be used once. `use` sends the same request each time and tells whether it was let in."""

    name: str
    use: Callable[[httpx2.AsyncClient], Awaitable[bool]]
    accepted: int = 0


@dataclass
class OneTimeThings:
    """Makes one-time things of every kind, and uses each of them again and again."""

    machines: Sequence[Machine]
    made: list[OneTimeThing] = field(default_factory=list[OneTimeThing])
    client: tuple[str, str] = ("", "")
    user: str = ""

    async def prepare(self) -> None:
        """Trust an issuer and add a client and a user."""
        machine = self.machines[0]
        self.issuer = FakeIssuer(machine.base)

        def unit(tx: Transaction) -> tuple[tuple[str, str], str]:
            new = NewClient("c", clients.GRANTS, tuple(ASSISTANT), (_CALLBACK,))
            issuer_queries.add(tx, self.issuer.issuer(), own=machine.base, allow_loopback=False)
            return clients.add(tx, new), user_queries.add(tx, "bob@example.com", actor="operator")

        self.client, self.user = await machine.change(unit)
        self.mint = build_application(machine.application_settings).delegations.mint

    async def make(self, ahead: int) -> list[OneTimeThing]:
        """One of each kind; what a client signs has the time of a clock that is ahead by so many seconds."""
        machine = self.machines[0]
        now = values.now() // 1000 + ahead
        challenge = s256_challenge(_VERIFIER)
        grant = NewGrant(self.client[0], self.user, ["openid"], "", _CALLBACK, "n", challenge, 0)

        def unit(tx: Transaction) -> tuple[str, str, str]:
            minted = self.mint(tx, self.user, list(ASSISTANT), ttl=_HOUR).code
            for_call = self.mint(tx, self.user, list(SCOPES), ttl=_HOUR).code
            issue = authorization_codes.issue_code
            return minted, for_call, issue(tx, grant, pepper=SECRET.encode())

        code, for_call, authorization_code = await machine.change(unit)
        stamps: dict[str, Any] = {"iat": now, "exp": now + 300}
        assertion, granted = (
            self.issuer.assertion(**stamps, client_id=client) for client in ("corp-agent", self.client[0])
        )
        proof = DpopProver().proof("POST", REGISTER, htu=f"{machine.base}{REGISTER}", iat=now)
        form = {"grant_type": "authorization_code", "code": authorization_code}
        form |= {"redirect_uri": _CALLBACK, "code_verifier": _VERIFIER}

        async def claim(http: httpx2.AsyncClient) -> bool:
            agent = (await http.post(REGISTER, json=ANONYMOUS)).json()
            body = {"claim_token": code}
            return (await http.post(CLAIM, json=body, headers=bearer(agent))).is_success

        batch = [
            OneTimeThing("assertion", _sends(REGISTER, json=registration(assertion))),
            OneTimeThing(
                "assertion at the token endpoint",
                _sends(_TOKEN, data={"grant_type": JWT_BEARER, "assertion": granted}, auth=self.client),
            ),
            OneTimeThing("DPoP proof", _sends(REGISTER, json=ANONYMOUS, headers={"DPoP": proof})),
            OneTimeThing("delegation code", claim),
            OneTimeThing("authorization code", _sends(_TOKEN, data=form, auth=self.client)),
            *await self._ticket(for_call),
        ]
        self.made += batch
        return batch

    async def _ticket(self, code: str) -> list[OneTimeThing]:
        """A ticket for a socket; none when the clock forbids to make one."""
        async with self.machines[0].connect() as http:
            agent = (await http.post(REGISTER, json=ANONYMOUS)).json()
            claimed = await http.post(CLAIM, json={"claim_token": code}, headers=bearer(agent))
            if not claimed.is_success:
                return []
            headers = bearer(claimed.json())
            opened = await http.post(PATH, json={"consent": CONSENT, "role": "buyer"}, headers=headers)
            if not opened.is_success:
                return []
            session = f"{PATH}/{opened.json()['id']}"
            ticket = (await http.post(f"{session}/tickets", headers=headers)).json()["ticket"]

        async def use(http: httpx2.AsyncClient) -> bool:
            base = str(http.base_url).rstrip("/").replace("http", "ws", 1)
            offered = [Subprotocol(each) for each in (SUBPROTOCOL, f"{TICKET_PREFIX}{ticket}")]
            try:
                async with connect(f"{base}{session}/stream", subprotocols=offered):
                    return True
            except InvalidHandshake:
                return False

        return [OneTimeThing("ticket", use)]

    async def use_all(self) -> None:
        """Use everything made so far at every machine; `accepted` counts how often it was let in."""
        for machine in self.machines:
            async with machine.connect(keep=8) as http:
                for thing in self.made:
                    thing.accepted += await thing.use(http)


def _sends(path: str, **options: Any) -> Callable[[httpx2.AsyncClient], Awaitable[bool]]:
    async def use(http: httpx2.AsyncClient) -> bool:
        return (await http.post(path, **options)).is_success

    return use


@dataclass
class EverydayKeys:
    """An agent and an address that make a few ordinary requests at each setting of the clock."""

    machines: Sequence[Machine]
    headers: dict[str, str] = field(default_factory=dict[str, str])
    clients: list[httpx2.AsyncClient] = field(default_factory=list[httpx2.AsyncClient])

    async def prepare(self) -> None:
        """Register the agent."""
        self.clients = [machine.connect(keep=2) for machine in self.machines]
        answer = await self.clients[0].post(REGISTER, json=ANONYMOUS)
        self.headers = bearer(answer.json())

    async def ask(self) -> list[str]:
        """The requests that a limit refused, or a fault."""
        refused: list[str] = []
        for client in self.clients:
            for _ in range(3):
                answers = [
                    await client.get(NEGOTIATIONS, headers=self.headers),
                    await client.get(f"{TOOLS}?limit=1"),
                    await client.post(REGISTER, json=ANONYMOUS),
                ]
                refused += [
                    f"{answer.request.method} {answer.request.url.path}: {answer.status_code}, "
                    f"Retry-After {answer.headers.get('retry-after')}"
                    for answer in answers
                    if answer.status_code == 429 or answer.status_code >= 500
                ]
        return refused

    async def close(self) -> None:
        """Close the connections."""
        for client in self.clients:
            await client.aclose()


async def _steps(site: Site, name: str, machines: Sequence[Machine], clocks: Sequence[WrongClock]) -> Finding:
    """An hour ahead, right, an hour behind, right again; a round of housekeeping at each."""
    things, keys = OneTimeThings(machines), EverydayKeys(machines)
    await things.prepare()
    await keys.prepare()
    load = Load(machines, _CLIENTS, pause=0.3)
    bounds = Bounds(cut=0, recovery=None, log_lines=None)
    broken: list[str] = []
    async with observed(name, machines, bounds, load, quiet=1) as seen:
        first = await things.make(0)
        await things.use_all()
        broken += [f"{each.name}: not let in at first" for each in first if not each.accepted]
        async with seen.fault():
            for ahead in (_HOUR, 0, -_HOUR, 0):
                progress(f"{name}: the clock is set to {ahead:+d} s")
                for clock in clocks:
                    clock.set(ahead)
                await asyncio.sleep(2.5)
                broken += [f"at {ahead:+d} s {each}" for each in await keys.ask()]
                if ahead:
                    await things.make(ahead)
                await things.use_all()
                await asyncio.sleep(3 if site.small else _SWEEP)
                await things.use_all()
        last = await things.make(0)
        await things.use_all()
        broken += [f"{each.name}: not let in at last" for each in last if not each.accepted]
    await keys.close()
    finding = seen.finding
    # A refused assertion is a line of its own, which tells the operator why.
    finding.log = [each for each in finding.log if "info" not in each]
    if len(finding.log) > _LOG_LINES:
        finding.broken.append(f"{len(finding.log)} log lines")
    finding.broken += broken[:8]
    finding.broken += [f"{each.name} let in {each.accepted} times" for each in things.made if each.accepted > 1]
    finding.notes.append(f"{len(things.made)} one-time things, {sum(each.accepted for each in things.made)} let in")
    return finding


_SETTINGS: Final = {"token_ttl": "86400", "limit_rpm": "600", "limit_baseline_rpm": "600", "limit_directory_rpm": "600"}


async def one_machine(site: Site) -> list[Finding]:
    """SQLite, two workers: the only machine's clock."""
    clock = WrongClock(site.folder / "clock")
    machine = await site.machine(prefix=clock.prefix, **_SETTINGS)
    return [await _steps(site, "Clock ±1 h, SQLite, 2 workers", [machine], [clock])]


async def two_machines(site: Site) -> list[Finding]:
    """PostgreSQL, two machines: the clock of one of them, then of both."""
    postgres = await site.postgres()
    findings: list[Finding] = []
    for words, wrong in (("one machine of two", 1), ("both machines", 2)):
        url = await site.database(postgres)
        folder = site.folder / words.replace(" ", "-")
        folder.mkdir()
        clocks = [WrongClock(folder / f"clock{number}") for number in range(2)]
        machines: list[Machine] = []
        for clock in clocks:
            base = {"base_url": machines[0].base} if machines else {}
            options: dict[str, Any] = {**_SETTINGS, **base, "database_url": url}
            machines.append(await site.machine(workers=1, prefix=clock.prefix, keys=folder / "keys", **options))
        began = time.monotonic()
        name = f"Clock ±1 h, PostgreSQL, {words}"
        findings.append(await _steps(site, name, machines, clocks[:wrong]))
        for machine in machines:
            await asyncio.to_thread(machine.stop)
        progress(f"{name}: {time.monotonic() - began:.0f} s")
    return findings


ROWS: Final = (
    Row("clock-sqlite", "the clock is set by an hour and back, SQLite", one_machine),
    Row("clock-postgres", "the same on one machine of two, then on both, PostgreSQL", two_machines),
)
