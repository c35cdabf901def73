"""`/tactics`: the shelf by phase and by what the other side just said; own tactics are added, edited and deleted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.advice.tactics.tactic import Phase
from negotiator.base.errors import Forbidden
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.form_fields import FormField, FormTable, field_finder, fill_fields, read_fields
from negotiator.console.negotiation_words import RUNNING
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import NO_FORM, FormFields, FormSize, PageRouter, RefusedForm, read_revision

_PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
FIELDS: Final[FormTable] = {
    "name": FormField("name", blank=""),
    "summary": FormField("summary", blank=""),
    "family": FormField("family", blank=""),
    "gain": FormField("effect/on", blank="claim"),
    "ethics": FormField("ethics", blank="fine"),
    "risk": FormField("risk"),
    **{name: FormField(name, "lines") for name in ("use_when", "avoid_when", "steps", "lines")},
}


def read_tactic_form(form: Mapping[str, str], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The members of a request. A reason or line that is typed as it was keeps its test and role."""
    known, members = before or {}, read_fields(form, FIELDS)
    effect = known.get("effect", {"size": "medium", "evidence": "practice"})
    for name, new in (("use_when", {}), ("avoid_when", {}), ("lines", {"role": "party"})):
        same = {one["text"]: one for one in reversed(known.get(name, ()))}
        members[name] = [same.get(text, {**new, "text": text}) for text in members[name]]
    return {
        **members,
        "effect": {**effect, **members["effect"]},
        "risk": int(members["risk"]) if members["risk"] in {"0", "1", "2", "3"} else 0,
        "phases": [phase for phase in _PHASES if f"phase_{phase}" in form] or None,
    }


def typed_tactic(view: Mapping[str, Any]) -> dict[str, str]:
    """An own tactic as it would have been typed."""
    return {**fill_fields(view, FIELDS), **{f"phase_{phase}": "on" for phase in view["phases"]}}


TACTICS_PAGE_PATH: Final = "/tactics"
MAX_ANSWERS: Final = 3
_SIZE: Final = FormSize(64 * 1024)


@dataclass(frozen=True, slots=True)
class TacticsPage:
    """The pages of tactics, and the forms of the user's own."""

    router: PageRouter
    calls: PageCalls

    def routes(self) -> list[Route]:
        page, form, path = self.router.page, self.router.form, TACTICS_PAGE_PATH
        return [
            page(path, self.show),
            page(f"{path}/new", self.form_page),
            form(f"{path}/new", self.add, again=self.form_page, size=_SIZE),
            page(f"{path}/{{id}}", self.open),
            page(f"{path}/{{id}}/edit", self.form_page),
            form(f"{path}/{{id}}/edit", self.save, again=self.form_page, back=path, size=_SIZE),
            form(f"{path}/{{id}}/delete", self.delete, back=path),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """What the words of the other side are and what to answer; below it the shelf."""
        asked = request.query_params
        said, talk = asked.get("said", "").strip()[:2000], asked.get("talk", "")
        phase = asked.get("phase", "") if asked.get("phase", "") in _PHASES else ""
        query = asked.get("query", "").strip()[:100]
        filters = {**({"phase": phase} if phase else {}), **({"query": query} if query else {})}
        negotiations = await self.calls.run(session, "list_negotiations", {"limit": 50})
        return self.router.render(
            "tactics.html",
            session,
            said=said,
            talk=talk,
            talks=[one for one in negotiations["items"] if one["state"] in RUNNING],
            heard=await self._heard(session, said, talk) if said else None,
            phase=phase,
            query=query,
            shelf=await self.calls.every(session, "list_tactics", filters),
            here="tactics",
        )

    async def _heard(self, session: SignedInSession, said: str, talk: str) -> Members:
        """What was recognised, with answers that fit the negotiation `talk` where one is named."""
        members: Members = {"utterance": said, "limit": MAX_ANSWERS}
        if talk:
            return await self.calls.run(session, "suggest_tactics", {**members, "id": talk})
        return await self.calls.run(session, "match_tactics", members)

    async def open(self, request: Request, session: SignedInSession) -> Response:
        """One tactic, read like a short article, with where it was used."""
        member = {"id": request.path_params["id"]}
        return self.router.render(
            "tactic.html",
            session,
            tactic=await self.calls.run(session, "get_tactic", member),
            names={one["id"]: one["name"] for one in await self.calls.every(session, "list_tactics")},
            uses=await self.calls.run(session, "list_tactic_uses", member),
            here="tactics",
        )

    async def add(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        made = await self.calls.run(session, "add_tactic", read_tactic_form(form))
        return self.router.pages.see(f"{TACTICS_PAGE_PATH}/{made['id']}?told=added")

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        member = {"id": request.path_params["id"]}
        view = await self.calls.run(session, "get_tactic", member)
        body = read_tactic_form(form, view)
        await self.calls.run(session, "edit_tactic", {**member, **body}, revision=read_revision(form))
        return self.router.pages.see(f"{TACTICS_PAGE_PATH}/{member['id']}?told=saved")

    async def delete(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Delete an own tactic; without a script that let it be taken back, after a second question."""
        member = {"id": request.path_params["id"]}
        if form.get("sure") != "yes":
            tactic = await self.calls.run(session, "get_tactic", member)
            return self.router.render("tactic_delete.html", session, tactic=tactic, here="tactics")
        await self.calls.run(session, "delete_tactic", member)
        return self.router.pages.see(f"{TACTICS_PAGE_PATH}?told=deleted")

    async def form_page(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The form of a new tactic or of the own one that the path names."""
        view: Members | None = None
        if request.path_params:
            view = await self.calls.run(session, "get_tactic", dict(request.path_params))
            if view["owner"] != "user":
                raise Forbidden("A tactic of the shelf cannot be changed; add one of your own.")
        return self.router.render(
            "tactic_form.html",
            session,
            form.status,
            typed=form.typed or (typed_tactic(view) if view else {}),
            view=view,
            faults=form.faults(field_finder(FIELDS)),
            refusal=form.said,
            here="tactics",
        )
