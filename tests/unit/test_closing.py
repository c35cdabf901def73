"""What closes several things closes each of them."""

from unittest.mock import AsyncMock

import pytest
from structlog.testing import capture_logs

from negotiator.closing import close_all


@pytest.mark.asyncio
async def test_what_cannot_be_closed_keeps_nothing_open() -> None:
    first, second, third = AsyncMock(), AsyncMock(side_effect=OSError("read-only")), AsyncMock()
    with capture_logs() as lines:
        await close_all(first, second, third)
    for each in (first, second, third):
        each.assert_awaited_once()
    assert [line["error"] for line in lines] == ["read-only"]
