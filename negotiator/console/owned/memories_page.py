"""`/memories`: everything that the user and their agents remember: search, review, edit, erase, move in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Unavailable
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.form_fields import FormField, FormTable, field_finder, fill_fields, read_fields
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import (
    NO_FORM,
    FormFields,
    FormSize,
    PageRouter,
    RefusedForm,
    read_revision,
    read_whole,
)
from negotiator.http.operation import IMPORT_BODY_LIMIT, LINES
from negotiator.memory.schemas_memories import MemoryKind

FIELDS: Final[FormTable] = {
    "text": FormField("text", blank=""),
    "kind": FormField("kind", blank="fact"),
    "counterparty": FormField("counterparty"),
    "category": FormField("category"),
    "tags": FormField("tags", "tags"),
    "pinned": FormField("pinned", "tick"),
}
KEPT_FROM_CALL: Final = {"kept_from": "call"}
"""The attribute of a sentence that was offered after a call and that the user kept."""
KEPT_FROM_PRACTICE: Final = {"kept_from": "practice"}
"""The attribute of a lesson that the user kept after a rehearsal."""
MEMORIES_PAGE_PATH: Final = "/memories"
MAX_SHOWN: Final = 50
MAX_LISTED: Final = 25
MAX_WAITING: Final = 5
"""What waits is shown in full on a page of its own, so that the search stays near."""
MAX_RELATED: Final = 10
LEAST_SIMILARITY: Final = 0.4
"""The cosine from which a memory is shown as similar to the words that are searched."""
CHOSEN: Final = "memory:"


@dataclass(frozen=True, slots=True)
class MemoriesPage:
    """The pages of the user's memories, and their forms."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        page, form, path = self.router.page, self.router.form, MEMORIES_PAGE_PATH
        return [
            page(path, self.page),
            page(f"{path}/new", self.form_page),
            form(f"{path}/new", self.add, again=self.form_page, size=FormSize(64 * 1024)),
            page(f"{path}/export.ndjson", self.export),
            form(f"{path}/import", self.bring_in, again=self.page, back=path, size=FormSize(IMPORT_BODY_LIMIT)),
            form(f"{path}/review", self.review, back=path, size=FormSize(fields=110)),
            form(f"{path}/erase-all", self.erase_all, again=self.page, back=path),
            page(f"{path}/{{id}}", self.open),
            page(f"{path}/{{id}}/edit", self.form_page),
            form(f"{path}/{{id}}/edit", self.save, again=self.form_page, back=path, size=FormSize(64 * 1024)),
            form(f"{path}/{{id}}/pin", self.pin, back=path),
            form(f"{path}/{{id}}/erase", self.erase, back=path),
        ]

    async def page(
        self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM, **notice: str
    ) -> Response:
        """What waits for review, and everything, or what fits the words that are searched.

        A `notice` stands for the usual one.
        """
        asked = request.query_params
        query, kind = asked.get("query", "").strip()[:200], asked.get("kind", "")
        kind = kind if kind in get_args(MemoryKind) else ""
        reviews = asked.get("review", "") == "all"
        filters = {"limit": MAX_LISTED, **({"kind": kind} if kind else {})}
        counts = await self.calls.run(session, "count_memories")
        members = {**filters, **({"query": query} if query else {})}
        if asked.get("cursor"):
            members["cursor"] = asked["cursor"]
        listed = await self.calls.run(session, "list_memories", members)
        related = await self._related(session, query, kind, listed["items"]) if query else ()
        most = MAX_SHOWN if reviews else MAX_WAITING
        waiting = await self.calls.run(session, "list_memories", {"limit": most, "waiting": True})
        return await self._render(
            "memories.html",
            session,
            form.status,
            query=query,
            kind=kind,
            counts=counts,
            found=listed["items"],
            related=related,
            cursor=listed["next_cursor"] or "",
            is_continued="cursor" in asked,
            waiting=waiting["items"],
            reviews=reviews,
            form=form,
            **notice,
        )

    async def _render(self, template: str, session: SignedInSession, status: int = 200, **context: Any) -> Response:
        """A page that shows memories in words."""
        agents = await self.calls.agent_names(session)
        return self.router.render(
            template, session, status, agents=agents, is_waiting=_is_waiting, here="memories", **context
        )

    async def _related(
        self, session: SignedInSession, query: str, kind: str, known: Sequence[Members]
    ) -> list[Members]:
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
        run = self.calls.run
        return await self._render(
            "memory.html",
            session,
            memory=await run(session, "get_memory", member),
            versions=(await run(session, "list_memory_versions", {**member, "limit": MAX_SHOWN}))["items"],
            uses=(await run(session, "list_memory_uses", member))["plans"],
        )

    async def add(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Store what was typed; it is the user's own word."""
        made = await self.calls.run(session, "remember", read_fields(form, FIELDS))
        told = "added" if made["revision"] == 1 else "repeated"
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}/{made['id']}?told={told}")

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Save an edited memory; it is the user's own word from then on."""
        members = {"id": request.path_params["id"], **read_fields(form, FIELDS)}
        await self.calls.run(session, "edit_memory", members, revision=read_revision(form))
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}/{members['id']}?told=saved")

    async def form_page(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The form of a new memory or of the one that the path names."""
        view: Members | None = None
        if request.path_params:
            view = await self.calls.run(session, "get_memory", dict(request.path_params))
        new = {"kind": "fact", "counterparty": request.query_params.get("counterparty", "")[:100]}
        return self.router.render(
            "memory_form.html",
            session,
            form.status,
            typed={**fill_fields(view or new, FIELDS), **form.typed},
            view=view,
            faults=form.faults(field_finder(FIELDS)),
            refusal=form.said,
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
            memory = await self.calls.run(session, "get_memory", member)
            return self.router.render("memory_erase.html", session, memory=memory, here="memories")
        await self.calls.run(session, "forget_memory", member)
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}?told=dropped")

    async def review(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Keep the ticked memories as the user's own, or erase them; a button of one row names that one alone."""
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

    async def export(self, _request: Request, session: SignedInSession) -> Response:
        lines = await self.calls.text(session, "export_memories", {}, accept=LINES)
        named = {"content-disposition": 'attachment; filename="memories.ndjson"'}
        return Response(lines, media_type=LINES, headers={**named, "cache-control": "no-store"})

    async def bring_in(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Import lines of an export, or texts; they wait for review."""
        done = await self.calls.run(session, "import_memories", {"lines": _import_lines(form.get("lines", ""))})
        return await self.page(request, session, notice=f"{_import_result(done['counts'])}.")

    async def erase_all(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Erase everything, when the number that was typed is that of the memories."""
        await self.calls.run(session, "erase_memories", {"confirm": read_whole(form.get("confirm", "").strip(), -1)})
        return self.router.pages.see(f"{MEMORIES_PAGE_PATH}?told=all")


def _is_waiting(memory: Members) -> bool:
    """Whether a memory waits for the user's review."""
    return memory["status"] != "superseded" and (memory["status"] != "active" or memory["trust"] == 0)


def _import_lines(text: str) -> list[Any]:
    """The lines of an import: JSON objects stay as they are, any other line is the text of a memory."""
    lines = (line.strip() for line in text.splitlines())
    return [line if _is_object(line) else {"text": line} for line in lines if line]


def _is_object(line: str) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except ValueError:
        return False


def _import_result(counts: Mapping[str, int]) -> str:
    """What became of the lines of an import, in one sentence."""
    counted = {
        "stored": counts.get("kept", 0) + counts.get("pending", 0),
        "known already": counts.get("known", 0),
        "held back": counts.get("quarantined", 0),
        "left out": counts.get("skipped", 0),
        "not understood": counts.get("refused", 0),
    }
    return ", ".join(f"{number} {words}" for words, number in counted.items() if number) or "Nothing to import"
