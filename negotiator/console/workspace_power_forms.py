"""The form of a negotiation's page that answers a question about who needs the deal more."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.page_router import FormFields
from negotiator.console.power_facts import fact_patch
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
        """Answer one question. A script gets the part anew, with the focus on the next question."""
        page, named = self.workspace, {"id": request.path_params["id"]}
        run = page.calls.run
        view = await run(session, "get_negotiation", named)
        words = NegotiationWords.of(view)
        fault = ""
        before = await self._share(session, named)
        try:
            patch = fact_patch(form, view, words)
            view = await run(session, "edit_negotiation", {**named, **patch})
        except ValueError as wrong:
            fault = str(wrong)
        except ValidationFailed as refusal:
            fault = " ".join(error.description for error in refusal.errors)
        except Refusal as refusal:
            fault = refusal.description
        refused = RefusedForm("fact", form, {"value": fault})
        if "hx-request" not in request.headers:
            if fault:
                return await page.page(request, session, refused=refused)
            return page.router.pages.see(f"/negotiations/{named['id']}#power")
        standing = await run(session, "get_leverage", named)
        after = round(standing["power"]["alpha"] * 100)
        context = page.power_part(
            view,
            NegotiationWords.of(view),
            standing,
            refused,
            moved="" if fault else _moved(before, after),
            focus=f"fact-{form.get('factor', '')}-{form.get('side', '')}" if fault else "",
        )
        if not fault and context["power"].questions:
            context["focus"] = context["power"].questions[0].id
        return page.router.render("workspace_power.html", session, **context)

    async def _share(self, session: SignedInSession, named: dict[str, Any]) -> int:
        standing = await self.workspace.calls.run(session, "get_leverage", named)
        return round(standing["power"]["alpha"] * 100)


def _moved(before: int, after: int) -> str:
    if before == after:
        return f"Saved. Your share stays at {after} of 100."
    return f"Saved. Your share of the power was {before} of 100 and is {after} now."
