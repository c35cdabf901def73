"""The end of a process whose database takes no changes any more."""

import pytest

from negotiator.agents.call_record import AgentCallRecord
from negotiator.base.errors import Unavailable
from negotiator.config.settings import Settings
from negotiator.store.sqlite import SqliteStore
from tests.conftest import running


@pytest.mark.asyncio
async def test_one_part_that_cannot_be_closed_keeps_no_other_open(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[SqliteStore] = []
    close_store = SqliteStore.close

    async def close(store: SqliteStore) -> None:
        await close_store(store)
        closed.append(store)

    async def refuse(_calls: AgentCallRecord) -> None:
        raise Unavailable("The database cannot take a change now.")

    monkeypatch.setattr(AgentCallRecord, "flush", refuse)
    monkeypatch.setattr(SqliteStore, "close", close)
    async with running(settings):
        pass
    assert closed
