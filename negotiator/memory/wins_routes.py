"""`/api/wins`: closed deals and what they saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from negotiator.base import values
from negotiator.base.schema import NoInput, apply_merge_patch
from negotiator.base.scopes import MEMORIES_READ, MEMORIES_WRITE
from negotiator.base.values import milliseconds
from negotiator.http.cursors import Cursors
from negotiator.http.input import validate
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.memory import wins_queries, wins_recording
from negotiator.memory.memories_lifecycle import ReferenceChecks, memory_writer
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_wins import (
    WINS_PATH,
    EditWin,
    ListWins,
    NewWin,
    WinId,
    WinList,
    WinTotals,
    WinTotalsQuery,
    WinView,
)
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder
from negotiator.memory.wins_queries import WinSummaryView
from negotiator.store.store import Store

_WIN_PATH: Final = "/api/wins/{id}"
_read_operation = partial(Operation, scopes=frozenset({MEMORIES_READ}), tag="wins")
_write_operation = partial(Operation, scopes=frozenset({MEMORIES_WRITE}), tag="wins")


@dataclass(frozen=True, slots=True)
class WinRoutes:
    store: Store
    cursors: Cursors
    embedder: MemoryEmbedder
    references: ReferenceChecks

    def operations(self) -> list[Operation]:
        return [
            _read_operation(
                name="list_wins",
                method="GET",
                path=WINS_PATH,
                summary="List your wins, newest first, by category, kind or counterparty",
                run=self.list,
                input=ListWins,
                output=WinList,
                refusals=(400, 422),
            ),
            _read_operation(
                name="get_win_totals",
                method="GET",
                path="/api/wins/totals",
                summary="Add up what your wins saved, by currency and month",
                run=self.totals,
                input=WinTotalsQuery,
                output=WinTotals,
                refusals=(422,),
            ),
            _read_operation(
                name="get_win_summary",
                method="GET",
                path="/api/wins/summary",
                summary="What your wins brought: over time, by category, counterparty, agent and baseline",
                run=self.summarise,
                output=WinSummaryView,
            ),
            _read_operation(
                name="get_win",
                method="GET",
                path=_WIN_PATH,
                summary="Read one win",
                run=self.get,
                input=WinId,
                output=WinView,
                refusals=(404,),
            ),
            _write_operation(
                name="record_win",
                method="POST",
                path=WINS_PATH,
                summary="Record a closed deal; the server computes the savings and stores a memory of it",
                run=self.record,
                input=NewWin,
                output=WinView,
                status=201,
                creates=True,
                refusals=(400, 404, 409, 422, 503),
                tool=ToolOffer(
                    "Record a win",
                    hint=(
                        "Use it once a deal is signed, with the figures that the user confirmed; get_benchmarks "
                        "then counts it."
                    ),
                    leave_out=(
                        *("notes", "tactics_used.helped"),
                        *("baseline.currency", "baseline.as_of", "baseline.evidence", "achieved.currency"),
                        *("closed_at", "savings_total", "claimed_savings", "non_price_terms"),
                        *("lead_time_days", "rounds", "savings_type", "visibility"),
                    ),
                ),
            ),
            _write_operation(
                name="edit_win",
                method="PATCH",
                path=_WIN_PATH,
                summary="Change a win by a JSON merge patch; the savings are computed again",
                run=self.edit,
                input=EditWin,
                output=WinView,
                refusals=(400, 404, 409, 412, 422, 503),
            ),
            _write_operation(
                name="delete_win",
                method="DELETE",
                path=_WIN_PATH,
                summary="Erase a win and its memory",
                run=self.delete,
                input=WinId,
                status=204,
                refusals=(404, 412),
            ),
        ]

    async def list(self, call: Call[ListWins]) -> Mapping[str, Any]:
        query, owner = call.input, call.caller.principal
        wanted = (query.category, query.kind, query.counterparty, query.negotiation_id)
        bound = ("wins", owner, *wanted)
        before = None if query.cursor is None else self.cursors.open(query.cursor, *bound)
        found = await self.store.read(lambda tx: wins_queries.page(tx, owner, query, before))
        listed, cursor = self.cursors.page(found, query.limit, lambda win: win["id"], *bound)
        return {"items": listed, "next_cursor": cursor}

    async def totals(self, call: Call[WinTotalsQuery]) -> WinTotals:
        owner, since = call.caller.principal, milliseconds(call.input.since) or 0
        wins = await self.store.scan(lambda tx: wins_queries.list_all(tx, owner))
        return wins_queries.win_totals(win for win in wins if values.parse_timestamp(win["closed_at"]) >= since)

    async def summarise(self, call: Call[NoInput]) -> WinSummaryView:
        """The sums over all of the owner's wins, each currency by itself."""
        owner = call.caller.principal
        return await self.store.scan(lambda tx: wins_queries.summarise_wins(wins_queries.list_all(tx, owner)))

    async def get(self, call: Call[WinId]) -> Mapping[str, Any]:
        owner, query = call.caller.principal, call.input
        return await self.store.read(lambda tx: wins_queries.find(tx, owner, query.id))

    async def record(self, call: Call[NewWin]) -> Mapping[str, Any]:
        body, writer = call.input, memory_writer(call.caller)
        embedded = await self._embedded(body)
        unit = call.once(lambda tx: wins_recording.record_win(tx, writer, body, embedded, references=self.references))
        return await self.store.write(unit)

    async def edit(self, call: Call[EditWin]) -> Mapping[str, Any]:
        writer, query = memory_writer(call.caller), call.input
        before = await self.store.read(lambda tx: wins_queries.find(tx, writer.owner, query.id))
        call.require_revision(before["revision"])
        current = {name: before[name] for name in NewWin.model_fields if name in before}
        # The old total does not belong to the new figures.
        current.pop("savings_total")
        body: NewWin = validate(NewWin, apply_merge_patch(current, query.patch))
        embedded = await self._embedded(body)
        return await self.store.write(
            lambda tx: wins_recording.edit_win(
                tx, writer, query.id, body, embedded, expected=before["revision"], references=self.references
            )
        )

    async def delete(self, call: Call[WinId]) -> Answer:
        owner, query = call.caller.principal, call.input
        await self.store.write(lambda tx: wins_recording.erase_win(tx, owner, query.id, expected=call.expected))
        return Answer(None, 204)

    async def _embedded(self, body: NewWin) -> StoredEmbedding:
        text = wins_recording.describe_win(body, wins_recording.validated_savings(body))
        [embedded] = await self.embedder.embed([EmbeddedText(text, "win", body.counterparty, ())])
        return embedded
