"""The socket through the ASGI application: what is said on it, and what comes back."""

import pytest
from starlette.applications import Starlette

from tests.prompter import Desk
from tests.websocket import connect


@pytest.mark.asyncio
async def test_what_is_said_on_the_socket_raises_its_card(
    application: Starlette, desk: Desk
) -> None:
    one = await desk.open()
    async with connect(application, f"{one}/stream", headers=desk.headers) as socket:
        await socket.send("start")
        ready = await socket.until("ready")
        assert (ready["seq"], ready["replay_from"]) == (0, 1)
        await socket.send("text", utterance_id="u1", text="Honestly, that is way over our budget.")
        cue = await socket.until("cue")
        assert cue["cue"]["cue"] == "no_budget"
        assert [each["seq"] for each in socket.said if each["type"] == "transcript.final"] == [1]
