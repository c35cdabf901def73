"""`/go`: one search over pages, negotiations, tools, what the user knows, and the guides; ⌘K shows it over any page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_plus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Refusal
from negotiator.base.search_terms import stemmed_terms
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.guides_content import search_guides
from negotiator.console.negotiation_words import RUNNING, STATES, NegotiationWords
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import GO_PATH, PageRouter
from negotiator.discovery.public_pages import GUIDES_PATH, MANUAL_PATH

LONGEST_QUERY: Final = 100
EACH: Final = 5
"""Results of one kind."""
_LONGEST_TEXT: Final = 90
_PREPARE: Final = ("Prepare a negotiation", "/negotiations/new")
_PRACTISING: Final = ("practi", "rehears")
"""How words begin that ask for the rehearsals of a negotiation."""
_ACCOUNT: Final = ("Your account", "/account")


@dataclass(frozen=True, slots=True)
class Destination:
    """One result: its title, a few words about it, and its path."""

    title: str
    detail: str
    path: str


@dataclass(frozen=True, slots=True)
class GoPage:
    """The page, and its results alone for the box that ⌘K opens."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        return [self.router.page(GO_PATH, self.show)]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        query = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
        groups = await self._find(session, query)
        template = "go_results.html" if "hx-request" in request.headers else "go.html"
        return self.router.render(template, session, query=query, groups=groups)

    async def _find(self, session: SignedInSession, query: str) -> dict[str, Sequence[Destination]]:
        """What was found, by the title of its kind."""
        asked = {"limit": EACH, **({"query": query} if query else {})}
        groups: dict[str, Sequence[Destination]] = {"Pages": self._pages(session, query)}
        if query:
            groups["Practise"] = await self._rehearsals(session, query)
        groups["Negotiations"] = _negotiations(await self._answer(session, "list_negotiations", asked))
        if query:
            groups["What you know"] = _memories(
                await self._answer(session, "search_memories", {**asked, "mode": "keyword"})
            )
            groups["Guides"] = [
                Destination(guide.title, "Guide", f"{GUIDES_PATH}/{guide.name}")
                for guide in search_guides(query, whole=True)[:EACH]
            ]
            groups["Tools"] = _tools(await self._answer(session, "list_tools", asked), query)
        return {title: found for title, found in groups.items() if found}

    async def _rehearsals(self, session: SignedInSession, query: str) -> tuple[Destination, ...]:
        """The pages on which a negotiation is practised, where a word of the query asks for that."""
        asked = query.lower().split()
        rest = [word for word in asked if not word.startswith(_PRACTISING)]
        if len(rest) == len(asked) or not self.calls.offers("start_rehearsal"):
            return ()
        members = {"limit": EACH, **({"query": " ".join(rest)} if rest else {})}
        found = await self._answer(session, "list_negotiations", members)
        return tuple(
            Destination(f"Practise: {one['title']}", "", f"/negotiations/{one['id']}/rehearsals")
            for one in found
            if one["state"] in RUNNING
        )

    def _pages(self, session: SignedInSession, query: str) -> tuple[Destination, ...]:
        offered = [
            (entry.title, entry.path) for entry in self.router.navigation if session.is_admin or not entry.admins_only
        ]
        if self.calls.offers("open_negotiation"):
            offered.append(_PREPARE)
        words = query.lower().split()
        return tuple(
            Destination(title, "", path)
            for title, path in (*offered, _ACCOUNT, ("Guides", MANUAL_PATH))
            if all(word in title.lower() for word in words)
        )

    async def _answer(self, session: SignedInSession, operation: str, members: Members) -> Sequence[Members]:
        """The items that the operation answers; none where it is not offered or refuses such a query."""
        if not self.calls.offers(operation):
            return ()
        try:
            return (await self.calls.run(session, operation, members))["items"]
        except Refusal:
            return ()


def _negotiations(items: Sequence[Members]) -> tuple[Destination, ...]:
    return tuple(
        Destination(
            one["title"], f"{NegotiationWords.of(one).them} · {STATES[one['state']]}", f"/negotiations/{one['id']}"
        )
        for one in items
    )


def _memories(items: Sequence[Members]) -> tuple[Destination, ...]:
    return tuple(
        Destination(_shortened(text), "", f"/memories?query={quote_plus(text[:LONGEST_QUERY])}")
        for text in (" ".join(one["memory"]["text"].split()) for one in items)
    )


def _tools(items: Sequence[Members], query: str) -> tuple[Destination, ...]:
    """The tools that have every word in their name or summary; a mere likeness is no place to go to."""
    asked = stemmed_terms(query)
    return tuple(
        Destination(one["name"], _shortened(one["summary"] or ""), f"/tools/{one['slug']}")
        for one in items
        if _has_all(stemmed_terms(f"{one['name']} {one['summary'] or ''}"), asked)
    )


def _has_all(terms: Sequence[str], asked: Sequence[str]) -> bool:
    return all(any(term.startswith(one) for term in terms) for one in asked)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT].rsplit(' ', 1)[0]} …"
