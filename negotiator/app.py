"""The composition root: Settings in, Starlette application out. The only place where objects meet."""

import asyncio
import contextlib
import gc
import os
import secrets
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from negotiator import __version__, scopes, settings, telemetry, values
from negotiator.agents import registration
from negotiator.agents.delegation import Delegations
from negotiator.agents.mail import mailer
from negotiator.agents.registration import Registration
from negotiator.agents.routes import ANONYMOUS_BUDGET, ASSERTION_BUDGET, Agents
from negotiator.agents.schemas import ID_JAG, VERIFIED_EMAIL
from negotiator.agents.verification import Verification
from negotiator.console.approve import Approve
from negotiator.discovery.documents import Document, route
from negotiator.discovery.health import Health
from negotiator.discovery.metadata import Authorization
from negotiator.discovery.published import published
from negotiator.edge import idempotency
from negotiator.edge.cursors import Cursors
from negotiator.edge.endpoint import Doorway, Endpoint
from negotiator.edge.guard import Guard
from negotiator.edge.limits import Budget, Limiter, Limits
from negotiator.edge.middleware import Wrapping
from negotiator.edge.operation import Answer, Service
from negotiator.edge.refusals import Refusals
from negotiator.edge.routing import Operations
from negotiator.keys import Keyring
from negotiator.limiters import InDatabase, InRedis, SharedTable
from negotiator.negotiations import sessions
from negotiator.negotiations.advice.routes import Advice
from negotiator.negotiations.advisor.advisor import Advisor
from negotiator.negotiations.advisor.openai import advised
from negotiator.negotiations.plans import kept as plans
from negotiator.negotiations.plans.routes import BattlePlans
from negotiator.negotiations.routes import Negotiations
from negotiator.negotiations.suggestions import own as own_tactics
from negotiator.negotiations.suggestions.routes import Tactics
from negotiator.settings import Settings
from negotiator.store import moves
from negotiator.store.statement import Transaction
from negotiator.store.store import Store, make_store
from negotiator.tokens import clients, credentials
from negotiator.tokens.credentials import Credentials, Subject
from negotiator.tokens.presented import Presenter
from negotiator.tokens.routes import TokenEndpoints
from negotiator.trust.assertions import Assertion, Verifier
from negotiator.trust.fetch import Fetcher
from negotiator.trust.issuers import Issuers
from negotiator.trust.keysets import IssuerKeys
from negotiator.users import approvals, matching

_SWEEP_EVERY: Final = 60
log = telemetry.logger(__name__)


def pepper(chosen: Settings) -> bytes:
    """The secret behind codes and cursors: the operator's, or one made on the first start and kept."""
    if chosen.secret:
        return chosen.secret.encode()
    path = chosen.data_dir / "secret"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32))
    return path.read_bytes()


@dataclass(frozen=True, slots=True)
class House:
    """Everything that one process is made of."""

    settings: Settings
    store: Store
    keyring: Keyring
    delegations: Delegations
    issuer_keys: IssuerKeys
    fetcher: Fetcher
    advisor: Advisor
    service: Service
    doorway: Doorway
    pages: tuple[BaseRoute, ...]
    documents: tuple[Document, ...]

    @property
    def readable(self) -> frozenset[str]:
        """The paths that pages of any origin may read."""
        reads = (operation for operation in self.service.operations if operation.method == "GET")
        public = {operation.path for operation in reads if operation.access == "public"}
        return frozenset(public | {document.path for document in self.documents})


def build(chosen: Settings) -> House:
    """Make every object and hand each what it needs."""
    base = chosen.base_url
    store, keyring, secret = (
        make_store(chosen.database_url),
        Keyring(chosen.keys_dir),
        pepper(chosen),
    )
    issued = Credentials(store, keyring, issuer=base)
    fetcher = Fetcher(allow_loopback=chosen.allow_loopback_fetch)
    resources = frozenset({base, f"{base}/mcp"})
    issuer_keys = IssuerKeys(fetcher, clock=lambda: values.now())
    verifier = Verifier(
        audience=base,
        resources=resources,
        find_issuer=Issuers(store).find,
        keys=issuer_keys,
        clock=lambda: values.now(),
    )
    delegations = Delegations(
        pepper=secret,
        credentials=issued,
        life=chosen.token_ttl,
        failures_per_hour=chosen.claim_failures_per_hour,
        moves=(sessions.move, plans.move, own_tactics.move),
    )
    agents = Agents(
        base=base,
        store=store,
        registration=Registration(
            issued,
            chosen.ephemeral_ttl,
            chosen.token_ttl,
            chosen.unclaimed_retention_days,
        ),
        delegations=delegations,
        verification=Verification(
            base,
            mailer(chosen.smtp_url, outbox=chosen.data_dir / "outbox", sender=chosen.mail_from),
        ),
        verifier=verifier,
    )
    endpoints = TokenEndpoints(
        store, issued, Presenter(verifier, _admit), resources, chosen.token_ttl
    )
    advisor = advised(chosen.advisor_url, key=chosen.advisor_key, model=chosen.advisor_model)
    health = Health(store, __version__, ("assistant",))
    offered = [*_talks(store, Cursors(secret), advisor), agents, endpoints, health]
    service = Service(
        base,
        scopes.ASSISTANT,
        tuple(operation for slice_ in offered for operation in slice_.operations()),
    )
    doorway = Doorway(Guard(issued, chosen.proxies), _limits(chosen, store), Refusals(base), store)
    pages = tuple(Approve(store, delegations, doorway.guard, doorway.limits).routes())
    return House(
        chosen,
        store,
        keyring,
        delegations,
        issuer_keys,
        fetcher,
        advisor,
        service,
        doorway,
        pages,
        published(service, _authorization(), version=__version__, jwks=keyring.jwks),
    )


