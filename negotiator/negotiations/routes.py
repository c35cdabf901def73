"""The operations of `/api/negotiations`: negotiations, their history and their offers."""

from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import orjson

from negotiator.base import values
from negotiator.base.scopes import NEGOTIATIONS_READ, NEGOTIATIONS_WRITE
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.negotiations import event_queries, lifecycle, offer_history, offers, queries
from negotiator.negotiations import offer_queries as ledger
from negotiator.negotiations.event_queries import actor_of_caller
from negotiator.negotiations.queries import read_current
from negotiator.negotiations.schemas_negotiations import (
    EditNegotiation,
    EventList,
    ListNegotiations,
    ListOf,
    MoveNegotiation,
    NegotiationId,
    NegotiationList,
    NegotiationView,
)
from negotiator.negotiations.schemas_offers import OfferList, OfferView, RecordOffer
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms

_UNSHOWN: Final = (
    *("issues.label", "issues.unit", "issues.tradeable", "issues.weight_given"),
    *("issues.value_points", "issues.options.utility", "issues.weight", "issues.worth"),
    *("target.utility", "walk_away.utility", "walk_away.override_reason"),
    *("batna.value.utility", "batna.probability", "batna.cost", "batna.available_until", "batna.override_reason"),
    *("issues.limit", "issues.multiples", "issues.range.step"),
    *("constraints", "authority", "baseline", "allow", "facts"),
    *("arguments.issue", "arguments.worth", "arguments.shareable"),
)
"""Members that the schemas of both tools on terms leave out, to stay small; the tools still accept them."""

READ_SCOPES: Final = frozenset({NEGOTIATIONS_READ})
WRITE_SCOPES: Final = frozenset({NEGOTIATIONS_WRITE})
NEGOTIATIONS_PATH: Final = "/api/negotiations"
NEGOTIATION_PATH: Final = "/api/negotiations/{id}"
OFFERS_PATH: Final = "/api/negotiations/{id}/offers"


