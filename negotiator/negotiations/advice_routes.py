"""Leverage and the next move over HTTP and MCP."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.advice.advisor import Advisor
from negotiator.advice.concession.aims import with_assumed_ranges
from negotiator.advice.concession.reply_check import UNSAFE
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.open_questions import open_questions
from negotiator.advice.plans.evidence import BenchmarkFigure
from negotiator.base import values
from negotiator.base.scopes import AI_TACTICS
from negotiator.http.operation import Call, Operation, ToolOffer
from negotiator.negotiations import engine_input, person_advice, states
from negotiator.negotiations.advisor_case import case_request
from negotiator.negotiations.described import described_negotiation
from negotiator.negotiations.lifecycle import check_deadline
from negotiator.negotiations.offer_history import ledger_offers
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.past_evidence import PastEvidenceReader
from negotiator.negotiations.queries import load_with_offers, read_current
from negotiator.negotiations.schemas_advice import (
    MAX_BODY_BYTES,
    AskedInput,
    CheckReply,
    Counterpart,
    LeverageBody,
    LeverageView,
    NegotiationCheck,
    NextMoveBody,
    NextMoveView,
    ReplyCheck,
    StoredNextMove,
)
from negotiator.negotiations.schemas_negotiations import NegotiationId
from negotiator.negotiations.session import NegotiationSession
from negotiator.runtime import thread_pools
from negotiator.store.store import Store
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.terms_view import issue_view

SAY_PURPOSE: Final = "the sentence that answers the other side now"
SAY_SECONDS: Final = 3.0
"""The longest wait for the wording of a next move: somebody waits for the answer."""


@dataclass(frozen=True, slots=True)
class NegotiationAdvice:
    """Operations that assess a negotiation and advise the next move."""

    store: Store
    past: PastEvidenceReader
    advisor: Advisor

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="check_negotiation",
                method="POST",
                path="/api/negotiations/check",
                summary="Check a negotiation before it is opened: what is wrong, what advice lacks; nothing is stored",
                run=self.check,
                input=NegotiationBody,
                output=NegotiationCheck,
                scopes=frozenset({AI_TACTICS}),
                refusals=(400, 422),
                tag="advice",
            ),
            Operation(
                name="get_leverage",
                method="POST",
                path="/api/negotiations/{id}/leverage",
                summary="Assess a negotiation: zone of agreement, split of power, solution points",
                run=self.leverage,
                input=NegotiationId,
                output=LeverageView,
                scopes=frozenset({AI_TACTICS}),
                refusals=(404, 409, 422),
                tool=ToolOffer(
                    "Leverage",
                    hint=(
                        "Use it when the user asks how strong they are, whether a deal is possible or what is fair; "
                        "`summary` says it in sentences. Each issue needs its range."
                    ),
                    reads=True,
                ),
                tag="advice",
            ),
            Operation(
                name="calculate_leverage",
                method="POST",
                path="/api/leverage",
                summary="Assess a described negotiation; nothing is stored",
                run=self.calculate_leverage,
                input=LeverageBody,
                output=LeverageView,
                scopes=frozenset({AI_TACTICS}),
                refusals=(400, 422),
                body_limit=MAX_BODY_BYTES,
                tag="advice",
            ),
            Operation(
                name="next_move",
                method="POST",
                path="/api/negotiations/{id}/next-move",
                summary="What to do now in a negotiation: accept, counter or walk away, never below the walk-away",
                run=self.next_move,
                input=StoredNextMove,
                output=NextMoveView,
                scopes=frozenset({AI_TACTICS}),
                refusals=(404, 409, 422),
                tool=ToolOffer(
                    "Next move",
                    brief=(
                        *("action", "offer", "my_utility", "alternatives", "acceptance_probability", "reasons", "say"),
                        *("floor", "cost", "assumptions", "ask", "trade", "expected.text", "answer_first"),
                        *("heard.acts.act", "heard.acts.of", "heard.acts.quote", "heard.offers.package"),
                        *("heard.offers.conditions", "heard.offers.sure", "heard.offers.recorded"),
                        *("brief.in_words", "brief.answer", "brief.reasons", "brief.may_give", "brief.thank_for"),
                        *("brief.ask_for", "brief.never_say", "brief.tone", "opponent_utility"),
                    ),
                    hint=(
                        "Use it on every turn, once their latest move is in record_offer; `utterance` is their whole "
                        "message. Needs a walk-away, or an alternative with its value. `say` is for the other side, "
                        "all else for the user; `ask` has questions to the user."
                    ),
                    reads=True,
                ),
                tag="advice",
            ),
            Operation(
                name="check_reply",
                method="POST",
                path="/api/negotiations/{id}/check-reply",
                summary="Check a draft to the other side: wrong or private figures, open questions",
                run=self.check_reply,
                input=CheckReply,
                output=ReplyCheck,
                scopes=frozenset({AI_TACTICS}),
                refusals=(404, 409, 422),
                tool=ToolOffer(
                    "Check a reply",
                    hint="Use it on your own words before they are sent; `problems` has what to write instead.",
                    reads=True,
                    leave_out=("package",),
                ),
                tag="advice",
            ),
            Operation(
                name="calculate_next_move",
                method="POST",
                path="/api/next-move",
                summary="What to do now in a described negotiation: accept, counter or walk away; nothing is stored",
                run=self.calculate_next_move,
                input=NextMoveBody,
                output=NextMoveView,
                scopes=frozenset({AI_TACTICS}),
                refusals=(400, 409, 422),
                body_limit=MAX_BODY_BYTES,
                tag="advice",
            ),
        ]

    async def check(self, call: Call[NegotiationBody]) -> NegotiationCheck:
        """Refuse what `open_negotiation` would refuse; else the questions whose answers advice lacks."""

        def work() -> NegotiationCheck:
            terms = parse_terms(call.input)
            check_deadline(terms)
            return {
                "missing": list(terms.missing),
                "ask": [AskedInput(missing=one.missing, ask=one.ask, why=one.why) for one in open_questions(terms)],
                "issues": [issue_view(issue, terms.currency) for issue in terms.issues],
            }

        return await thread_pools.ADVICE.run(work)

    async def leverage(self, call: Call[NegotiationId]) -> LeverageView:
        session, rows = await self._load(call.caller.principal, call.input.id)
        terms, _ = with_assumed_ranges(session.terms)
        engine_input.require_inputs(terms)
        benchmarks = await self.past.benchmarks(call.caller.principal, session)

        def work() -> LeverageView:
            return engine_input.leverage_answer(
                terms, values.now(), ledger_offers(rows), comparable=person_advice.comparable_price(terms, benchmarks)
            )

        return await thread_pools.ADVICE.run(work)

    async def calculate_leverage(self, call: Call[LeverageBody]) -> LeverageView:
        def work() -> LeverageView:
            return engine_input.leverage_answer(engine_input.described_terms(call.input), values.now())

        return await thread_pools.ADVICE.run(work)

    async def next_move(self, call: Call[StoredNextMove]) -> dict[str, Any]:
        session, rows = await self._load(call.caller.principal, call.input.id)
        states.check_live(session.state)
        asked = call.input
        benchmarks = await self.past.benchmarks(call.caller.principal, session) if asked.counterpart == "person" else ()
        return await self._move(session, rows, asked, asked.counterpart, benchmarks)

    async def check_reply(self, call: Call[CheckReply]) -> ReplyCheck:
        owner, asked = call.caller.principal, call.input
        session, rows = await self._load(owner, asked.id)
        states.check_live(session.state)
        return await thread_pools.ADVICE.run(
            person_advice.checked_reply,
            session,
            rows,
            asked.draft,
            now=values.now(),
            style=asked.style,
            utterance=asked.utterance,
            package=asked.package,
            benchmarks=await self.past.benchmarks(owner, session),
        )

    async def calculate_next_move(self, call: Call[NextMoveBody]) -> dict[str, Any]:
        body = call.input
        counterpart = body.counterpart or ("agent" if body.protocol else "person")
        if body.negotiation is not None:
            session, rows = await thread_pools.ADVICE.run(
                described_negotiation, body.negotiation, body.offers, values.now()
            )
            return await self._move(session, rows, body, counterpart)
        if counterpart == "person":
            answer = await thread_pools.ADVICE.run(person_advice.described_person_answer, body)
            return await self._worded(answer, body.utterance)

        def work() -> dict[str, Any]:
            return engine_input.next_move_answer(engine_input.described_turn_input(body))

        return {**await thread_pools.ADVICE.run(work), "worded_by": "engine"}

    async def _move(
        self,
        session: NegotiationSession,
        rows: list[OfferRow],
        asked: NextMoveBody | StoredNextMove,
        counterpart: Counterpart,
        benchmarks: Sequence[BenchmarkFigure] = (),
    ) -> dict[str, Any]:
        """The next move from the session and the rows of its ledger."""
        now, is_scored = values.now(), not isinstance(asked, StoredNextMove) or asked.scores
        if counterpart == "person":
            answer = await thread_pools.ADVICE.run(
                person_advice.stored_person_answer,
                session,
                rows,
                now=now,
                style=asked.style,
                utterance=asked.utterance,
                benchmarks=benchmarks,
                scores=is_scored,
            )
            answer["opponent_utility"] = engine_input.break_points(session.terms, answer["opponent_utility"])
            worded = await self._worded(answer, asked.utterance, session.terms, ledger_offers(rows))
            if worded["worded_by"] == "engine":
                return worded
            checked = await thread_pools.ADVICE.run(
                person_advice.checked_reply,
                session,
                rows,
                worded["say"],
                now=now,
                style=asked.style,
                utterance=asked.utterance,
                benchmarks=benchmarks,
            )
            found = {one["kind"] for one in checked["problems"]}
            return {**answer, "worded_by": "engine"} if found & UNSAFE else worded

        def work() -> dict[str, Any]:
            terms = session.terms
            situation = engine_input.stored_turn_input(
                terms, rows, opened_at=session.created_at, now=now, style=asked.style
            )
            standing = engine_input.standing_package(terms, rows, now)
            answer = engine_input.next_move_answer(situation, terms, standing)
            scores = engine_input.break_points(terms, answer["opponent_utility"]) if is_scored else {}
            return {**answer, "opponent_utility": scores}

        return {**await thread_pools.ADVICE.run(work), "worded_by": "engine"}

    async def _worded(
        self,
        answer: dict[str, Any],
        utterance: str | None,
        terms: Terms | None = None,
        offers: Sequence[LedgerOffer] = (),
    ) -> dict[str, Any]:
        """The answer with its `say` reworded by the advisor, where that succeeds in time."""
        if not self.advisor.is_on:
            return {**answer, "worded_by": "engine"}
        texts = {"/say": answer["say"]}
        request = case_request(terms, texts, SAY_PURPOSE, offers=offers, utterance=utterance, seconds=SAY_SECONDS)
        worded = await self.advisor.word(request)
        return {**answer, "say": worded.texts["/say"], "worded_by": worded.by}

    async def _load(self, owner: str, negotiation: str) -> tuple[NegotiationSession, list[OfferRow]]:
        return await read_current(self.store, owner, lambda tx: load_with_offers(tx, owner, negotiation))
