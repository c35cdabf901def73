"""JSON merge patch: the RFC's own cases, and what must hold of any patch."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.schema import apply_merge_patch

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
json = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_cases_of_rfc_7396_appendix_a(target: Any, patch: Any, result: Any) -> None:
    assert apply_merge_patch(target, patch) == result


@given(json, json)
def test_a_patch_applied_twice_changes_nothing_more(target: Any, patch: Any) -> None:
    once = apply_merge_patch(target, patch)
    assert apply_merge_patch(once, patch) == once


@given(json)
def test_an_empty_patch_leaves_an_object_as_it_is(target: Any) -> None:
    assert apply_merge_patch(target, {}) == (target if isinstance(target, dict) else {})


@given(st.dictionaries(st.text(max_size=3), scalars, max_size=5))
def test_null_removes_every_member_it_names(target: dict[str, Any]) -> None:
    assert apply_merge_patch(target, dict.fromkeys(target)) == {}


@given(json, json)
def test_the_target_itself_is_not_touched(target: Any, patch: Any) -> None:
    before = repr(target)
    apply_merge_patch(target, patch)
    assert repr(target) == before
