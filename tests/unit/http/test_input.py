"""What the edge reads from the wire: strict JSON, strict forms, bounded bodies."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message

from negotiator.base.errors import InvalidRequest, PayloadTooLarge, Refusal
from negotiator.http.input import RequestAborted, parse_form, parse_json, parse_query, read_body, read_headers

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=10)
numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
documents = st.dictionaries(
    texts, st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=8), max_size=4
)


def test_headers_are_read_by_name_without_the_blanks_around_them() -> None:
    sent = [(b"mcp-name", b" \t a b\t "), (b"accept", b"x"), (b"accept", b" y ")]
    assert read_headers({"headers": sent}) == {"mcp-name": "a b", "accept": "x, y"}


@given(documents)
def test_a_json_object_is_read_as_it_was_written(document: dict[str, Any]) -> None:
    assert parse_json(json.dumps(document).encode()) == document
    assert parse_json(json.dumps(document, ensure_ascii=False).encode()) == document


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_an_object_or_a_refusal(body: bytes) -> None:
    try:
        found = parse_json(body)
    except InvalidRequest:
        return
    assert isinstance(found, dict)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'"text"',
        b"null",
        b'{"a": 1, "a": 1}',
        b'{"b": {"a": 1, "\\u0061": 2}}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\\ud800"}',
        b'{"a": 1} {"b": 2}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\xff"}',
        '{"a": 1}'.encode("utf-32-le"),
        b'{"a": 123456789012345678901234567890}',
        b'{"a": -9223372036854775809}',
        b'{"a": 18446744073709551616}',
        rb'{"a": {"\udfff": 1}}',
        rb'{"a": "b\u0000c"}',
        rb'{"\u0000": 1}',
        b"{" * 21,
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 100_000,
    ],
)
def test_what_other_readers_forgive_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest):
        parse_json(body)


def test_the_largest_and_the_odd_are_let_in() -> None:
    body = rb'{"a": 18446744073709551615, "b": -9223372036854775808, "c": "\ud83d\ude00 \\u0000", "d": 1e308}'
    assert parse_json(body) == {"a": 2**64 - 1, "b": -(2**63), "c": "😀 \\u0000", "d": 1e308}


@given(st.integers(1, 40))
def test_twenty_levels_pass_and_no_more(levels: int) -> None:
    body = b'{"a":' * levels + b"0" + b"}" * levels
    if levels <= 20:
        assert parse_json(body)
        return
    with pytest.raises(InvalidRequest):
        parse_json(body)


@given(st.text(max_size=60).map(str.encode) | st.binary(max_size=60))
def test_any_form_and_any_query_is_fields_or_a_refusal(text: bytes) -> None:
    for read in (parse_form, parse_query):
        try:
            fields = read(text)
        except Refusal:
            continue
        assert all(value != "" for value in fields.values())


@pytest.mark.parametrize("text", [b"a=1&a=2", b"a=%ff", b"a=%ed%a0%80", b"&".join([b"x=1"] * 101)])
def test_a_repeated_or_undecodable_field_is_refused(text: bytes) -> None:
    with pytest.raises(InvalidRequest):
        parse_form(text)


def test_a_nul_is_in_no_parameter() -> None:
    for raw in (b"a=b%00c", b"%00=b"):
        with pytest.raises(InvalidRequest):
            parse_form(raw)
        with pytest.raises(InvalidRequest):
            parse_query(raw)
    assert parse_form(b"a=b%2500c") == {"a": "b%00c"}


def test_an_empty_field_counts_as_absent_and_resource_may_repeat() -> None:
    assert parse_form(b"scope=&token=x") == {"token": "x"}
    assert parse_form(b"resource=a&resource=b") == {"resource": "a b"}


class Wire:
    """A request body in chunks, and how much of it was asked for."""

    def __init__(self, *chunks: bytes, cut: bool = False) -> None:
        self.left: list[Message] = [
            {"type": "http.request", "body": chunk, "more_body": number < len(chunks)}
            for number, chunk in enumerate(chunks, 1)
        ]
        if cut:
            self.left[-1] = {"type": "http.disconnect"}

    async def receive(self) -> Message:
        return self.left.pop(0)


@pytest.mark.asyncio
async def test_a_body_is_read_whole_up_to_its_limit() -> None:
    assert await read_body(Wire(b"ab", b"cd").receive, 4, None) == b"abcd"
    assert await read_body(Wire(b"").receive, 4, "0") == b""


@pytest.mark.asyncio
async def test_reading_stops_with_the_first_byte_too_many() -> None:
    wire = Wire(b"abc", b"de", b"never read")
    with pytest.raises(PayloadTooLarge):
        await read_body(wire.receive, 4, None)
    assert len(wire.left) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("declared", ["5", "9" * 400])
async def test_a_body_declared_too_large_is_not_read_at_all(declared: str) -> None:
    wire = Wire(b"ab")
    with pytest.raises(PayloadTooLarge):
        await read_body(wire.receive, 4, declared)
    assert len(wire.left) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("declared", ["\u00b2", "-5", "x", "1e9"])
async def test_a_length_that_is_no_number_declares_nothing(declared: str) -> None:
    assert await read_body(Wire(b"ab").receive, 4, declared) == b"ab"


@pytest.mark.asyncio
async def test_a_client_that_goes_away_is_noticed() -> None:
    with pytest.raises(RequestAborted):
        await read_body(Wire(b"ab", b"cd", cut=True).receive, 10, None)
