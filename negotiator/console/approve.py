"""The page behind an approval link: only the account's owner, by his password, grants what it asks."""

import asyncio
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from negotiator import audit
from negotiator.agents.delegation import Delegations
from negotiator.caller import nobody
from negotiator.edge.guard import Guard
from negotiator.edge.input import parse_form, read_body
from negotiator.edge.limits import Limits
from negotiator.errors import Refusal
from negotiator.scopes import ASSISTANT
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.users import approvals, matching, people
from negotiator.users.tables import Approval, User

_FORM_LIMIT = 8 * 1024
_POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
_HEADERS = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
}

_templates = Environment(loader=PackageLoader("negotiator.console"), autoescape=True)


@dataclass(frozen=True, slots=True)
class Approve:
    """GET shows what is asked, POST with the password grants it; nothing else does."""

    store: Store
    delegations: Delegations
    guard: Guard
    limits: Limits

    def routes(self) -> list[Route]:
        """The page and its stylesheet."""
        return [
            Route("/approve/{secret}", self.show, methods=["GET"]),
            Route("/approve/{secret}", self.decide, methods=["POST"]),
            Route("/console.css", self.style, methods=["GET"]),
        ]

    async def show(self, request: Request) -> Response:
        """What is asked of whom. Looking grants nothing: mail scanners open links."""
        approval = await self.store.read(
            lambda tx: approvals.find(tx, request.path_params["secret"])
        )
        return _ask(approval) if approval else _gone()

    async def decide(self, request: Request) -> Response:
        """Grant it, if the password is the account's."""
        secret: str = request.path_params["secret"]
        headers = dict(request.headers)
        reading = await self.limits.charge(nobody(self.guard.address(request.scope, headers)))
        if not reading.taken:
            return _page(
                "gone.html",
                429,
                {"retry-after": str(reading.retry_after)},
                reason="Too many tries; wait a minute.",
            )
        try:
            form = parse_form(
                await read_body(request.receive, _FORM_LIMIT, headers.get("content-length"))
            )
        except Refusal as refusal:
            return _page("gone.html", refusal.status, reason=refusal.description)
        if not await self.store.write(lambda tx: approvals.attempt(tx, secret)):
            return _gone()
        approval, user = await self.store.read(lambda tx: _asked(tx, secret))
        password_hash = user.password_hash if user and user.disabled_at is None else ""
        right = await asyncio.to_thread(
            people.verify_password, password_hash, form.get("password", "")
        )
        if user is None or not right:
            return _ask(approval, wrong=True) if approval else _gone()
        granted = [scope for scope in ASSISTANT if form.get(f"scope:{scope}") == "on"]
        try:
            outcome = await self.store.write(lambda tx: self._grant(tx, secret, user, granted))
        except Refusal as refusal:
            return _page("gone.html", refusal.status, reason=refusal.description)
        return _page("granted.html", 200, **outcome) if outcome else _gone()

    async def style(self, _request: Request) -> Response:
        """The stylesheet."""
        loader = _templates.loader
        assert loader is not None  # noqa: S101  set three lines above
        source, _, _ = loader.get_source(_templates, "console.css")
        return Response(
            source,
            media_type="text/css",
            headers={"cache-control": "public, max-age=3600"},
        )

    def _grant(
        self, tx: Transaction, secret: str, user: User, scopes: list[str]
    ) -> dict[str, Any] | None:
        approval = approvals.take(tx, secret)
        if approval is None:
            return None
        audit.record(tx, "approval.granted", approval.id, actor=user.id, kind=approval.kind)
        if approval.kind == "link":
            matching.link(
                tx,
                identity=approval.identity,
                issuer=approval.issuer,
                user_id=user.id,
                actor=user.id,
            )
            return {"approval": approval, "code": None}
        minted = self.delegations.mint(
            tx, user.id, scopes, label=approval.agent_name, agent_id=approval.agent_id
        )
        return {"approval": approval, "code": minted.code}


def _asked(tx: Transaction, secret: str) -> tuple[Approval | None, User | None]:
    approval = approvals.find(tx, secret)
    return approval, people.by_email(tx, approval.email) if approval else None


def _ask(approval: Approval, *, wrong: bool = False) -> Response:
    return _page(
        "approve.html",
        403 if wrong else 200,
        approval=approval,
        scopes=ASSISTANT,
        wrong=wrong,
    )


def _gone() -> Response:
    return _page("gone.html", 410, reason="This link was used, has expired, or never was.")


def _page(name: str, status: int, headers: dict[str, str] | None = None, **values: Any) -> Response:
    content = _templates.get_template(name).render(**values)
    return HTMLResponse(content, status, headers={**_HEADERS, **(headers or {})})
