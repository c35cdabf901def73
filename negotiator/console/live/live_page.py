"""`/live`: a call is begun here, with its consent, and earlier calls are listed."""

import secrets
from dataclasses import dataclass
from typing import Final, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Refusal
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import RUNNING
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import LIVE_PATH, FormFields, PageRouter
from negotiator.console.talk.workspace_fields import NO_FORM, RefusedForm
from negotiator.teleprompter.consent import SessionConsent, notice_text
from negotiator.teleprompter.schemas import EngineView, SessionList

LANGUAGES: Final = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""The languages in which figures are read; cards are raised in English."""
PRACTICE_BASIS: Final = "test"


MAX_LISTED: Final = 50
MICROPHONE_POLICY: Final = {"permissions-policy": "camera=(), geolocation=(), microphone=(self)"}
_NOTICES: Final = {"erased": "Erased, with every word of it."}
_NOT_AGREED: Final = "Read the notice to them and tick this once everybody has agreed."


@dataclass(frozen=True, slots=True)
class LivePage:
    """The page on which a call begins."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [self.router.page(LIVE_PATH, self.page), self.router.form(LIVE_PATH, self.begin)]

    async def begin(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Open a session and show it. The form again, with what was typed, where something is missing or refused."""
        if form.get("basis") == "all_parties" and form.get("agreed") != "on":
            return await self.page(request, session, RefusedForm("other", form, {"agreed": _NOT_AGREED}))
        here = form.get("hears") == "microphone" and form.get("local") == "on"
        members: Members = {
            "source": "audio" if form.get("hears") == "microphone" and not here else "text",
            "language": form.get("language", "en"),
            "consent": {"basis": form.get("basis", ""), "confirmed_by": session.greeting},
            "keep": form.get("keep", "session"),
            "practice": form.get("basis") == PRACTICE_BASIS,
            "negotiation_id": form.get("negotiation") or None,
        }
        try:
            opened = await self.calls.run(session, "open_teleprompter_session", members, key=form.get("key") or None)
        except Refusal as refusal:
            return await self.page(request, session, RefusedForm("other", form, refusal=refusal))
        hears = "?hears=browser" if here else ""
        return self.router.pages.see(f"{LIVE_PATH}/{opened['id']}{hears}")

    async def page(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The form, for the negotiation of the query if it names one, and the earlier calls."""
        asked = request.query_params
        typed = form.typed or {name: asked.get(name, "") for name in ("negotiation", "language")}
        run = self.calls.run
        found = (await run(session, "list_negotiations", {"limit": MAX_LISTED}))["items"]
        listed = cast("SessionList", await run(session, "list_teleprompter_sessions", {"limit": MAX_LISTED}))
        titles = {one["id"]: one["title"] for one in found}
        return self.router.render(
            "live.html",
            session,
            form.status,
            headers=MICROPHONE_POLICY,
            typed=typed,
            language=typed.get("language") if typed.get("language") in LANGUAGES else "en",
            refused=form.faults_by_field(lambda pointer: pointer.rpartition("/")[2]),
            notice=_NOTICES.get(asked.get("told", ""), ""),
            negotiations=[(one["id"], one["title"]) for one in found if one["state"] in RUNNING],
            engine=listed["engine"],
            notices=_notices(listed["engine"]),
            languages=LANGUAGES,
            titles=titles,
            calls=listed["items"],
            key=secrets.token_urlsafe(16),
            here="live",
        )


def _notices(engine: EngineView) -> dict[str, str]:
    """The sentence to read to the others, by language."""
    consent = SessionConsent("all_parties", "", 0)
    return {name: notice_text(consent, name, engine["processor"] or "") for name in LANGUAGES}
