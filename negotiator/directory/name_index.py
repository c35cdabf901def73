"""An index of tool and publisher names per process, kept in step with the feed of changes."""

import asyncio
from typing import Any, Final

import orjson

from negotiator.directory import catalogue_queries, draft_checks
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.draft_checks import DraftScreening
from negotiator.directory.name_likeness import TrigramIndex
from negotiator.directory.tool_record import ToolDraft
from negotiator.runtime import thread_pools
from negotiator.store.store import Store

_CHUNK: Final = 1_000
_SAVED_BY_MANY: Final = 10
"""Names of tools with this many saves are protected against imitation."""


class ToolNameIndex:
    """The names of all tools and of verified publishers, as of the newest change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tools, self._publishers = TrigramIndex(), TrigramIndex()
        self._seq = 0
        self._lock = asyncio.Lock()

    async def see(self, draft: ToolDraft, *, besides: str = "") -> DraftScreening:
        """The injection flags of a draft and the names it resembles; `besides` is the draft's own
        tool, if it has one.
        """
        flags = await thread_pools.SEARCH.run(draft_checks.find_injection_flags, draft)
        async with self._lock:
            await self._catch_up()
            publisher = draft.publisher.name if draft.publisher else None
            return DraftScreening(
                draft,
                flags,
                tuple(self._tools.like(draft.name, besides=(besides,))),
                tuple(self._publishers.like(publisher)) if publisher else (),
            )

    async def _catch_up(self) -> None:
        while found := await self._store.scan(lambda tx: catalogue_queries.tools_since(tx, self._seq, limit=_CHUNK)):
            for each in found:
                self._apply(each)
            self._seq = found[-1].seq

    def _apply(self, changed: CatalogueTool) -> None:
        if changed.status == "deleted":
            self._tools.drop(changed.id)
            return
        document: dict[str, Any] = orjson.loads(changed.document)
        publisher: dict[str, Any] = document.get("publisher") or {}
        verified = bool(publisher.get("verified"))
        protected = verified or changed.saves >= _SAVED_BY_MANY
        self._tools.put(changed.id, document["name"], protected=protected)
        if verified and publisher.get("name") and publisher.get("domain"):
            self._publishers.put(publisher["domain"], publisher["name"], protected=True)
