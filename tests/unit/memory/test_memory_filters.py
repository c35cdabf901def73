"""Filters: what holds, what never raises, what is refused."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.errors import ValidationFailed
from negotiator.memory.search_filters import compile_filters

FACTS: dict[str, Any] = {
    "kind": "fact",
    "trust": 2,
    "pinned": False,
    "tags": ["a", "b"],
    "category": None,
    "attributes": {"size": 4, "name": "x", "open": True},
    "source": {"type": "agent", "client_id": "agt_1"},
    "created_at": "2027-01-01T00:00:00.000Z",
}


@pytest.mark.parametrize(
    ("filters", "holds"),
    [
        ({}, True),
        ({"kind": "fact"}, True),
        ({"kind": {"ne": "fact"}}, False),
        ({"trust": {"gt": 1, "lte": 2}}, True),
        ({"trust": "2"}, False),
        ({"trust": True}, False),
        ({"pinned": False}, True),
        ({"pinned": 0}, False),
        ({"tags": "b"}, True),
        ({"tags": {"ne": "b"}}, False),
        ({"tags": {"in": ["z", "a"]}}, True),
        ({"category": {"exists": False}}, True),
        ({"category": None}, True),
        ({"attributes.size": {"gte": 4.0}}, True),
        ({"attributes.size": {"gte": "4"}}, False),
        ({"attributes.none": {"exists": True}}, False),
        ({"attributes.name.deep": "x"}, False),
        ({"source.client_id": "agt_1"}, True),
        ({"created_at": {"gte": "2026-12-31T00:00:00.000Z"}}, True),
        ({"OR": [{"kind": "win"}, {"trust": 2}]}, True),
        ({"AND": [{"kind": "fact"}, {"NOT": {"trust": 2}}]}, False),
    ],
)
def test_a_filter_holds_or_not(filters: dict[str, Any], holds: bool) -> None:
    assert compile_filters(filters)(FACTS) is holds


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats(allow_nan=True)
names = st.sampled_from(["kind", "trust", "tags", "AND", "OR", "NOT", "attributes.x", "owner", ""])
operators = st.dictionaries(st.sampled_from(["eq", "in", "gt", "exists", "like"]), scalars)


@given(
    st.recursive(
        st.dictionaries(names, scalars | operators, max_size=3),
        lambda inner: st.dictionaries(names, inner | st.lists(inner, max_size=3), max_size=3),
        max_leaves=8,
    )
)
def test_any_filter_answers_or_is_refused(filters: dict[str, Any]) -> None:
    with contextlib.suppress(ValidationFailed):
        assert compile_filters(filters)(FACTS) in {True, False}


def test_a_filter_has_a_size_and_a_depth() -> None:
    wide = {"OR": [{"kind": "fact"}] * 60}
    deep: dict[str, Any] = {"kind": "fact"}
    for _ in range(8):
        deep = {"NOT": deep}
    for filters in (wide, deep):
        with pytest.raises(ValidationFailed):
            compile_filters(filters)
