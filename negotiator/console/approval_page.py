"""The page behind an approval link: only the account's owner, signed in or by his password, grants what it asks."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator import audit
from negotiator.agents.delegation import Delegations
from negotiator.console.browser_sessions import AnySession, SignedInSession
from negotiator.console.page_router import FormFields, PageRouter
from negotiator.console.password_check import PasswordChecker
from negotiator.errors import Gone
from negotiator.scopes import ASSISTANT
from negotiator.store.statement import Transaction
from negotiator.users import approval_queries, identity_matching
from negotiator.users.tables import Approval


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """GET shows what is asked; POST by the owner grants it; nothing else does."""

    room: PageRouter
    passwords: PasswordChecker
    delegations: Delegations
    provider: str = ""

    def routes(self) -> list[Route]:
        """The page and its form. A stranger's form proves itself by the password in it."""
        path = "/approve/{secret}"
        return [
            self.room.open_page(path, self.show),
            self.room.open_form(path, self.decide, strangers_need_token=False),
        ]

    async def show(self, request: Request, who: AnySession) -> Response:
        """What is asked of whom. Looking grants nothing: mail scanners open links."""
        return self._ask(who, await self._find(request), here=request.url.path)

    async def decide(self, request: Request, who: AnySession, form: FormFields) -> Response:
        """Grant it, if it is the owner who asks."""
        secret: str = request.path_params["secret"]
        if isinstance(who, SignedInSession):
            approval = await self._find(request)
            user_id = who.user_id if who.email == approval.email else None
        else:
            approval, user_id = await self._try_password(request, secret, form)
        if user_id is None:
            return self._ask(who, approval, here=request.url.path, wrong=True)
        owner, granted = user_id, [name for name in ASSISTANT if form.get(f"scope:{name}") == "on"]
        outcome = await self.room.store.write(lambda tx: self._grant(tx, secret, owner, granted))
        return self.room.render("granted.html", who, **outcome)

    async def _find(self, request: Request) -> Approval:
        secret: str = request.path_params["secret"]
        approval = await self.room.store.read(lambda tx: approval_queries.find(tx, secret))
        return _still(approval)

    async def _try_password(
        self, request: Request, secret: str, form: FormFields
    ) -> tuple[Approval, str | None]:
        """One of five tries; the approval and, when the password was right, its owner."""
        approval = _still(
            await self.room.store.write(lambda tx: approval_queries.count_attempt(tx, secret))
        )
        user = await self.passwords.check(request, approval.email, form.get("password", ""))
        return approval, user.id if user else None

    def _grant(
        self, tx: Transaction, secret: str, user_id: str, scopes: list[str]
    ) -> dict[str, Any]:
        approval = _still(approval_queries.consume(tx, secret))
        audit.record(tx, "approval.granted", approval.id, actor=user_id, kind=approval.kind)
        if approval.kind == "link":
            identity_matching.link(
                tx,
                identity=approval.identity,
                issuer=approval.issuer,
                user_id=user_id,
                actor=user_id,
            )
            return {"approval": approval, "code": None}
        minted = self.delegations.mint(
            tx, user_id, scopes, label=approval.agent_name, agent_id=approval.agent_id
        )
        return {"approval": approval, "code": minted.code}

    def _ask(
        self, who: AnySession, approval: Approval, *, here: str, wrong: bool = False
    ) -> Response:
        visitor = isinstance(who, SignedInSession)
        return self.room.render(
            "approve.html",
            who,
            403 if wrong else 200,
            approval=approval,
            scopes=ASSISTANT,
            stranger=not visitor,
            other=isinstance(who, SignedInSession) and who.email != approval.email,
            wrong=wrong and not visitor,
            provider=self.provider,
            here=here,
        )


def _still(approval: Approval | None) -> Approval:
    if approval is None:
        raise Gone("This link was used, has expired, or never was.")
    return approval
