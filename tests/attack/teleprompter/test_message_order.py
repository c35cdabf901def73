"""Whatever is sent in whatever order: no fault of ours, the right close code, nothing of another session."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from starlette.applications import Starlette

from negotiator.teleprompter.websocket_context import WebSocketTimeouts
from negotiator.teleprompter.websocket_messages import CloseCode
from tests.helpers.asgi_websocket import AsgiWebSocket, WebSocketClosed, WebSocketRefused, connect
from tests.helpers.fake_recognizer import SILENCE, sentence_as_audio
from tests.helpers.teleprompter_client import NewTeleprompterClient, TeleprompterClient

_SECRET: Final = "The walnut is under the bridge."


def _plain(kind: str) -> dict[str, Any]:
    return {"type": kind}


_NAMES = st.sampled_from(["u1", "u2", "u3"])
_CHANNELS = st.lists(st.sampled_from([{"id": "me"}, {"id": "them"}]), max_size=2)
_FRAMES: Final[st.SearchStrategy[dict[str, Any]]] = st.one_of(
    st.sampled_from(["start", "flush", "pause", "resume"]).map(_plain),
    st.fixed_dictionaries(
        {
            "type": st.just("text"),
            "utterance_id": _NAMES,
            "text": st.just("That is over our budget."),
            "final": st.booleans(),
            "speaker": st.sampled_from(["me", "them", "nobody"]),
        }
    ),
    st.fixed_dictionaries({"type": st.just("start"), "channels": _CHANNELS, "after": st.integers(0, 5)}),
    st.fixed_dictionaries({"type": st.just("mark"), "ref": _NAMES}),
)
_BAD = st.one_of(st.text(max_size=20), st.sampled_from(['{"type":"stop","x":1}', '{"type":"auth"}', "{}", "[]"]))


class TwoUsers:
    """The application with two users, and a loop that the steps of the machine run in."""

    def __init__(self, application: Starlette, mine: TeleprompterClient, other: TeleprompterClient) -> None:
        self.application = application
        self.mine = mine
        self.other = other
        self.loop = asyncio.get_running_loop()

    def run(self, step: Coroutine[Any, Any, Any]) -> Any:
        """The result of a step, from the machine's own thread."""
        return asyncio.run_coroutine_threadsafe(step, self.loop).result(30)


def machine(users: TwoUsers) -> type[RuleBasedStateMachine]:
    """The machine over the application of these users."""

    class Talking(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.stack = AsyncExitStack()
            self.session = users.run(users.mine.open(source="audio"))
            self.theirs = users.run(users.other.open())
            self.socket: AsgiWebSocket | None = None

        @precondition(lambda self: self.socket is None)
        @rule(after=st.none() | st.integers(0, 3))
        def enter(self, after: int | None) -> None:
            query = "" if after is None else f"after={after}"
            path, headers = f"{self.session}/stream", users.mine.headers
            opening = connect(users.application, path, headers=headers, query=query)
            self.socket = users.run(self.stack.enter_async_context(opening))

        @rule()
        def the_other_speaks(self) -> None:
            users.run(users.other.say(self.theirs, _SECRET))

        @rule()
        def the_other_tries_to_enter(self) -> None:
            users.run(_kept_out(users, self.session))

        @precondition(lambda self: self.socket is not None)
        @rule(message=_FRAMES)
        def say(self, message: dict[str, Any]) -> None:
            assert self.socket is not None
            members = {name: value for name, value in message.items() if name != "type"}
            users.run(self.socket.send(message["type"], **members))
            named = [each["id"] for each in members.get("channels", ())]
            self.settle({CloseCode.BAD} if len(named) > len(set(named)) else set())

        @precondition(lambda self: self.socket is not None)
        @rule(number=st.integers(0, 2), pcm=st.sampled_from([SILENCE, sentence_as_audio("Hello"), b"\0"]))
        def sound(self, number: int, pcm: bytes) -> None:
            assert self.socket is not None
            users.run(self.socket.send_bytes(bytes([number]) + pcm))
            self.settle({CloseCode.BAD})

        @precondition(lambda self: self.socket is not None)
        @rule(text=_BAD)
        def babble(self, text: str) -> None:
            assert self.socket is not None
            users.run(self.socket.send_text(text))
            self.settle({CloseCode.BAD})

        @precondition(lambda self: self.socket is not None)
        @rule()
        def stop(self) -> None:
            assert self.socket is not None
            users.run(self.socket.send("stop"))
            assert users.run(self.socket.closed()) == CloseCode.OVER
            self.leave()
            users.run(users.mine.send("DELETE", self.session))
            self.session = users.run(users.mine.open(source="audio"))

        def settle(self, codes: set[CloseCode]) -> None:
            """All that was sent is done; the socket is open, or closed for one of these reasons."""
            assert self.socket is not None
            code = users.run(_settled(self.socket))
            told = [each["seq"] for each in self.socket.said if "at" in each]
            assert told == list(range(told[0], told[0] + len(told))) if told else True
            assert _SECRET not in str(self.socket.said)
            assert "server_error" not in str(self.socket.said)
            if code is not None:
                assert code in codes
                self.leave()

        def leave(self) -> None:
            users.run(self.stack.aclose())
            self.stack, self.socket = AsyncExitStack(), None

        def teardown(self) -> None:
            self.leave()
            users.run(users.mine.send("DELETE", self.session))
            users.run(users.other.send("DELETE", self.theirs))

    return Talking


async def _settled(socket: AsgiWebSocket) -> int | None:
    await socket.send("ping")
    try:
        await socket.until("pong")
    except WebSocketClosed as closed:
        return closed.code
    return None


async def _kept_out(users: TwoUsers, session: str) -> None:
    with pytest.raises(WebSocketRefused) as refused:
        async with connect(users.application, f"{session}/stream", headers=users.other.headers):
            pass
    assert refused.value.status == 404


@pytest.fixture
def long_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is put out for being slow: a busy machine is no part of what is tried."""
    monkeypatch.setattr("negotiator.compose.assistant.WebSocketTimeouts", WebSocketTimeouts)


@pytest.mark.asyncio
async def test_anything_in_any_order(
    long_timeouts: None, application: Starlette, new_caller: NewTeleprompterClient
) -> None:
    del long_timeouts
    users = TwoUsers(application, await new_caller(), await new_caller(email="bob@example.com"))
    chosen = settings(
        max_examples=30, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    await asyncio.to_thread(run_state_machine_as_test, machine(users), settings=chosen)
