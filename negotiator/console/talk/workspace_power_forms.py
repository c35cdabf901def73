"""The form of a negotiation's page that answers questions about who needs the deal more."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.advice.leverage.factor_words import size_of_shift
from negotiator.base.errors import Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.page_router import FormFields
from negotiator.console.talk.power_facts import fact_patches, faulty_fact
from negotiator.console.talk.workspace_page import WORKSPACE_PATH, RefusedForm, WorkspacePage


@dataclass(frozen=True, slots=True)
class WorkspacePowerForms:
    """What a person knows of both sides' power."""

    workspace: WorkspacePage

    def routes(self) -> list[Route]:
        return [self.workspace.router.form(f"{WORKSPACE_PATH}/facts", self.answer, back="/")]

    async def answer(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Take every answer that is new. A script gets the part anew, with the focus on the next question."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        run = page.calls.run
        view = await run(session, "get_negotiation", named)
        before = await self._share(session, named)
        patch, faults = fact_patches(form, view, NegotiationWords.of(view))
        try:
            if patch and not faults:
                view = await run(session, "edit_negotiation", {**named, **patch})
        except ValidationFailed as refusal:
            faults = {faulty_fact(error.pointer): error.description for error in refusal.errors}
        except Refusal as refusal:
            faults = {faulty_fact(""): refusal.description}
        refused = RefusedForm("fact", form if faults else {}, faults)
        if "hx-request" not in request.headers:
            if faults:
                return await page.page(request, session, refused=refused)
            return page.router.pages.see(f"/negotiations/{named['id']}#power")
        standing = await run(session, "get_leverage", named)
        after: float = standing["power"]["alpha"]
        words, moved = NegotiationWords.of(view), "" if faults else _moved(before, after)
        context = page.power_part(view, words, standing, refused, moved=moved)
        asked = context["power"].questions
        context["focus"] = f"fact-{next(iter(faults)).replace('.', '-')}" if faults else asked[0].id if asked else ""
        return page.router.render("workspace_power.html", session, **context)

    async def _share(self, session: SignedInSession, named: dict[str, Any]) -> float:
        standing = await self.workspace.calls.run(session, "get_leverage", named)
        share: float = standing["power"]["alpha"]
        return share


def _moved(before: float, after: float) -> str:
    """What the answer did to the user's share of the power, in words."""
    if round(before, 2) == round(after, 2):
        return "Saved. It changes nothing in who needs the deal more."
    way = "strengthens" if after > before else "weakens"
    return f"Saved. It {way} your side {size_of_shift(after - before)}."
