"""`/negotiations/new`: five questions on one page, from nothing to a negotiation with its plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Refusal
from negotiator.base.values import MINOR_UNITS
from negotiator.console.browser_sessions import AnySession, SignedInSession
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, FormSize, PageRouter
from negotiator.console.talk.preparation_body import THEIR_WEIGHTS, PreparedBody, prepared_body
from negotiator.console.talk.preparation_form import (
    COMPARISONS,
    MAX_ROWS,
    Preparation,
    change_preparation,
    new_preparation,
    preparation_kinds,
    read_preparation,
)
from negotiator.console.talk.preparation_view import STEPS, field_id, preparation_view
from negotiator.console.talk.workspace_fields import form_key
from negotiator.negotiations.schemas_advice import NegotiationCheck
from negotiator.terms.terms import BUYING_ROLES, SELLING_ROLES

PREPARE_PATH: Final = "/negotiations/new"
USUAL_CURRENCIES: Final = ("EUR", "USD", "GBP", "CHF", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "CZK", "JPY", "INR")
"""They stand first in the list; the first one is taken where the browser names no country."""
_CURRENCY_OF: Final = {
    "US": "USD", "GB": "GBP", "CH": "CHF", "CA": "CAD", "AU": "AUD", "SE": "SEK", "NO": "NOK", "DK": "DKK",
    "PL": "PLN", "CZ": "CZK", "JP": "JPY", "IN": "INR",
}  # fmt: skip
_SIZE: Final = FormSize(64 * 1024, 400)


@dataclass(frozen=True, slots=True)
class PreparePage:
    """The page on which a user prepares a negotiation. What is typed stays in the form until it is saved."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [
            self.router.page(PREPARE_PATH, self.show),
            self.router.open_form(
                PREPARE_PATH, self.receive, anonymous_needs_token=False, user_needs_token=False, size=_SIZE
            ),
        ]

    async def receive(self, request: Request, session: AnySession, fields: FormFields) -> Response:
        """The form. Where the session has ended meanwhile, what was typed is shown again and nothing is saved."""
        if isinstance(session, SignedInSession):
            if self.router.has_token(session, fields):
                return await self.act(request, session, fields)
            return await self._page(session, read_preparation(fields), is_kept=True)
        if "hx-request" in request.headers:
            return self.router.ask_to_sign_in(PREPARE_PATH)
        typed = {name: value for name, value in fields.items() if name not in {"csrf", "do"}}
        return self.router.render("form_kept.html", session, action=PREPARE_PATH, fields=typed)

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """An empty form, or one that begins with the `kind` of the query."""
        language = request.headers.get("accept-language", "")
        form = new_preparation(request.query_params.get("kind", ""), usual_currency(language))
        return await self._page(session, form)

    async def act(self, request: Request, session: SignedInSession, fields: FormFields) -> Response:
        """Save, or show the form again after one of its other buttons."""
        form, do = read_preparation(fields), fields.get("do", "")
        if do == "save":
            return await self._save(session, form)
        changed = change_preparation(form, do)
        in_place = "hx-request" in request.headers
        return await self._page(session, changed, focus=_focus(do, changed), in_place=in_place)

    async def _save(self, session: SignedInSession, form: Preparation) -> Response:
        """Open the negotiation, make its plan and show it; the form again where something is refused.

        The same form sent twice opens one negotiation.
        """
        prepared = prepared_body(form)
        if prepared.errors:
            return await self._page(session, form, status=422)
        key = form_key(form.key, prepared.body)
        try:
            opened = await self.calls.run(session, "open_negotiation", prepared.body, key=key)
        except Refusal as refusal:
            return await self._page(session, form, status=refusal.status, refused=prepared.faults_of(refusal))
        path = f"/negotiations/{opened['id']}"
        try:
            members = {"id": opened["id"]}
            await self.calls.run(session, "make_battle_plan", members, key=f"{key}:plan")
        except Refusal:  # the negotiation is there, and its page offers to make the plan
            return self.router.pages.see(path)
        return self.router.pages.see(f"{path}#plan")

    async def _page(
        self,
        session: SignedInSession,
        form: Preparation,
        *,
        status: int = 200,
        refused: Mapping[str, str] | None = None,
        focus: str = "",
        in_place: bool = False,
        is_kept: bool = False,
    ) -> Response:
        """The page; `focus` is the id of the field to go on with, which a script finds in a page that is replaced."""
        prepared = prepared_body(form)
        checked, found = await self._check(session, prepared)
        faults = {**found, **(refused or {})}
        kind = form.kind_template
        return self.router.render(
            "prepare.html",
            session,
            status,
            form=form,
            view=preparation_view(form, prepared, None if faults else checked, faults),
            kind=kind,
            kinds=preparation_kinds().values(),
            currencies=[code for code in sorted(MINOR_UNITS) if code not in USUAL_CURRENCIES],
            usual_currencies=USUAL_CURRENCIES,
            comparisons=COMPARISONS,
            their_weights=THEIR_WEIGHTS,
            is_paying=form.role in BUYING_ROLES,
            is_paid=form.role in SELLING_ROLES,
            is_full=len(form.rows) >= MAX_ROWS,
            is_kept=is_kept,
            is_refused=status != 200,
            focus=focus,
            focus_by="data-focus" if in_place else "autofocus",
            steps=STEPS,
            numbers={step: number for number, step in enumerate(STEPS, 1)},
            live_ids=[],
            field_id=field_id,
            here="negotiations",
        )

    async def _check(
        self, session: SignedInSession, prepared: PreparedBody
    ) -> tuple[NegotiationCheck | None, dict[str, str]]:
        """What the operation says of the body: its answer, or the sentences of its refusal by field."""
        try:
            return cast("NegotiationCheck", await self.calls.run(session, "check_negotiation", prepared.body)), {}
        except Refusal as refusal:  # the page keeps what was typed
            return None, prepared.faults_of(refusal)


def usual_currency(language: str) -> str:
    """The currency of the first country that `Accept-Language` names."""
    for part in language.split(","):
        _, _, country = part.split(";")[0].strip().partition("-")
        if country:
            return _CURRENCY_OF.get(country.upper(), USUAL_CURRENCIES[0])
    return USUAL_CURRENCIES[0]


def _focus(do: str, form: Preparation) -> str:
    """The id of the field to go on with after a button."""
    if do == "add":
        return f"i{len(form.rows) - 1}-label"
    return {"compare": "i0-weight"}.get(do, "add" if do.startswith("remove.") else "")
