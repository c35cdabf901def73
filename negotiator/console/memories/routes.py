"""The page, and the form on it."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.room import Form, Room
from negotiator.console.visitor import Visitor
from negotiator.errors import Conflict
from negotiator.memory.memories import review

PAGE: Final = "/memories"
MOST: Final = 50
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

    room: Room

    def routes(self) -> list[Route]:
        """The page and its form."""
        return [
            self.room.page(PAGE, self.show),
            self.room.form(f"{PAGE}/{{id}}", self.decide, back=PAGE),
        ]

    async def show(self, request: Request, who: Visitor) -> Response:
        """What waits, newest first."""
        found = await self.room.store.scan(lambda tx: review.waiting(tx, who.user_id, MOST + 1))
        return self.room.render(
            "memories.html",
            who,
            waiting=found[:MOST],
            more=len(found) > MOST,
            reasons=_REASONS,
            told=_TOLD.get(request.query_params.get("told", ""), ""),
            here="memories",
        )

    async def decide(self, request: Request, who: Visitor, form: Form) -> Response:
        """Keep it as the person's own word, or erase it."""
        memory: str = request.path_params["id"]
        keep = form.get("word") == "keep"
        try:
            await self.room.store.write(
                lambda tx: review.review(tx, who.user_id, memory, keep=keep)
            )
        except Conflict:
            return self.room.pages.see(f"{PAGE}?told=known")
        if not keep:
            await self.room.store.scrub()
        return self.room.pages.see(f"{PAGE}?told={'kept' if keep else 'dropped'}")
