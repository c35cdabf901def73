"""The messages of the socket: what is read, what is refused, and how."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.errors import ValidationFailed
from negotiator.teleprompter import websocket_messages
from negotiator.teleprompter.websocket_messages import ProtocolError, StartMessage, TextMessage

_MEMBERS = {
    "start": {"channels": [{"id": "them"}, {"id": "me"}], "after": 3},
    "text": {"utterance_id": "u1", "text": "Hello"},
    "flush": {},
    "mark": {"ref": "here"},
    "pause": {},
    "resume": {},
    "ping": {},
    "stop": {},
    "auth": {"ticket": "x"},
}
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", _MEMBERS)
def test_every_message_is_read(kind: str) -> None:
    assert websocket_messages.read_message(orjson.dumps({"type": kind, **_MEMBERS[kind]}).decode()).type == kind


@pytest.mark.parametrize("kind", _MEMBERS)
def test_a_member_that_is_not_known_is_bad(kind: str) -> None:
    with pytest.raises(ProtocolError, match="has no member `extra`"):
        websocket_messages.read_message(orjson.dumps({"type": kind, **_MEMBERS[kind], "extra": 1}).decode())


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "1", "null", "{", '{"type":1}', '{"type":"nothing"}', '{"type":["ping"]}', "{}"),
        *('{"type":"ping","type":"ping"}', '{"type":"text"}', '{"type":"auth"}', '{"type":NaN}'),
        '{"type":"start","channels":[{"id":"me"},{"id":"me"}]}',
        '{"type":"start","channels":[[[[[1]]]]]}',
    ],
)
def test_what_is_no_message_is_bad(text: str) -> None:
    with pytest.raises(ProtocolError):
        websocket_messages.read_message(text)


@pytest.mark.parametrize(
    "members",
    [
        {"type": "text", "utterance_id": "u1", "text": "x" * 2001},
        {"type": "text", "utterance_id": "u 1", "text": "x"},
        {"type": "text", "utterance_id": "u1", "text": "x", "speaker": "nobody"},
        {"type": "start", "after": -1},
        {"type": "start", "channels": [{"id": "them", "rate": 8000}]},
        {"type": "start", "channels": [{"id": "them", "encoding": "opus"}]},
        {"type": "start", "channels": [{"id": "them"}, {"id": "me"}, {"id": "me"}]},
    ],
)
def test_a_value_that_is_refused_says_where(members: dict[str, object]) -> None:
    with pytest.raises(ValidationFailed) as refused:
        websocket_messages.read_message(orjson.dumps(members).decode())
    assert refused.value.errors[0].pointer.startswith("/")


@given(_JSON)
def test_nothing_but_a_message_or_a_refusal_comes_of_any_json(value: object) -> None:
    try:
        message = websocket_messages.read_message(orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_DATACLASS).decode())
    except (ProtocolError, ValidationFailed):
        return
    except orjson.JSONEncodeError:
        return
    assert message.type in _MEMBERS


@given(st.binary(max_size=64))
def test_a_sound_frame_is_a_channel_and_whole_samples(frame: bytes) -> None:
    try:
        number, pcm = websocket_messages.read_audio_frame(frame)
    except ProtocolError:
        assert len(frame) < 3 or len(frame) % 2 == 0
        return
    assert bytes([number]) + pcm == frame
    assert len(pcm) % 2 == 0


def test_defaults_are_those_of_the_contract() -> None:
    said = websocket_messages.read_message('{"type":"text","utterance_id":"u1","text":" Hello "}')
    assert isinstance(said, TextMessage)
    assert (said.text, said.speaker, said.final) == ("Hello", "them", True)
    start = websocket_messages.read_message('{"type":"start","channels":[{"id":"me"}]}')
    assert isinstance(start, StartMessage)
    assert (start.after, start.channels[0].rate) == (0, 16_000)
