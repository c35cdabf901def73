"""The page, and the form on it."""

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
    "addresses_a_model": "it speaks to an assistant instead of telling something",
    "gives_orders": "it gives orders instead of telling something",
    "imitates_markup": "it looks like a program's own messages",
    "encoded": "it hides something in a code",
    "secret": "there is a key or password in it",
    "card": "there is a card number in it",
    "command": "there is a link or a command in it",
    "author_revoked": "whoever wrote it is cut off",
}
_TOLD: Final = {
    "kept": "Kept. From now on it counts as your own word.",
    "dropped": "Dropped, with its history.",
    "known": "You know that already by another memory. Drop this one.",
}


@dataclass(frozen=True, slots=True)
class MemoriesPage:
    """Where a person passes a word on what others remembered."""

    room: PageRouter

    def routes(self) -> list[Route]:
        """The page and its form."""
        return [
            self.room.page(MEMORIES_PAGE_PATH, self.show),
            self.room.form(f"{MEMORIES_PAGE_PATH}/{{id}}", self.decide, back=MEMORIES_PAGE_PATH),
        ]

    async def show(self, request: Request, who: SignedInSession) -> Response:
        """What waits, newest first."""
        found = await self.room.store.scan(
            lambda tx: memories_lifecycle.list_unreviewed(tx, who.user_id, MAX_SHOWN + 1)
        )
        return self.room.render(
            "memories.html",
            who,
            waiting=found[:MAX_SHOWN],
            more=len(found) > MAX_SHOWN,
            reasons=_REASONS,
            told=_TOLD.get(request.query_params.get("told", ""), ""),
            here="memories",
        )

    async def decide(self, request: Request, who: SignedInSession, form: FormFields) -> Response:
        """Keep it as the person's own word, or erase it."""
        memory: str = request.path_params["id"]
        keep = form.get("word") == "keep"
        try:
            await self.room.store.write(
                lambda tx: memories_lifecycle.review_memory(tx, who.user_id, memory, keep=keep)
            )
        except Conflict:
            return self.room.pages.see(f"{MEMORIES_PAGE_PATH}?told=known")
        if not keep:
            await self.room.store.scrub()
        return self.room.pages.see(f"{MEMORIES_PAGE_PATH}?told={'kept' if keep else 'dropped'}")
