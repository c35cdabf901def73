"""Opens the practice session that hears a rehearsal and shows its cards; the script of the page asks for it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.live.live_view import PRACTICE_BASIS
from negotiator.console.live.rehearsals_page import REHEARSAL_PAGE_PATH
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, PageRouter


@dataclass(frozen=True, slots=True)
class RehearsalVoice:
    """Speech in rehearsals: nobody else is on the call, and no word of it is kept."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [self.router.form(f"{REHEARSAL_PAGE_PATH}/voice", self.open, back="/")]

    async def open(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """The id of a new practice session and the path of its socket; cards are raised where they are asked for."""
        named = {name: request.path_params[name] for name in ("id", "rehearsal_id")}
        await self.calls.run(session, "get_rehearsal", named)
        members = {
            "source": "audio" if form.get("hears") == "server" else "text",
            "negotiation_id": named["id"],
            "consent": {"basis": PRACTICE_BASIS, "confirmed_by": session.greeting},
            "keep": "none",
            "practice": True,
            "cues": form.get("cards") == "on",
        }
        opened = await self.calls.run(session, "open_teleprompter_session", members)
        made = {"session": opened["id"], "socket": urlsplit(str(opened["stream_url"])).path}
        return JSONResponse(made, headers={"cache-control": "no-store"})
