"""`/api/wins`: closed deals and what they saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from negotiator.cursors import Cursors
from negotiator.edge.input import believe
from negotiator.edge.operation import Answer, Call, Operation, Tool
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.memories.routes import writer_of
from negotiator.memory.memories.rows import Embedded
from negotiator.memory.references import References
from negotiator.memory.wins import recording, rows
from negotiator.memory.wins.schemas import EditWin, ListWins, NewWin, WinId, WinList, WinView
from negotiator.patch import merged
from negotiator.store.store import Store

READ: Final = frozenset({"memories:read"})
WRITE: Final = frozenset({"memories:write"})
PATH: Final = "/api/wins"
ONE: Final = f"{PATH}/{{id}}"


@dataclass(frozen=True, slots=True)
class Wins:
    """An owner's wins, over HTTP and MCP alike."""

    store: Store
    cursors: Cursors
    embedder: Embedder
    references: References

    def operations(self) -> list[Operation]:
        """What this slice offers; the hottest first."""
        return [*self._reading(), *self._writing()]

    def _reading(self) -> list[Operation]:
        return [
            Operation(
                name="list_wins",
                method="GET",
                path=PATH,
                summary="List your wins, newest first, by category, kind or counterparty",
                run=self.list,
                input=ListWins,
                output=WinList,
                scopes=READ,
                refusals=(400, 422),
                tag="wins",
            ),
            Operation(
                name="get_win",
                method="GET",
                path=ONE,
                summary="Read one win",
                run=self.get,
                input=WinId,
                output=WinView,
                scopes=READ,
                refusals=(404,),
                tag="wins",
            ),
        ]

    def _writing(self) -> list[Operation]:
        return [
            Operation(
                name="record_win",
                method="POST",
                path=PATH,
                summary="Record a closed deal; what it saved is computed, and it is remembered",
                run=self.record,
                input=NewWin,
                output=WinView,
                status=201,
                scopes=WRITE,
                creates=True,
                refusals=(400, 404, 409, 422, 503),
                tool=Tool(
                    "Record a win",
                    hint=(
                        "Use it once a deal is signed and the user has confirmed the figures; get_benchmarks then "
                        "counts it."
                    ),
                    leave_out=(
                        *(
                            "baseline.currency",
                            "baseline.as_of",
                            "baseline.evidence",
                            "achieved.currency",
                        ),
                        *("closed_at", "savings_total", "claimed_savings", "non_price_terms"),
                        *("lead_time_days", "rounds", "savings_type", "visibility"),
                    ),
                ),
                tag="wins",
            ),
            Operation(
                name="edit_win",
                method="PATCH",
                path=ONE,
                summary="Change a win by a JSON merge patch; what it saved is computed anew",
                run=self.edit,
                input=EditWin,
                output=WinView,
                scopes=WRITE,
                refusals=(400, 404, 409, 412, 422, 503),
                tag="wins",
            ),
            Operation(
                name="delete_win",
                method="DELETE",
                path=ONE,
                summary="Erase a win and the memory that tells of it",
                run=self.delete,
                input=WinId,
                status=204,
                scopes=WRITE,
                refusals=(404, 412),
                tag="wins",
            ),
        ]

    async def list(self, call: Call[ListWins]) -> Mapping[str, Any]:
        """One page of the caller's wins."""
        asked, owner = call.input, call.caller.principal
        bound = ("wins", owner, asked.category, asked.kind, asked.counterparty)
        before = None if asked.cursor is None else self.cursors.open(asked.cursor, *bound)
        found = await self.store.read(lambda tx: rows.page(tx, owner, asked, before))
        listed, more = found[: asked.limit], len(found) > asked.limit
        cursor = self.cursors.seal(listed[-1]["id"], *bound) if more else None
        return {"items": listed, "next_cursor": cursor}

    async def get(self, call: Call[WinId]) -> Mapping[str, Any]:
        """One of the caller's wins."""
        owner, asked = call.caller.principal, call.input
        return await self.store.read(lambda tx: rows.find(tx, owner, asked.id))

    async def record(self, call: Call[NewWin]) -> Mapping[str, Any]:
        """Keep a win and remember it."""
        body, writer = call.input, writer_of(call.caller)
        embedded = await self._embedded(body)
        unit = call.once(
            lambda tx: recording.record(tx, writer, body, embedded, references=self.references)
        )
        return await self.store.write(unit)

    async def edit(self, call: Call[EditWin]) -> Mapping[str, Any]:
        """Apply a merge patch."""
        writer, asked = writer_of(call.caller), call.input
        before = await self.store.read(lambda tx: rows.find(tx, writer.owner, asked.id))
        call.require_revision(before["revision"])
        given = {name: before[name] for name in NewWin.model_fields if name in before}
        # The old total is no claim about the new figures.
        given.pop("savings_total")
        body: NewWin = believe(NewWin, merged(given, asked.patch))
        embedded = await self._embedded(body)
        return await self.store.write(
            lambda tx: recording.edit(
                tx,
                writer,
                asked.id,
                body,
                embedded,
                expected=before["revision"],
                references=self.references,
            )
        )

    async def delete(self, call: Call[WinId]) -> Answer:
        """Erase a win."""
        owner, asked = call.caller.principal, call.input
        await self.store.write(
            lambda tx: recording.erase(tx, owner, asked.id, expected=call.expected)
        )
        return Answer(None, 204)

    async def _embedded(self, body: NewWin) -> Embedded:
        [vector] = await self.embedder.embed([recording.told(body, recording.computed(body))])
        return Embedded(self.embedder.model, vector.tobytes())
