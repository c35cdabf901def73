"""`/memories`: everything that the user and their agents remember: search, review, edit, erase, move in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, PreconditionFailed, Refusal, Unavailable, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.form_fields import field_faults, fill_fields, read_fields
from negotiator.console.negotiation_words import day_text
from negotiator.console.owned.memories_view import (
    FIELDS,
    KINDS,
    MemoryRow,
    import_lines,
    import_result,
    is_waiting,
    memory_history,
    memory_row,
)
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, FormSize, PageRouter, read_revision, read_whole
from negotiator.http.operation import IMPORT_BODY_LIMIT, LINES

MEMORIES_PAGE_PATH: Final = "/memories"
MAX_SHOWN: Final = 50
MAX_LISTED: Final = 25
MAX_WAITING: Final = 5
"""What waits is shown in full on a page of its own, so that the search stays near."""
MAX_RELATED: Final = 10
LEAST_SIMILARITY: Final = 0.4
"""The cosine from which a memory is shown as similar to the words that are searched."""
CHOSEN: Final = "memory:"
_NOTICES: Final = {
    "kept": "Kept. It is now as trusted as if you had written it.",
    "dropped": "Erased, with its history.",
    "known": "Another one says the same. Drop this one.",
    "none": "Tick at least one first.",
    "added": "Added.",
    "saved": "Saved. The earlier version is in the history.",
    "repeated": "You had this already; what was new is added to it.",
    "pinned": "Pinned. It does not fade with time.",
    "unpinned": "Not pinned any more.",
    "all": "Everything is erased.",
}


@dataclass(frozen=True, slots=True)
class MemoriesPage:
    """The pages of the user's memories, and their forms."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        page, form, path = self.router.page, self.router.form, MEMORIES_PAGE_PATH
        return [
            page(path, self.show),
            page(f"{path}/new", self.new),
            form(f"{path}/new", self.add, size=FormSize(64 * 1024)),
            page(f"{path}/export.ndjson", self.export),
            form(f"{path}/import", self.bring_in, back=path, size=FormSize(IMPORT_BODY_LIMIT)),
            form(f"{path}/review", self.review, back=path, size=FormSize(fields=110)),
            form(f"{path}/erase-all", self.erase_all, back=path),
            page(f"{path}/{{id}}", self.open),
            page(f"{path}/{{id}}/edit", self.edit),
            form(f"{path}/{{id}}/edit", self.save, back=path, size=FormSize(64 * 1024)),
            form(f"{path}/{{id}}/pin", self.pin, back=path),
            form(f"{path}/{{id}}/erase", self.erase, back=path),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """What waits for review, and everything, or what fits the words that are searched."""
        return await self._page(request, session)

    async def _page(
        self,
        request: Request,
        session: SignedInSession,
        *,
        refusal: Refusal | None = None,
        refused: str = "",
        typed: str = "",
        notice: str = "",
    ) -> Response:
        """The page; `refused` names the form whose refusal it shows with what was `typed`."""
        asked = request.query_params
        query, kind = asked.get("query", "").strip()[:200], asked.get("kind", "")
        kind = kind if kind in KINDS else ""
        reviews = asked.get("review", "") == "all"
        filters = {"limit": MAX_LISTED, **({"kind": kind} if kind else {})}
        names = await self.calls.agent_names(session)
        counts = await self.calls.run(session, "count_memories")
        members = {**filters, **({"query": query} if query else {})}
        if asked.get("cursor"):
            members["cursor"] = asked["cursor"]
        listed = await self.calls.run(session, "list_memories", members)
        related = await self._related(session, query, kind, listed["items"]) if query else ()
        most = MAX_SHOWN if reviews else MAX_WAITING
        waiting = await self.calls.run(session, "list_memories", {"limit": most, "waiting": True})
        return self.router.render(
            "memories.html",
            session,
            refusal.status if refusal else 200,
            query=query,
            kind=kind,
            kinds=[(each, KINDS[each], counts["kinds"].get(each, 0)) for each in KINDS],
            counts=counts,
            found=_rows(listed["items"], names),
            related=_rows(related, names),
            cursor=listed["next_cursor"] or "",
            is_continued="cursor" in asked,
            waiting=_rows(waiting["items"], names),
            reviews=reviews,
            notice=notice or _NOTICES.get(asked.get("told", ""), ""),
            refused=refused,
            refusal=refusal.description if refusal else "",
            typed=typed,
            here="memories",
        )

    async def _related(
        self, session: SignedInSession, query: str, kind: str, known: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Memories of a similar meaning, without those that have the words; by typing errors until meaning is there."""
        members = {
            "query": query,
            "limit": MAX_RELATED,
            "include": ["superseded", "pending"],
            "filters": {"kind": kind} if kind else {},
        }
        by_meaning = {**members, "mode": "semantic", "min_score": LEAST_SIMILARITY}
        try:
            found = await self.calls.run(session, "search_memories", by_meaning)
        except Unavailable:
            found = await self.calls.run(session, "search_memories", {**members, "mode": "keyword"})
        shown = {view["id"] for view in known}
        return [hit["memory"] for hit in found["items"] if hit["memory"]["id"] not in shown]

    async def open(self, request: Request, session: SignedInSession) -> Response:
        """One memory: what it says, where it is from, where it was used, and its history."""
        member = {"id": request.path_params["id"]}
        view = await self.calls.run(session, "get_memory", member)
        versions = await self.calls.run(session, "list_memory_versions", {**member, "limit": MAX_SHOWN})
        uses = await self.calls.run(session, "list_memory_uses", member)
        names = await self.calls.agent_names(session)
        return self.router.render(
            "memory.html",
            session,
            memory=memory_row(view, names),
            view=view,
            uses=[{**use, "day": day_text(use["at"])} for use in uses["plans"]],
            since=day_text(view["valid_from"]),
            until=day_text(view["expires_at"]) if view["expires_at"] else "",
            is_waiting=is_waiting(view),
            history=memory_history(versions["items"], view, names, session.user_id),
            notice=_NOTICES.get(request.query_params.get("told", ""), ""),
            here="memories",
        )

    async def new(self, request: Request, session: SignedInSession) -> Response:
        about = request.query_params.get("counterparty", "")
        return self._form_page(session, {"kind": "fact", "counterparty": about[:100]})

    async def add(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Store what was typed; it is the user's own word."""
        del request
        try:
            made = await self.calls.run(session, "remember", read_fields(form, FIELDS))
        except (Conflict, ValidationFailed) as refusal:
            return self._form_page(session, form, refusal=refusal)
        told = "added" if made["revision"] == 1 else "repeated"
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}/{made['id']}?told={told}")

    async def edit(self, request: Request, session: SignedInSession) -> Response:
        view = await self.calls.run(session, "get_memory", {"id": request.path_params["id"]})
        return self._form_page(session, fill_fields(view, FIELDS), view=view)

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Save an edited memory; it is the user's own word from then on."""
        member = {"id": request.path_params["id"]}
        try:
            await self.calls.run(
                session, "edit_memory", {**member, **read_fields(form, FIELDS)}, revision=read_revision(form)
            )
        except (Conflict, PreconditionFailed, ValidationFailed) as refusal:
            view = await self.calls.run(session, "get_memory", member)
            return self._form_page(session, form, view=view, refusal=refusal)
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}/{member['id']}?told=saved")

    def _form_page(
        self,
        session: SignedInSession,
        form: Mapping[str, str],
        *,
        view: Mapping[str, Any] | None = None,
        refusal: Refusal | None = None,
    ) -> Response:
        """The form of a memory, with a refusal's sentences at their fields; the rest of them stand above it."""
        return self.router.render(
            "memory_form.html",
            session,
            refusal.status if refusal else 200,
            form={**fill_fields({}, FIELDS), **form},
            view=view,
            kinds=KINDS,
            faults=field_faults(refusal, FIELDS),
            refusal=refusal.description if refusal else "",
            here="memories",
        )

    async def pin(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        member = {"id": request.path_params["id"]}
        pinned = form.get("pinned") == "yes"
        await self.calls.run(session, "edit_memory", {**member, "pinned": pinned})
        told = "pinned" if pinned else "unpinned"
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}/{member['id']}?told={told}")

    async def erase(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Erase one memory; without a script that let it be taken back, after a second question."""
        member = {"id": request.path_params["id"]}
        if form.get("sure") != "yes":
            view = await self.calls.run(session, "get_memory", member)
            memory = memory_row(view, await self.calls.agent_names(session))
            return self.router.render("memory_erase.html", session, memory=memory, here="memories")
        await self.calls.run(session, "forget_memory", member)
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}?told=dropped")

    async def review(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Keep the ticked memories as the user's own, or erase them; a button of one row names that one alone."""
        del request
        decision, _, alone = form.get("decision", "").partition(":")
        ticked = [name.removeprefix(CHOSEN) for name in form if name.startswith(CHOSEN)]
        chosen = [alone] if alone else ticked
        back = f"{MEMORIES_PAGE_PATH}?{'review=all&' if 'review' in form else ''}told="
        if not chosen:
            return self.router.pages.see(f"{back}none")
        members = {"memories": chosen, "keep": decision == "keep"}
        done = await self.calls.run(session, "review_memories", members)
        told = "known" if done["known"] else "kept" if done["kept"] else "dropped"
        return self.router.pages.see(f"{back}{told}")

    async def export(self, request: Request, session: SignedInSession) -> Response:
        del request
        lines = await self.calls.text(session, "export_memories", {}, accept=LINES)
        named = {"content-disposition": 'attachment; filename="memories.ndjson"'}
        return Response(lines, media_type=LINES, headers={**named, "cache-control": "no-store"})

    async def bring_in(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Import lines of an export, or texts; they wait for review."""
        typed = form.get("lines", "")
        try:
            done = await self.calls.run(session, "import_memories", {"lines": import_lines(typed)})
        except ValidationFailed as refusal:
            return await self._page(request, session, refusal=refusal, refused="import", typed=typed)
        return await self._page(request, session, notice=f"{import_result(done['counts'])}.")

    async def erase_all(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Erase everything, when the number that was typed is that of the memories."""
        typed = form.get("confirm", "").strip()[:9]
        members = {"confirm": read_whole(typed, -1)}
        try:
            await self.calls.run(session, "erase_memories", members)
        except (Conflict, ValidationFailed) as refusal:
            return await self._page(request, session, refusal=refusal, refused="all", typed=typed)
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}?told=all")


def _rows(views: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[MemoryRow]:
    return [memory_row(view, names) for view in views]
