"""`/memories`: the page on which a user reviews memories that others wrote, and its form."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import FormFields, PageRouter
from negotiator.errors import Conflict
from negotiator.memory import memories_lifecycle

MEMORIES_PAGE_PATH: Final = "/memories"
MAX_SHOWN: Final = 50
_REASONS: Final = {
    "addresses_a_model": "it speaks to an assistant instead of stating a fact",
    "gives_orders": "it gives orders instead of stating a fact",
    "imitates_markup": "it imitates the messages of a program",
    "encoded": "it contains encoded text",
    "secret": "it contains a key or password",
    "card": "it contains a card number",
    "command": "it contains a link or a command",
    "author_revoked": "its author's access was revoked",
}
_NOTICES: Final = {
    "kept": "Kept. It is now as trusted as if you had written it.",
    "dropped": "Erased, with its history.",
    "known": "Another memory says the same. Drop this one.",
}


@dataclass(frozen=True, slots=True)
class MemoriesPage:
    """The page where a user keeps or drops unreviewed memories."""

    router: PageRouter

    def routes(self) -> list[Route]:
        return [
            self.router.page(MEMORIES_PAGE_PATH, self.show),
            self.router.form(f"{MEMORIES_PAGE_PATH}/{{id}}", self.decide, back=MEMORIES_PAGE_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The unreviewed memories, newest first."""
        found = await self.router.store.scan(
            lambda tx: memories_lifecycle.list_unreviewed(tx, session.user_id, MAX_SHOWN + 1)
        )
        return self.router.render(
            "memories.html",
            session,
            waiting=found[:MAX_SHOWN],
            more=len(found) > MAX_SHOWN,
            reasons=_REASONS,
            notice=_NOTICES.get(request.query_params.get("told", ""), ""),
            here="memories",
        )

    async def decide(
        self, request: Request, session: SignedInSession, form: FormFields
    ) -> Response:
        """Keep the memory as the user's own, or erase it."""
        memory: str = request.path_params["id"]
        keep = form.get("word") == "keep"
        try:
            await self.router.store.write(
                lambda tx: memories_lifecycle.review_memory(tx, session.user_id, memory, keep=keep)
            )
        except Conflict:
            return self.router.pages.see(f"{MEMORIES_PAGE_PATH}?told=known")
        if not keep:
            await self.router.store.scrub()
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}?told={'kept' if keep else 'dropped'}")
