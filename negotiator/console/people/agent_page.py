"""`/agents/{id}`: one agent: who it is, what it may do and until when, and what it did and was refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.call_record import AgentCallRecord
from negotiator.agents.tables import AgentCall
from negotiator.base.errors import NotFound
from negotiator.base.scopes import ordered
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.negotiation_words import STATES
from negotiator.console.page_calls import PageCalls
from negotiator.console.page_router import FormFields, PageRouter
from negotiator.console.people import agents_page
from negotiator.console.people.agents_page import AGENTS_PATH
from negotiator.console.people.scope_words import PURPOSES, ScopeInWords, describe_scopes
from negotiator.tokens.refresh_tokens import RefreshTokens

DEEDS: Final[Mapping[str, str]] = {
    "list_negotiations": "Look through your negotiations",
    "open_negotiation": "Open a negotiation",
    "get_negotiation": "Read a negotiation",
    "edit_negotiation": "Change a negotiation",
    "delete_negotiation": "Delete a negotiation",
    "move_negotiation": "Move a negotiation on",
    "list_negotiation_events": "Read the history",
    "list_offers": "Read the offers",
    "record_offer": "Record an offer",
    "get_leverage": "Work out who needs the deal more",
    "next_move": "Ask for the next move",
    "make_battle_plan": "Make a plan",
    "list_battle_plans": "Look for plans",
    "get_battle_plan": "Read a plan",
    "suggest_tactics": "Ask for tactics",
    "list_tactics": "Look through the tactics",
    "search_memories": "Search what you know",
    "list_memories": "Look through what you know",
    "remember": "Remember something",
    "edit_memory": "Change a memory",
    "forget_memory": "Erase a memory",
    "list_wins": "Look through your wins",
    "record_win": "Record a win",
    "get_benchmarks": "Compare with other deals",
    "open_teleprompter_session": "Begin to listen to a call",
    "hear_utterance": "Hear what is said on a call",
    "get_userinfo": "Ask who you are",
}
_GOES_ON: Final = "Nothing: it reads again and goes on by itself."
_MENDS: Final = "Nothing, unless it repeats this. Then show it the sentence above."
ADVICE: Final[Mapping[str, str]] = {
    "below_walk_away": "It wanted to pass your limit. If you want that too, change the limit in the negotiation.",
    "constraint_violated": "It broke a condition of yours. If you want that too, change it in the negotiation.",
    "approval_pending": "Decide in the negotiation: it waits for you.",
    "approval_mismatch": "Look at the negotiation: what you approved is not what it sent.",
    "not_active": "The negotiation is at rest. Open it again if the agent shall go on.",
    "closed": "The negotiation has ended. Open it again if the agent shall go on.",
    "illegal_transition": "Nothing: the negotiation was in another state than it thought.",
    "missing_inputs": "Open the negotiation: it says what is missing for advice.",
    "ledger_full": "The negotiation holds no more offers. Begin a new one.",
    "too_many_memories": "Erase memories that you no longer need.",
    "too_many_tactics": "Delete tactics that you no longer need.",
    "less_trusted": "Nothing: it may not change what you wrote yourself.",
    "duplicate": "Nothing: it was there already.",
    "win_exists": "Nothing: this win was recorded already.",
    "conflict": _GOES_ON,
    "superseded": _GOES_ON,
    "offer_not_live": _GOES_ON,
    "precondition_failed": _GOES_ON,
    "precondition_required": _MENDS,
    "not_found": "Nothing, unless you deleted it by mistake: what it asked for is not there.",
    "rate_limit_exceeded": "Nothing: it called too often, waits, and goes on by itself.",
    "temporarily_unavailable": "Nothing: it tries again by itself.",
    "access_denied": "Nothing: no agent may do this.",
}
SHOWN: Final = 25


@dataclass(frozen=True, slots=True)
class CallInWords:
    """What an agent did or wanted to do, when last and how often. A refusal says why and what to do about it.

    `lacks` are the rights that were missing, and `purpose` the smallest one that would have them.
    """

    at: int
    deed: str
    subject: str
    times: int
    refused: bool
    why: str
    advice: str
    lacks: tuple[ScopeInWords, ...] = ()
    purpose: str = ""


def calls_in_words(
    calls: Sequence[AgentCall], titles: Mapping[str, str], held: Sequence[ScopeInWords]
) -> list[CallInWords]:
    """The calls, newest first; `titles` names operations without words of their own, `held` are the agent's rights."""
    owned = {one.name for one in held}
    return [_call(one, titles, owned) for one in calls[:SHOWN]]


