"""One-time things, presented fifty times at once to two machines: each works once."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Final

import httpx2

from negotiator.base.scopes import ASSISTANT
from negotiator.store.statement import Transaction
from negotiator.tokens import authorization_codes, clients
from negotiator.tokens.authorization_codes import NewGrant, s256_challenge
from negotiator.tokens.clients import JWT_BEARER, NewClient
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.helpers.dpop_proofs import DpopProver
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.negotiation_client import negotiation_body
from tests.live.faults.load import ANONYMOUS, CLAIM, NEGOTIATIONS, REGISTER
from tests.live.faults.row import Finding, Row
from tests.live.faults.site import SECRET, Machine, Site, progress

_CROWD: Final = 50
_TOKEN: Final = "/oauth/token"
_CALLBACK: Final = "https://app.example/callback"
_VERIFIER: Final = "v" * 43


@dataclass
class OneTimeRaces:
    """Races over connections to all machines in turn. Each method is one round and says what went wrong."""

    machines: Sequence[Machine]
    clients: list[httpx2.AsyncClient]
    issuer: FakeIssuer
    user: str
    machine_client: tuple[str, str]
    application: str

    async def _all(self, ask: Callable[[httpx2.AsyncClient, int], Awaitable[httpx2.Response]]) -> list[httpx2.Response]:
        chosen = zip(range(_CROWD), cycle(self.clients), strict=False)
        return await asyncio.gather(*(ask(client, number) for number, client in chosen))

    async def _register(self) -> dict[str, str]:
        answer = await self.clients[0].post(REGISTER, json=ANONYMOUS)
        return bearer(answer.raise_for_status().json())

    async def delegation_code(self) -> str:
        (code,) = await self.machines[0].delegation_codes(1)
        agents = await self._all(lambda client, _: client.post(REGISTER, json=ANONYMOUS))
        body = {"claim_token": code}
        answers = await self._all(lambda client, n: client.post(CLAIM, json=body, headers=bearer(agents[n].json())))
        return _one_wins(answers, 200)

    async def assertion(self) -> str:
        """At both doors: registration and the token endpoint."""
        text = self.issuer.assertion(client_id=self.machine_client[0])
        form = {"grant_type": JWT_BEARER, "assertion": text}

        async def ask(client: httpx2.AsyncClient, number: int) -> httpx2.Response:
            if number % 4 < 2:
                return await client.post(REGISTER, json=registration(text))
            return await client.post(_TOKEN, data=form, auth=self.machine_client)

        return _one_wins(await self._all(ask), 201, 200)

    async def dpop_proof(self) -> str:
        prover = DpopProver()
        own = self.machines[0].base
        proof = {"DPoP": prover.proof("POST", REGISTER, htu=f"{own}{REGISTER}")}
        answers = await self._all(lambda client, _: client.post(REGISTER, json=ANONYMOUS, headers=proof))
        return _one_wins(answers, 201)

    async def _code(self) -> dict[str, str]:
        grant = NewGrant(
            self.application, self.user, ["openid", *ASSISTANT], "", _CALLBACK, "n", s256_challenge(_VERIFIER), 0
        )

        def unit(tx: Transaction) -> str:
            return authorization_codes.issue_code(tx, grant, pepper=SECRET.encode())

        code: str = await self.machines[0].change(unit)
        return {
            "grant_type": "authorization_code",
            "client_id": self.application,
            "code": code,
            "redirect_uri": _CALLBACK,
            "code_verifier": _VERIFIER,
        }

    async def authorization_code(self) -> str:
        form = await self._code()
        return _one_wins(await self._all(lambda client, _: client.post(_TOKEN, data=form)), 200)

    async def refresh_token(self) -> str:
        """All get the one next token, as retries do."""
        answer = await self.clients[0].post(_TOKEN, data=await self._code())
        token = answer.raise_for_status().json()["refresh_token"]
        form = {"grant_type": "refresh_token", "client_id": self.application}
        form = {**form, "refresh_token": token}
        answers = await self._all(lambda client, _: client.post(_TOKEN, data=form))
        following = {answer.json().get("refresh_token") for answer in answers}
        return "" if len(following) == 1 and _only(answers, {200}) else f"{len(following)} tokens, {_statuses(answers)}"

    async def idempotency_key(self) -> str:
        """All get the one answer, and one row is made."""
        headers, body = await self._register(), negotiation_body()
        sent = {**headers, "Idempotency-Key": "once"}
        answers = await self._all(lambda client, _: client.post(NEGOTIATIONS, json=body, headers=sent))
        made = {answer.json().get("id") for answer in answers if answer.status_code == 201}
        rows = (await self.clients[0].get(NEGOTIATIONS, headers=headers)).json()["items"]
        if len(made) == len(rows) == 1 and _only(answers, {201, 409}):
            return ""
        return f"{len(made)} ids, {len(rows)} rows, {_statuses(answers)}"

    async def revision(self) -> str:
        """Of all who change one revision, one does."""
        headers = await self._register()
        made = await self.clients[0].post(NEGOTIATIONS, json=negotiation_body(), headers=headers)
        view = made.raise_for_status().json()
        path, sent = (f"{NEGOTIATIONS}/{view['id']}", {**headers, "If-Match": f'"{view["revision"]}"'})
        answers = await self._all(lambda client, n: client.patch(path, json={"title": f"T{n}"}, headers=sent))
        return _one_wins(answers, 200)


_KINDS: Final = (
    OneTimeRaces.delegation_code,
    OneTimeRaces.assertion,
    OneTimeRaces.dpop_proof,
    OneTimeRaces.authorization_code,
    OneTimeRaces.refresh_token,
    OneTimeRaces.idempotency_key,
    OneTimeRaces.revision,
)


def _one_wins(answers: list[httpx2.Response], *good: int) -> str:
    won = sum(answer.status_code in good for answer in answers)
    errors = sum(answer.status_code >= 500 for answer in answers)
    return "" if won == 1 and not errors else _statuses(answers)


def _only(answers: list[httpx2.Response], statuses: set[int]) -> bool:
    return {answer.status_code for answer in answers} <= statuses


def _statuses(answers: list[httpx2.Response]) -> str:
    counts = Counter(answer.status_code for answer in answers)
    return ", ".join(f"{status} × {count}" for status, count in counts.items())


@asynccontextmanager
async def _prepared(machines: Sequence[Machine]) -> AsyncGenerator[OneTimeRaces]:
    own = machines[0].base
    issuer = FakeIssuer(own)

    def unit(tx: Transaction) -> tuple[str, tuple[str, str], str]:
        user = user_queries.add(tx, "bob@example.com", actor="operator")
        machine_client = clients.add(tx, NewClient("c", clients.GRANTS, tuple(ASSISTANT)))
        app = NewClient("Notes", clients.CODE_FLOW_GRANTS, tuple(ASSISTANT), (_CALLBACK,), "none")
        issuer_queries.add(tx, issuer.issuer(), own=own, allow_loopback=False)
        return user, machine_client, clients.add(tx, app)[0]

    made: tuple[str, tuple[str, str], str] = await machines[0].change(unit)
    async with AsyncExitStack() as opened:
        connected = [await opened.enter_async_context(machine.connect(keep=64)) for machine in machines]
        yield OneTimeRaces(machines, connected, issuer, *made)


async def _race(site: Site, machines: Sequence[Machine], engine: str) -> Finding:
    rounds = site.rounds or (2 if site.small else 100)
    finding = Finding(f"One-time things, {_CROWD} at once, {rounds} rounds, {engine}")
    sizes = [machine.log_size() for machine in machines]
    async with _prepared(machines) as races:
        for kind in _KINDS:
            name = kind.__name__.replace("_", " ")
            progress(f"{engine}: {name}")
            wrong = [told for _ in range(rounds) if (told := await kind(races))]
            finding.notes.append(f"{name}: {rounds - len(wrong)} of {rounds}")
            if wrong:
                finding.broken.append(f"{name}: {len(wrong)} wrong rounds, {wrong[0]}")
    finding.log = [line for machine, size in zip(machines, sizes, strict=True) for line in machine.log_lines(size)]
    return finding


async def races(site: Site) -> list[Finding]:
    """Four workers on SQLite; two machines of two workers on PostgreSQL and Redis."""
    alone = await site.machine(workers=4)
    findings = [await _race(site, [alone], "SQLite, 4 workers")]
    await asyncio.to_thread(alone.stop)
    postgres, redis = await site.postgres(), await site.redis()
    url = await site.database(postgres)
    pair = await site.pair(database_url=url, redis_url=redis.url)
    findings.append(await _race(site, pair, "PostgreSQL and Redis, 2 machines of 2 workers"))
    return findings


ROWS: Final[tuple[Row, ...]] = (Row("races", "one-time things presented fifty times at once, on both engines", races),)
