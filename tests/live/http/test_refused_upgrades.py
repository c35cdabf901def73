"""An upgrade to a WebSocket that is refused is an ordinary answer to the client and no error of the server."""

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.helpers.live_server import Server
from tests.helpers.teleprompter_client import PATH

pytestmark = pytest.mark.asyncio


async def test_a_refused_upgrade_is_no_error_in_the_log(server: Server) -> None:
    address = f"{server.base}{PATH}/tps_x/stream".replace("http", "ws", 1)
    for _ in range(8):  # the line of the last one might come after its answer
        with pytest.raises(InvalidStatus) as refused:
            async with connect(address, additional_headers={"authorization": "Bearer x"}):
                pass
        assert refused.value.response.status_code == 401
    assert "handshake" not in (server.folder / "log").read_text()