def _call(call: AgentCall, titles: Mapping[str, str], held: set[str]) -> CallInWords:
    deed = DEEDS.get(call.operation) or titles.get(call.operation) or "Something else"
    lacks = tuple(name for name in ordered(call.needs.split()) if name not in held)
    needed = held | set(lacks)
    purpose = next((one.key for one in PURPOSES if needed <= set(one.scopes)), "")
    if call.error == "insufficient_scope":
        why, advice = "It may not do that.", "If you want it to, connect it again with a new code."
    else:
        why = _without_pointer(call.description)
        advice = ADVICE.get(call.error, _MENDS) if call.error else ""
    return CallInWords(
        call.at,
        deed,
        call.subject,
        call.count,
        bool(call.error),
        why,
        advice,
        describe_scopes(lacks),
        purpose if lacks else "",
    )


def _without_pointer(description: str) -> str:
    """The sentence of a refusal with a field's name where programs read its path."""
    path, _, said = description.partition(": ")
    if not path.startswith("/") or not said:
        return description
    field = path.rpartition("/")[2].replace("_", " ")
    return f"{field[:1].upper()}{field[1:]}: {said[:1].lower()}{said[1:]}"


def subjects(calls: Sequence[AgentCall], prefix: str, most: int) -> list[str]:
    """The ids of this kind that the agent touched without being refused, the last one first."""
    named = [one.subject for one in calls if one.subject.startswith(prefix) and not one.error]
    return list(dict.fromkeys(named))[:most]


AGENT_PATH: Final = f"{AGENTS_PATH}/{{id}}"
MAX_TOUCHED: Final = 8
_NOTICES: Final = {"renewed": "Renewed: its time begins again today."}


@dataclass(frozen=True, slots=True)
class AgentPage:
    """The page of one agent of the user's."""

    router: PageRouter
    calls: PageCalls
    record: AgentCallRecord
    refreshing: RefreshTokens

    def routes(self) -> list[Route]:
        return [
            self.router.page(AGENT_PATH, self.show),
            self.router.form(f"{AGENT_PATH}/renew", self.renew, back=AGENTS_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        agent_id: str = request.path_params["id"]
        await self.record.flush()
        found = await self.router.store.scan(
            lambda tx: agents_page.load_agent(tx, agent_id, user_id=session.user_id, longest=self.refreshing.longest)
        )
        negotiations = await self._read(session, "get_negotiation", found, "neg_")
        memories = await self._read(session, "get_memory", found, "mem_")
        return self.router.render(
            "agent.html",
            session,
            agent=found.view.agent,
            rights=found.view,
            code=found.code,
            last_seen=max([found.view.agent.seen_at or 0, *(one.at for one in found.calls[:1])]),
            calls=calls_in_words(found.calls, self._titles(), found.view.may),
            negotiations=negotiations,
            titles={one["id"]: one["title"] for one in negotiations},
            states=STATES,
            memories=[one for one in memories if one["source"]["client_id"] == agent_id],
            notice=_NOTICES.get(request.query_params.get("told", ""), ""),
            here="agents",
        )

    async def renew(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Let the agent work as long as when it was bound."""
        agent_id: str = request.path_params["id"]
        await self.router.store.write(
            lambda tx: agents_page.renew_agent(tx, agent_id, user_id=session.user_id, refreshing=self.refreshing)
        )
        return self.router.pages.see(f"{AGENTS_PATH}/{agent_id}?told=renewed")

    async def _read(
        self, session: SignedInSession, operation: str, found: agents_page.AgentDetail, prefix: str
    ) -> list[dict[str, Any]]:
        """What the agent touched last and what is still there."""
        read: list[dict[str, Any]] = []
        for named in subjects(found.calls, prefix, MAX_TOUCHED):
            try:
                read.append(await self.calls.run(session, operation, {"id": named}))
            except NotFound:
                continue
        return read

    def _titles(self) -> dict[str, str]:
        """The operations as their titles or summaries name them."""
        return {
            one.name: one.tool.title if one.tool else one.summary.partition(":")[0]
            for one in self.calls.service.operations
        }
