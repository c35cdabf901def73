"""The pages on which the owner of an account grants a request: behind a mailed link, or listed on their home page."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.delegation import Delegations
from negotiator.base.errors import Gone, ValidationFailed
from negotiator.base.scopes import ASSISTANT
from negotiator.console.browser_sessions import AnySession, SignedInSession
from negotiator.console.page_router import FormFields, PageRouter
from negotiator.console.people import scope_words
from negotiator.console.people.sign_in_pages import PasswordChecker
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.users import approval_queries, identity_matching
from negotiator.users.tables import Approval


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """GET shows the request; POST by the account's owner grants it.

    `/approve/{secret}` is the mailed link. `/approvals/{id}` shows the same to the owner once they are signed in.
    """

    router: PageRouter
    passwords: PasswordChecker
    delegations: Delegations
    provider: str = ""

    def routes(self) -> list[Route]:
        """The page and its form. Without a session the form is authenticated by the password in it."""
        path = "/approve/{secret}"
        return [
            self.router.open_page(path, self.show),
            self.router.open_form(path, self.decide, anonymous_needs_token=False),
            self.router.page("/approvals/{id}", self.show_listed),
            self.router.form("/approvals/{id}", self.decide_listed, back="/"),
        ]

    async def show_listed(self, request: Request, session: SignedInSession) -> Response:
        return self._ask(session, await self._find_listed(request, session), here=request.url.path)

    async def decide_listed(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        email, key = session.email or "", request.path_params["id"]
        listed = await self._find_listed(request, session)
        return await self._grant(
            request,
            session,
            listed,
            form,
            owner=session.user_id,
            consume=lambda tx: approval_queries.consume_listed(tx, email, key),
        )

    async def show(self, request: Request, session: AnySession) -> Response:
        """The request. Reading it grants nothing, because mail scanners open links."""
        return self._ask(session, await self._find(request), here=request.url.path)

    async def decide(self, request: Request, session: AnySession, form: FormFields) -> Response:
        """Grant it, if the caller is the owner of the account."""
        secret: str = request.path_params["secret"]
        if isinstance(session, SignedInSession):
            approval = await self._find(request)
            user_id = session.user_id if session.email == approval.email else None
        else:
            approval, user_id = await self._try_password(request, secret, form)
        if user_id is None:
            return self._ask(session, approval, here=request.url.path, error=True, form=form)
        return await self._grant(
            request, session, approval, form, owner=user_id, consume=lambda tx: approval_queries.consume(tx, secret)
        )

    async def _grant(
        self,
        request: Request,
        session: AnySession,
        approval: Approval,
        form: FormFields,
        *,
        owner: str,
        consume: Callable[[Transaction], Approval | None],
    ) -> Response:
        """Grant it, once; a choice that cannot be granted is asked for again."""

        def unit(tx: Transaction) -> str:
            """The code that an agent gets; empty for a link."""
            granted = _require_open(consume(tx))
            audit.record(tx, "approval.granted", granted.id, actor=owner, kind=granted.kind)
            if granted.kind == "link":
                identity_matching.link(tx, identity=granted.identity, issuer=granted.issuer, user_id=owner, actor=owner)
                return ""
            scopes = scope_words.chosen_scopes(form)
            return self.delegations.mint(tx, owner, scopes, label=granted.agent_name, agent_id=granted.agent_id).code

        try:
            code = await self.router.store.write(unit)
        except ValidationFailed:
            fault = scope_words.NOTHING_CHOSEN
            return self._ask(session, approval, here=request.url.path, form=form, fault=fault)
        return self.router.render("approved.html", session, approval=approval, code=code)

    async def _find_listed(self, request: Request, session: SignedInSession) -> Approval:
        email, key = session.email or "", request.path_params["id"]
        found = await self.router.store.read(lambda tx: approval_queries.open_request(tx, email, key))
        return _require_open(found)

    async def _find(self, request: Request) -> Approval:
        secret: str = request.path_params["secret"]
        approval = await self.router.store.read(lambda tx: approval_queries.find(tx, secret))
        return _require_open(approval)

    async def _try_password(self, request: Request, secret: str, form: FormFields) -> tuple[Approval, str | None]:
        """The approval and, when the password is right, its owner's id. An approval allows five attempts."""
        approval = _require_open(await self.router.store.write(lambda tx: approval_queries.count_attempt(tx, secret)))
        user = await self.passwords.check(request, approval.email, form.get("password", ""))
        return approval, user.id if user else None

    def _ask(
        self,
        session: AnySession,
        approval: Approval,
        *,
        here: str,
        error: bool = False,
        form: FormFields | None = None,
        fault: str = "",
    ) -> Response:
        """Show the request, again with what was chosen if something is wrong with it."""
        signed_in = isinstance(session, SignedInSession)
        purpose = form.get("purpose", "") if form else scope_words.USUAL_PURPOSE
        return self.router.render(
            "approve.html",
            session,
            403 if error else 422 if fault else 200,
            approval=approval,
            purposes=scope_words.PURPOSES,
            scopes=scope_words.describe_scopes(ASSISTANT),
            purpose=purpose,
            ticked=scope_words.ticked_scopes(form) if form else scope_words.purpose_scopes(purpose),
            fault=fault,
            anonymous=not signed_in,
            other=isinstance(session, SignedInSession) and session.email != approval.email,
            error=error and not signed_in,
            provider=self.provider,
            here=here,
        )


def _require_open(approval: Approval | None) -> Approval:
    if approval is None:
        raise Gone("This link was used, has expired, or is not valid.")
    return approval
