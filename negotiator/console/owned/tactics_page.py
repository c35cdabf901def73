"""`/tactics`: the shelf by phase and by what the other side just said; own tactics are added, edited and deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict, Forbidden, PreconditionFailed, Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.form_fields import FormField, FormTable, field_faults, fill_fields, read_fields
from negotiator.console.negotiation_words import RUNNING, day_text
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, FormSize, PageRouter, read_revision

PHASES: Final = {
    "prepare": "Before you meet",
    "open": "At the start",
    "explore": "Finding out",
    "bargain": "Giving and taking",
    "close": "Agreeing",
    "after": "Afterwards",
}
FAMILIES: Final = {
    "anchoring": "First figures",
    "information": "Finding out",
    "concession": "Giving way",
    "trade": "Trading",
    "time": "Time",
    "authority": "Who decides",
    "framing": "How it is put",
    "relationship": "Relationship",
    "coalition": "Others at the table",
    "closing": "Closing",
    "defence": "Defence",
    "hardball": "Pressure",
}
GAINS: Final = {
    "claim": "A better price for you",
    "create": "More for both sides",
    "relationship": "A better relationship",
}
_SIZES: Final = {"small": "a little", "medium": "noticeably", "large": "a lot"}
_GRADES: Final = {
    "meta-analysis": "many studies agree",
    "experiment": "shown in experiments",
    "practice": "known from practice",
}
RISKS: Final[tuple[str, ...]] = ("No risk", "Little risk", "Some risk", "May end the talk")
ETHICS: Final = {"fine": "Fair", "caution": "Use with care", "deceptive": "Deceptive: know it, do not use it"}
_SPEAKERS: Final = {
    "buyer": "When you buy",
    "seller": "When you sell",
    "employer": "When you hire",
    "candidate": "When you are hired",
    "landlord": "When you let",
    "tenant": "When you rent",
    "party": "",
}
_HELPED: Final = {-2: "it harmed", -1: "it did not help", 0: "effect not known", 1: "it helped", 2: "it decided"}


@dataclass(frozen=True, slots=True)
class TacticRow:
    """One tactic on the shelf."""

    id: str
    name: str
    summary: str
    family: str
    ethics: str
    is_own: bool


def tactic_row(view: Mapping[str, Any]) -> TacticRow:
    return TacticRow(
        view["id"],
        view["name"],
        view["summary"],
        FAMILIES[view["family"]],
        "" if view["ethics"] == "fine" else ETHICS[view["ethics"]],
        view["owner"] == "user",
    )


@dataclass(frozen=True, slots=True)
class TacticArticle:
    """A tactic as a short article."""

    row: TacticRow
    aliases: str
    effect: str
    risk: str
    phases: str
    use_when: Sequence[str]
    avoid_when: Sequence[str]
    steps: Sequence[str]
    lines: Sequence[tuple[str, str]]
    answers: Sequence[tuple[str, str]]
    answered_by: Sequence[tuple[str, str]]
    law: str
    sources: Sequence[str]


def tactic_article(view: Mapping[str, Any], names: Mapping[str, str]) -> TacticArticle:
    """The article; `names` are those of all tactics by id."""
    effect, risk = view["effect"], int(view["risk"])
    every = len(view["phases"]) == len(PHASES)
    return TacticArticle(
        tactic_row(view),
        ", ".join(view["aliases"]),
        f"{GAINS[effect['on']]}, {_SIZES[effect['size']]}; {_GRADES[effect['evidence']]}.",
        RISKS[risk],
        "At any time" if every else ", ".join(PHASES[phase] for phase in view["phases"]),
        [clause["text"] for clause in view["use_when"]],
        [clause["text"] for clause in view["avoid_when"]],
        view["steps"],
        [(_SPEAKERS[line["role"]], line["text"]) for line in view["lines"]],
        [(key, names[key]) for key in view["counter_to"] if key in names],
        [(key, names[key]) for key in view["countered_by"] if key in names],
        view["legality_notes"],
        [f"{source['author']}: {source['title']} ({source['year']})" for source in view["sources"]],
    )


@dataclass(frozen=True, slots=True)
class TacticUse:
    """One place where a tactic was used: what, its link and how it went."""

    title: str
    path: str
    detail: str


def tactic_uses(found: Mapping[str, Any]) -> list[TacticUse]:
    """The results and plans that name the tactic, results first."""
    wins = [
        TacticUse(
            win["counterparty"] or win["category"],
            f"/wins/{win['win_id']}",
            f"{day_text(win['closed_at'])}, {_HELPED[win['helped']]}",
        )
        for win in found["wins"]
    ]
    plans = [
        TacticUse(
            plan["title"],
            f"/negotiations/{plan['negotiation_id']}#plan",
            f"plan {plan['version']} of {day_text(plan['at'])}",
        )
        for plan in found["plans"]
    ]
    return [*wins, *plans]


@dataclass(frozen=True, slots=True)
class TacticAnswer:
    """One thing to answer: the tactic, the sentence to say, and why."""

    id: str
    name: str
    say: str
    why: Sequence[str]


@dataclass(frozen=True, slots=True)
class Heard:
    """What the other side's words are, and what to answer."""

    moves: Sequence[tuple[str, str, str, bool]]
    """Id, name, the words that show it, and whether it is deceptive."""
    answers: Sequence[TacticAnswer]


def heard(found: Mapping[str, Any]) -> Heard:
    """Suggestions as the page says them."""
    return Heard(
        [(one["tactic"]["id"], one["tactic"]["name"], one["quote"], one["deceptive"]) for one in found["recognised"]],
        [
            TacticAnswer(item["tactic"]["id"], item["tactic"]["name"], item["say"], _texts(item["why"]))
            for item in found["items"]
        ],
    )


def _texts(why: Any) -> list[str]:
    return [why] if isinstance(why, str) else list(why)


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
        "phases": [phase for phase in PHASES if f"phase_{phase}" in form] or None,
    }


def typed_tactic(view: Mapping[str, Any]) -> dict[str, str]:
    """An own tactic as it would have been typed."""
    return {**fill_fields(view, FIELDS), **{f"phase_{phase}": "on" for phase in view["phases"]}}


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
        shelf = [tactic_row(view) for view in await self.calls.every(session, "list_tactics", filters)]
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

    async def open(self, request: Request, session: SignedInSession) -> Response:
        """One tactic, read like a short article, with where it was used."""
        member = {"id": request.path_params["id"]}
        view = await self.calls.run(session, "get_tactic", member)
        names = {one["id"]: one["name"] for one in await self.calls.every(session, "list_tactics")}
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
        body = read_tactic_form(form, view)
        try:
            await self.calls.run(session, "edit_tactic", {**member, **body}, revision=read_revision(form))
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
        return self.router.render(
            "tactic_form.html",
            session,
            refusal.status if refusal else 200,
            typed=typed,
            view=view,
            faults=field_faults(refusal, FIELDS),
            refusal=refusal.description if refusal else "",
            families=FAMILIES,
            gains=GAINS,
            risks=RISKS,
            ethics=ETHICS,
            phases=PHASES,
            here="tactics",
        )
