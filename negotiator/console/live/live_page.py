"""`/live`: a call is begun here, with its consent, and earlier calls are listed."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.live.live_view import BASES, LANGUAGES, PRACTICE_BASIS, RETENTION_WORDS, engine_words, past_call
from negotiator.console.negotiation_words import RUNNING
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import LIVE_PATH, FormFields, PageRouter
from negotiator.teleprompter.consent import SessionConsent, notice_text

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
        return [self.router.page(LIVE_PATH, self.show), self.router.form(LIVE_PATH, self.begin)]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The form, for the negotiation of the query if it names one, and the earlier calls."""
        asked = request.query_params
        typed = {"negotiation": asked.get("negotiation", ""), "language": asked.get("language", "")}
        notice = _NOTICES.get(asked.get("told", ""), "")
        return await self._page(session, typed, notice=notice)

    async def begin(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Open a session and show it. The form again, with what was typed, where something is missing or refused."""
        del request
        if form.get("basis") == "all_parties" and form.get("agreed") != "on":
            return await self._page(session, form, status=422, refused={"agreed": _NOT_AGREED})
        here = form.get("hears") == "microphone" and form.get("local") == "on"
        members: dict[str, Any] = {
            "source": "audio" if form.get("hears") == "microphone" and not here else "text",
            "language": form.get("language", "en"),
            "consent": {"basis": form.get("basis", ""), "confirmed_by": session.greeting},
            "keep": form.get("keep", "session"),
            "practice": form.get("basis") == PRACTICE_BASIS,
        }
        if form.get("negotiation"):
            members["negotiation_id"] = form["negotiation"]
        try:
            opened = await self.calls.run(session, "open_teleprompter_session", members, key=form.get("key") or None)
        except ValidationFailed as refusal:
            faults = {fault.pointer.strip("/").split("/")[-1]: fault.description for fault in refusal.errors}
            return await self._page(session, form, status=422, refused=faults)
        except Refusal as refusal:
            refused = {"": refusal.description}
            return await self._page(session, form, status=refusal.status, refused=refused)
        hears = "?hears=browser" if here else ""
        return self.router.pages.see(f"{LIVE_PATH}/{opened['id']}{hears}")

    async def _page(
        self,
        session: SignedInSession,
        typed: Mapping[str, str],
        *,
        status: int = 200,
        refused: Mapping[str, str] | None = None,
        notice: str = "",
    ) -> Response:
        run = self.calls.run
        found = (await run(session, "list_negotiations", {"limit": MAX_LISTED}))["items"]
        listed = await run(session, "list_teleprompter_sessions", {"limit": MAX_LISTED})
        engine: dict[str, Any] = listed["engine"]
        titles = {one["id"]: one["title"] for one in found}
        past = [past_call(one, titles) for one in listed["items"]]
        return self.router.render(
            "live.html",
            session,
            status,
            headers=MICROPHONE_POLICY,
            typed=typed,
            language=typed.get("language") if typed.get("language") in LANGUAGES else "en",
            refused=refused or {},
            notice=notice,
            negotiations=[(one["id"], one["title"]) for one in found if one["state"] in RUNNING],
            engine=engine_words(engine),
            notices=_notices(engine),
            languages=LANGUAGES,
            bases=BASES,
            retentions=RETENTION_WORDS,
            open_calls=[one for one in past if one.is_open],
            past=[one for one in past if not one.is_open],
            key=secrets.token_urlsafe(16),
            here="live",
        )


def _notices(engine: Mapping[str, Any]) -> dict[str, str]:
    """The sentence to read to the others, by language."""
    consent = SessionConsent("all_parties", "", 0)
    return {name: notice_text(consent, name, engine["processor"] or "") for name in LANGUAGES}
