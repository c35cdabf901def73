"""`/tactics`: the shelf by phase and by what the other side just said; own tactics are added, edited and deleted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, Forbidden, PreconditionFailed, Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import RUNNING
from negotiator.console.owned.tactics_view import (
    ETHICS,
    FAMILIES,
    GAINS,
    PHASES,
    RISKS,
    Heard,
    heard,
    read_tactic_form,
    tactic_article,
    tactic_row,
    tactic_uses,
    typed_tactic,
)
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, FormSize, PageRouter

TACTICS_PAGE_PATH: Final = "/tactics"
MAX_ANSWERS: Final = 3
_SIZE: Final = FormSize(64 * 1024)
_NOTICES: Final = {"added": "Added. It is suggested where it fits.", "saved": "Saved.", "deleted": "Deleted."}
Members = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TacticsPage:
    """The pages of tactics, and the forms of the user's own."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        page, form, path = self.router.page, self.router.form, TACTICS_PAGE_PATH
        return [
            page(path, self.show),
            page(f"{path}/new", self.new),
            form(f"{path}/new", self.add, size=_SIZE),
            page(f"{path}/{{id}}", self.open),
            page(f"{path}/{{id}}/edit", self.edit),
            form(f"{path}/{{id}}/edit", self.save, back=path, size=_SIZE),
            form(f"{path}/{{id}}/delete", self.delete, back=path),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """What the words of the other side are and what to answer; below it the shelf."""
        asked = request.query_params
        said, talk = asked.get("said", "").strip()[:2000], asked.get("talk", "")
        phase = asked.get("phase", "") if asked.get("phase", "") in PHASES else ""
        query = asked.get("query", "").strip()[:100]
        filters = {**({"phase": phase} if phase else {}), **({"query": query} if query else {})}
        shelf = [tactic_row(view) for view in await self._all(session, filters)]
        negotiations = await self.calls.run(session, "list_negotiations", {"limit": 50})
        return self.router.render(
            "tactics.html",
            session,
            said=said,
            talk=talk,
            talks=[(one["id"], one["title"]) for one in negotiations["items"] if one["state"] in RUNNING],
            heard=await self._heard(session, said, talk) if said else None,
            phase=phase,
            phases=PHASES,
            query=query,
            own=[row for row in shelf if row.is_own],
            families=[
                (family, [row for row in shelf if not row.is_own and row.family == family])
                for family in dict.fromkeys(FAMILIES.values())
            ],
            number=len(shelf),
            notice=_NOTICES.get(asked.get("told", ""), ""),
            here="tactics",
        )

    async def _heard(self, session: SignedInSession, said: str, talk: str) -> Heard:
        """What was recognised, with answers that fit the negotiation `talk` where one is named."""
        members: Members = {"utterance": said, "limit": MAX_ANSWERS}
        if talk:
            found = await self.calls.run(session, "suggest_tactics", {**members, "id": talk})
        else:
            found = await self.calls.run(session, "match_tactics", members)
        return heard(found)

    async def _all(self, session: SignedInSession, filters: Mapping[str, Any] | None = None) -> list[Members]:
        views: list[Members] = []
        cursor: str | None = None
        while True:
            members = {**(filters or {}), "limit": 100, **({"cursor": cursor} if cursor else {})}
            found = await self.calls.run(session, "list_tactics", members)
            views += found["items"]
            cursor = found["next_cursor"]
            if cursor is None:
                return views

    async def open(self, request: Request, session: SignedInSession) -> Response:
        """One tactic, read like a short article, with where it was used."""
        member = {"id": request.path_params["id"]}
        view = await self.calls.run(session, "get_tactic", member)
        names = {one["id"]: one["name"] for one in await self._all(session)}
        uses = await self.calls.run(session, "list_tactic_uses", member)
        return self.router.render(
            "tactic.html",
            session,
            tactic=tactic_article(view, names),
            uses=tactic_uses(uses),
            notice=_NOTICES.get(request.query_params.get("told", ""), ""),
            here="tactics",
        )

    async def new(self, request: Request, session: SignedInSession) -> Response:
        del request
        return self._form_page(session, {})

    async def add(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        del request
        try:
            made = await self.calls.run(session, "add_tactic", read_tactic_form(form))
        except (Conflict, ValidationFailed) as refusal:
            return self._form_page(session, form, refusal=refusal)
        return self.router.pages.see(f"{TACTICS_PAGE_PATH}/{made['id']}?told=added")

    async def edit(self, request: Request, session: SignedInSession) -> Response:
        view = await self.calls.run(session, "get_tactic", {"id": request.path_params["id"]})
        if view["owner"] != "user":
            raise Forbidden("A tactic of the shelf cannot be changed; add one of your own.")
        return self._form_page(session, typed_tactic(view), view=view)

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        member = {"id": request.path_params["id"]}
        view = await self.calls.run(session, "get_tactic", member)
        body, revision = read_tactic_form(form, view), form.get("revision", "")
        try:
            await self.calls.run(
                session, "edit_tactic", {**member, **body}, revision=int(revision) if revision.isdecimal() else None
            )
        except (Conflict, PreconditionFailed, ValidationFailed) as refusal:
            return self._form_page(session, form, view=view, refusal=refusal)
        return self.router.pages.see(f"{TACTICS_PAGE_PATH}/{member['id']}?told=saved")

    async def delete(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Delete an own tactic; without a script that let it be taken back, after a second question."""
        member = {"id": request.path_params["id"]}
        if form.get("sure") != "yes":
            row = tactic_row(await self.calls.run(session, "get_tactic", member))
            return self.router.render("tactic_delete.html", session, row=row, here="tactics")
        await self.calls.run(session, "delete_tactic", member)
        return self.router.pages.see(f"{TACTICS_PAGE_PATH}?told=deleted")

    def _form_page(
        self,
        session: SignedInSession,
        typed: Mapping[str, str],
        *,
        view: Mapping[str, Any] | None = None,
        refusal: Refusal | None = None,
    ) -> Response:
        errors = refusal.errors if isinstance(refusal, ValidationFailed) else ()
        return self.router.render(
            "tactic_form.html",
            session,
            refusal.status if refusal else 200,
            typed=typed,
            view=view,
            faults={[*error.pointer.split("/"), ""][1]: error.description for error in errors},
            refusal=refusal.description if refusal else "",
            families=FAMILIES,
            gains=GAINS,
            risks=RISKS,
            ethics=ETHICS,
            phases=PHASES,
            here="tactics",
        )