@dataclass(frozen=True, slots=True)
class Negotiations:
    """Operations on negotiations and their offers, over HTTP and MCP."""

    store: Store
    cursors: Cursors
    base: str

    def operations(self) -> list[Operation]:
        """The operations, the most frequent ones first."""
        return [*self._sessions(), *self._life()]

    def _sessions(self) -> list[Operation]:
        return [
            Operation(
                name="list_negotiations",
                method="GET",
                path=NEGOTIATIONS_PATH,
                summary="List your negotiations, newest first, by state, category or words",
                run=self.list,
                input=ListNegotiations,
                output=NegotiationList,
                scopes=READ_SCOPES,
                refusals=(400, 422),
                tool=ToolOffer(
                    "List negotiations",
                    hint="Use it to find a negotiation's id; get_negotiation reads one whole.",
                    leave_out=("category", "phase", "sort", "latest"),
                    brief=(
                        *("next_cursor", "items.id", "items.title", "items.role", "items.category", "items.kind"),
                        *("items.counterparty", "items.state", "items.currency", "items.deadline", "items.missing"),
                        *("items.outcome", "items.updated_at"),
                    ),
                ),
                tag="negotiations",
            ),
            Operation(
                name="open_negotiation",
                method="POST",
                path=NEGOTIATIONS_PATH,
                summary="Open a negotiation with its terms",
                run=self.open,
                input=NegotiationBody,
                output=NegotiationView,
                status=201,
                scopes=WRITE_SCOPES,
                creates=True,
                refusals=(400, 422),
                tool=ToolOffer(
                    "Open a negotiation",
                    hint=(
                        "Use it first: all advice needs one. Target and walk-away name every issue. `missing` in the "
                        "answer names what advice still lacks; edit_negotiation adds it."
                    ),
                    leave_out=(
                        *_UNSHOWN,
                        *("kind", "max_rounds", "issues.their_weight", "their_estimate", "example"),
                        *("counterparty.organisation", "counterparty.role", "counterparty.notes"),
                        *("counterparty.relationship", "counterparty.decision_maker", "idempotency_key"),
                    ),
                ),
                tag="negotiations",
            ),
            Operation(
                name="get_negotiation",
                method="GET",
                path=NEGOTIATION_PATH,
                summary="Read one negotiation: terms, state, outcome and what advice still needs",
                run=self.get,
                input=NegotiationId,
                output=NegotiationView,
                scopes=READ_SCOPES,
                refusals=(404,),
                tool=ToolOffer("Read a negotiation", hint="Use it before you discuss or change its terms."),
                tag="negotiations",
            ),
            Operation(
                name="edit_negotiation",
                method="PATCH",
                path=NEGOTIATION_PATH,
                summary="Change the terms of a negotiation; what is not sent stays",
                run=self.edit,
                input=EditNegotiation,
                output=NegotiationView,
                scopes=WRITE_SCOPES,
                refusals=(400, 403, 404, 409, 412, 422),
                tool=ToolOffer(
                    "Edit a negotiation",
                    hint=(
                        "Use it to add what `missing` names. Members mean what they mean in open_negotiation; a list "
                        "replaces the old one. To loosen or remove a limit is the user's alone and refused here."
                    ),
                    leave_out=(
                        *_UNSHOWN,
                        *("title", "role", "category", "kind", "counterparty", "example"),
                        *("their_estimate.target", "their_estimate.batna", "their_estimate.deadline"),
                        *("their_estimate.confidence", "their_estimate.source"),
                        *("their_estimate.priorities", "their_estimate.walk_away.unit", "max_rounds", "if_revision"),
                    ),
                ),
                tag="negotiations",
            ),
            Operation(
                name="delete_negotiation",
                method="DELETE",
                path=NEGOTIATION_PATH,
                summary="Delete a negotiation with its offers, history and plans",
                run=self.delete,
                input=NegotiationId,
                status=204,
                scopes=WRITE_SCOPES,
                refusals=(404, 412),
                tag="negotiations",
            ),
        ]

    def _life(self) -> list[Operation]:
        return [
            Operation(
                name="move_negotiation",
                method="POST",
                path="/api/negotiations/{id}/state",
                summary="Move a negotiation to another state: pause, close, reopen, agree, approve",
                run=self.move,
                input=MoveNegotiation,
                output=NegotiationView,
                scopes=WRITE_SCOPES,
                creates=True,
                refusals=(400, 403, 404, 409, 412, 422),
                tool=ToolOffer(
                    "Move a negotiation",
                    hint=(
                        "Use it when talks pause, resume, end without a deal (lost, walked_away, cancelled) or with a "
                        "signature (won), and when an approver has decided. For an acceptance use record_offer."
                    ),
                    leave_out=("idempotency_key", "if_revision"),
                ),
                tag="negotiations",
            ),
            Operation(
                name="list_negotiation_events",
                method="GET",
                path="/api/negotiations/{id}/events",
                summary="List the events of a negotiation and who caused them, newest first",
                run=self.events,
                input=ListOf,
                output=EventList,
                scopes=READ_SCOPES,
                refusals=(400, 404, 422),
                tool=ToolOffer(
                    "History of a negotiation", hint="Use it to explain how its state came about.", leave_out=("limit",)
                ),
                tag="negotiations",
            ),
            Operation(
                name="list_offers",
                method="GET",
                path=OFFERS_PATH,
                summary="List the offers and answers of both sides, newest first",
                run=self.offers,
                input=ListOf,
                output=OfferList,
                scopes=READ_SCOPES,
                refusals=(400, 404, 422),
                tool=ToolOffer("List offers", hint="Use it for an offer's id, or to see who conceded how much."),
                tag="offers",
            ),
            Operation(
                name="record_offer",
                method="POST",
                path=OFFERS_PATH,
                summary="Record an offer, acceptance, rejection or withdrawal of either side",
                run=self.record,
                input=RecordOffer,
                output=OfferView,
                status=201,
                scopes=WRITE_SCOPES,
                creates=True,
                refusals=(400, 404, 409, 412, 422),
                tool=ToolOffer(
                    "Record an offer",
                    hint=(
                        "Use it as soon as either side has moved, before next_move: advice reads these offers. "
                        "Figures are taken as said, also outside the range. Nothing is sent to them. Past a limit it "
                        "waits for the user: get_negotiation tells."
                    ),
                    leave_out=("channel", "source", "conditions", "confirms", "if_revision"),
                ),
                tag="offers",
            ),
        ]

    async def list(self, call: Call[ListNegotiations]) -> dict[str, Any]:
        """A page of the caller's negotiations; without `latest` each is sent as its stored JSON."""
        request, owner = call.input, call.caller.principal
        wanted = (request.state, request.category, request.query, request.phase, request.sort)
        bound = ("negotiations", owner, *wanted)
        before = self.cursors.open(request.cursor, *bound) if request.cursor else None

        def unit(tx: Transaction) -> tuple[list[Any], list[Any]]:
            found = queries.page(tx, owner, request, before)
            rows = found[: request.limit]
            if request.latest:
                return found, queries.add_latest(tx, owner, rows)
            return found, [orjson.Fragment(row[1]) for row in rows]

        found, items = await read_current(self.store, owner, unit)
        _, cursor = self.cursors.page(found, request.limit, lambda row: queries.position(row, request.sort), *bound)
        return {"items": items, "next_cursor": cursor}

    async def open(self, call: Call[NegotiationBody]) -> dict[str, Any]:
        owner, body, actor = call.caller.principal, call.input, actor_of_caller(call.caller)
        terms = parse_terms(body)
        made: dict[str, Any] = await self.store.write(
            call.once(lambda tx: lifecycle.open_negotiation(tx, owner, body, terms=terms, actor=actor))
        )
        return made

    async def get(self, call: Call[NegotiationId]) -> Answer:
        """The negotiation as its stored JSON."""
        owner, negotiation = call.caller.principal, call.input.id
        document, revision = await read_current(self.store, owner, lambda tx: queries.find(tx, owner, negotiation))
        return Answer(document, headers={"etag": f'"{revision}"'})

    async def edit(self, call: Call[EditNegotiation]) -> dict[str, Any]:
        owner, actor, expected = call.caller.principal, actor_of_caller(call.caller), call.expected
        page = f"{self.base}/negotiations/{call.input.id}"
        return await self.store.write(
            lambda tx: lifecycle.edit_negotiation(tx, owner, call.input, actor=actor, expected=expected, page=page)
        )

    async def delete(self, call: Call[NegotiationId]) -> Answer:
        owner, expected = call.caller.principal, call.expected
        await self.store.write(lambda tx: queries.remove(tx, owner, call.input.id, expected=expected))
        return Answer(None, 204)

    async def move(self, call: Call[MoveNegotiation]) -> dict[str, Any]:
        owner, actor, expected = call.caller.principal, actor_of_caller(call.caller), call.expected
        moved: dict[str, Any] = await self.store.write(
            call.once(lambda tx: lifecycle.move_state(tx, owner, call.input, actor=actor, expected=expected))
        )
        return moved

    async def events(self, call: Call[ListOf]) -> dict[str, Any]:
        request, owner = call.input, call.caller.principal
        bound = ("events", owner, request.id)
        before = self.cursors.open(request.cursor, *bound) if request.cursor else None

        def unit(tx: Transaction) -> Any:
            queries.find(tx, owner, request.id)
            return event_queries.page(tx, request.id, before=before, limit=request.limit + 1)

        found = await read_current(self.store, owner, unit)
        rows, cursor = self.cursors.page(found, request.limit, itemgetter(0), *bound)
        return {"items": [orjson.Fragment(row[1]) for row in rows], "next_cursor": cursor}

    async def offers(self, call: Call[ListOf]) -> dict[str, Any]:
        request, owner = call.input, call.caller.principal
        bound = ("offers", owner, request.id)
        before = self.cursors.open(request.cursor, *bound) if request.cursor else values.NEWEST

        def unit(tx: Transaction) -> Any:
            queries.find(tx, owner, request.id)
            return ledger.list_offers(tx, request.id)

        rows = await read_current(self.store, owner, unit)
        status = offer_history.offer_statuses(rows, values.now())
        older = [row for row in reversed(rows) if row.seq < before]
        page, cursor = self.cursors.page(older, request.limit, lambda row: row.seq, *bound)
        items = [offer_history.offer_view(row, status[row.id]) for row in page]
        return {"items": items, "next_cursor": cursor}

    async def record(self, call: Call[RecordOffer]) -> dict[str, Any]:
        owner, actor, expected = call.caller.principal, actor_of_caller(call.caller), call.expected
        recorded: dict[str, Any] = await self.store.write(
            call.once(lambda tx: offers.record_offer(tx, owner, call.input, actor=actor, expected=expected))
        )
        return recorded
