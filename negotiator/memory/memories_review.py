"""The user's review of memories that others wrote. It has no address: no bearer token confirms a memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import Field

from negotiator.base.errors import Conflict, NotFound
from negotiator.base.schema import Strict
from negotiator.base.scopes import MEMORIES_WRITE
from negotiator.base.values import ShortText, Truth
from negotiator.http.operation import Call, Operation
from negotiator.memory import memories_lifecycle
from negotiator.memory.search import MemorySearch
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

MAX_REVIEWED: Final = 100


class ReviewMemories(Strict):
    """What the user decided about memories that wait."""

    memories: list[ShortText] = Field(min_length=1, max_length=MAX_REVIEWED, description="The memories' ids.")
    keep: Truth = Field(description="Confirm them, else erase them with their history.")


@dataclass(frozen=True, slots=True)
class MemoryReviews:
    """Keeps or erases memories at the user's own word."""

    store: Store
    recall: MemorySearch

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="review_memories",
                method="POST",
                path="",
                summary="Confirm memories that wait for the user's review, or erase them",
                run=self.review,
                input=ReviewMemories,
                scopes=frozenset({MEMORIES_WRITE}),
            )
        ]

    async def review(self, call: Call[ReviewMemories]) -> Mapping[str, Any]:
        """The ids that were kept, erased and left alone since another memory says the same; 404 if none is there."""
        owner, request = call.caller.principal, call.input

        def unit(tx: Transaction) -> dict[str, list[str]]:
            done: dict[str, list[str]] = {"kept": [], "erased": [], "known": []}
            for memory in dict.fromkeys(request.memories):
                try:
                    memories_lifecycle.review_memory(tx, owner, memory, keep=request.keep)
                except NotFound:
                    continue
                except Conflict:
                    done["known"].append(memory)
                else:
                    done["kept" if request.keep else "erased"].append(memory)
            if not any(done.values()):
                raise NotFound("There is no such memory.")
            return done

        done = await self.store.write(unit)
        if done["erased"]:
            self.recall.forget(owner)
            await self.store.scrub()
        return done
