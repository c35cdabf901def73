"""Bytes on the wire become a believed input or an honest 400 (docs/contract 1.2)."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from negotiator.base.errors import InvalidRequest
from negotiator.http.input import parse_form, parse_json, parse_query, read_body

_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\\", max_size=2), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text("abc\\u0", max_size=6), _json, max_size=4))
def test_what_is_let_in_can_be_kept_and_answered_again(value: dict[str, Any]) -> None:
    body = orjson.dumps(value)
    assert orjson.loads(orjson.dumps(parse_json(body))) == orjson.loads(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"n": 123456789012345678901234567890}',
        b'{"n": -9223372036854775809}',
        b'{"n": 18446744073709551616}',
        b'{"n": 1e999}',
        b'{"n": -Infinity}',
        rb'{"t": ["\ud800"]}',
        rb'{"t": {"\udfff": 1}}',
        rb'{"t": "a\u0000b"}',
        rb'{"\u0000": 1}',
        '{"t": 1}'.encode("utf-16"),
        '{"t": 1}'.encode("utf-32-le"),
        b'\xef\xbb\xbf{"t": 1}',
        b'{"t": "\xff"}',
        b'{"t": 1, "t": 1}',
        b'{"t": ' + b"[" * 100_000,
        b"{" * 21,
    ],
)
def test_what_could_not_be_kept_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest):
        parse_json(body)


def test_the_largest_and_the_odd_are_let_in() -> None:
    body = rb'{"a": 18446744073709551615, "b": -9223372036854775808, "c": "\ud83d\ude00 \\u0000", "d": 1e308}'
    assert parse_json(body) == {"a": 2**64 - 1, "b": -(2**63), "c": "😀 \\u0000", "d": 1e308}


def test_a_nul_is_in_no_parameter() -> None:
    for raw in (b"a=b%00c", b"%00=b"):
        with pytest.raises(InvalidRequest):
            parse_form(raw)
        with pytest.raises(InvalidRequest):
            parse_query(raw)
    assert parse_form(b"a=b%2500c") == {"a": "b%00c"}


@pytest.mark.asyncio
async def test_a_length_in_odd_digits_is_no_length() -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}"}

    assert await read_body(receive, 10, "²") == b"{}"
    assert await read_body(receive, 10, "-5") == b"{}"
