"""The form of a negotiation's page that answers questions about who needs the deal more."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.page_router import FormFields
from negotiator.console.power_facts import fact_patches, faulty_fact
from negotiator.console.workspace_page import WORKSPACE_PATH, RefusedForm, WorkspacePage
from negotiator.errors import Refusal, ValidationFailed


@dataclass(frozen=True, slots=True)
class WorkspacePowerForms:
    """What a person knows of both sides' power."""

    workspace: WorkspacePage

    def routes(self) -> list[Route]:
        return [self.workspace.router.form(f"{WORKSPACE_PATH}/facts", self.answer, back="/")]

    async def answer(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
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
        after = round(standing["power"]["alpha"] * 100)
        words, moved = NegotiationWords.of(view), "" if faults else _moved(before, after)
        context = page.power_part(view, words, standing, refused, moved=moved)
        asked = context["power"].questions
        context["focus"] = (
            f"fact-{next(iter(faults)).replace('.', '-')}"
            if faults
            else asked[0].id
            if asked
            else ""
        )
        return page.router.render("workspace_power.html", session, **context)

    async def _share(self, session: SignedInSession, named: dict[str, Any]) -> int:
        standing = await self.workspace.calls.run(session, "get_leverage", named)
        return round(standing["power"]["alpha"] * 100)


def _moved(before: int, after: int) -> str:
    if before == after:
        return f"Saved. Your share stays at {after} of 100."
    return f"Saved. Your share of the power was {before} of 100 and is {after} now."