def create(chosen: Settings | None = None) -> Starlette:
    """The application; settings come from the environment when none are given."""
    chosen = chosen or settings.load()
    telemetry.configure(chosen.log_format)
    house = build(chosen)
    refusals = house.doorway.refusals
    endpoints = [Endpoint(operation, house.doorway) for operation in house.service.operations]

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        await house.store.start()
        # What was loaded stays: the collector need not walk it in the middle of somebody's request.
        gc.collect()
        gc.freeze()
        sweeping = asyncio.create_task(_sweep_forever(house.store))
        try:
            yield
        finally:
            sweeping.cancel()
            await house.issuer_keys.close()
            await house.fetcher.close()
            await house.advisor.close()
            await house.doorway.limits.close()
            await house.store.close()

    application = Starlette(
        routes=[*map(route, house.documents), *house.pages],
        middleware=[
            Middleware(
                Wrapping, https=chosen.base_url.startswith("https:"), readable=house.readable
            ),
            Middleware(Operations, endpoints=endpoints, doorway=house.doorway),
        ],
        exception_handlers={HTTPException: _on_http_exception(refusals)},
        lifespan=lifespan,
    )
    # Starlette would redirect to whatever Host says, for the sake of a slash.
    application.router.redirect_slashes = False
    return application


def _talks(
    store: Store, cursors: Cursors, advisor: Advisor
) -> tuple[Negotiations, Advice, BattlePlans, Tactics]:
    """What is offered around a negotiation; the hottest first."""
    plans, tactics = BattlePlans(store, cursors, advisor), Tactics(store, cursors, advisor)
    return Negotiations(store, cursors), Advice(store), plans, tactics


def sweep(tx: Transaction, now: int) -> None:
    """Forget what is over: spent values, dead tokens, unclaimed agents with all they owned."""
    moves.sweep(tx, now)
    credentials.sweep(tx, now)
    idempotency.sweep(tx, now)
    approvals.sweep(tx, now)
    sessions.sweep(tx, now)
    for agent_id in registration.forget_expired(tx, now):
        plans.erase(tx, agent_id)
        own_tactics.erase(tx, agent_id)
        sessions.erase(tx, agent_id)


async def _sweep_forever(store: Store) -> None:
    while True:
        try:
            await store.write(lambda tx: sweep(tx, values.now()))
        except Exception as fault:
            log.error("sweep failed", exc_info=fault)
        await asyncio.sleep(_SWEEP_EVERY)


def _admit(tx: Transaction, assertion: Assertion, client_id: str) -> Subject:
    """At the token endpoint: the client's token stands on the assertion's user."""
    found = matching.match(tx, assertion, actor=client_id)
    return Subject(client_id, found.user_id, found.issuer, found.identity)


def _limits(chosen: Settings, store: Store) -> Limits:
    limiter: Limiter
    if chosen.redis_url:
        limiter = InRedis(chosen.redis_url)
    elif chosen.database_url.startswith("sqlite"):
        limiter = SharedTable(chosen.data_dir / "limits")
    else:
        limiter = InDatabase(store)
    baseline, anonymous, assertion = (
        chosen.limit_baseline_rpm,
        chosen.register_limit_anonymous,
        chosen.register_limit_assertion,
    )
    budgets = (
        Budget("default", chosen.limit_rpm, 60, chosen.limit_burst or chosen.limit_rpm),
        Budget("baseline", baseline, 60, baseline),
        Budget(ANONYMOUS_BUDGET, anonymous, 3600, anonymous),
        Budget(ASSERTION_BUDGET, assertion, 3600, assertion),
    )
    return Limits(limiter, {budget.name: budget for budget in budgets})


def _authorization() -> Authorization:
    """What the slices say of themselves for the metadata."""
    return Authorization(
        grants=clients.GRANTS,
        client_auth_methods=clients.AUTH_METHODS,
        identity_types=("anonymous", "identity_assertion"),
        assertion_types=(ID_JAG, VERIFIED_EMAIL),
    )


def _on_http_exception(refusals: Refusals) -> Any:
    async def handle(_request: Request, raised: HTTPException) -> Response:
        if raised.status_code == 405:
            allowed = (raised.headers or {}).get("Allow", "").split(", ")
            return _rendered(refusals.method_not_allowed(allowed))
        return _rendered(refusals.not_found())

    return handle


def _rendered(answer: Answer) -> Response:
    headers = {**answer.headers, "cache-control": "no-store"}
    return Response(orjson.dumps(answer.body), answer.status or 200, headers, answer.media_type)
