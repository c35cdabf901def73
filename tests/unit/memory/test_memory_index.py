"""A shelf: rows that change, statuses, models apart; and the filters over its memories."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.errors import ValidationFailed
from negotiator.memory.glossary import glossary
from negotiator.memory.index import IndexedMemory, KeywordIndex, MemoryIndex, RankingMode
from negotiator.memory.search_filters import compile_filters

NOW = 1_800_000_000_000
DAY = 86_400_000


def shelved(key: str, words: str, vector: list[float] | None = None, **rest: object) -> IndexedMemory:
    """A memory of these words."""
    plain: dict[str, object] = {
        "id": key,
        "terms": words.split(),
        "vector": None if vector is None else np.array(vector, np.float32).tobytes(),
        "document": b'{"kind":"%b"}' % key.encode(),
        "status": "active",
        "trust": 2,
        "ageless": False,
        "created": NOW,
        "expires": None,
    }
    return IndexedMemory(**{**plain, **rest})  # pyright: ignore[reportArgumentType]


def ask(shelf: MemoryIndex, words: str, vector: list[float] | None = None, **rest: object) -> list[str]:
    """The ids that answer."""
    mode: RankingMode = "keyword" if vector is None else "hybrid"
    asked: Any = {"mode": mode, "now": NOW, **rest}
    like = None if vector is None else np.array(vector, np.float32)
    return [memory for memory, _ in shelf.search(glossary().query_terms(words), like, **asked)]


def test_a_changed_memory_is_found_by_what_it_says_now() -> None:
    shelf = MemoryIndex(1)
    shelf.put([shelved("a", "rent", [1, 0]), shelved("b", "steel", [0, 1])])
    shelf.put([shelved("a", "freight", [0, 1])])
    assert (ask(shelf, "rent"), ask(shelf, "freight")) == ([], ["a"])
    assert len(shelf) == 2
    assert ask(shelf, "nothing", [0, 1]) == ["a", "b"] or ask(shelf, "nothing", [0, 1]) == ["b", "a"]


def test_only_what_may_be_shown_is_shown() -> None:
    shelf = MemoryIndex(1)
    shelf.put(
        [
            shelved("ended", "rent", expires=NOW - 1),
            shelved("ends", "rent", expires=NOW + 1),
            shelved("hidden", "rent", status="quarantined"),
            shelved("waiting", "rent", status="pending"),
        ]
    )
    assert ask(shelf, "rent") == ["ends"]
    assert set(ask(shelf, "rent", statuses=frozenset({"active", "pending"}))) == {"ends", "waiting"}

    def is_waiting(facts: Mapping[str, Any]) -> bool:
        return facts["kind"] == "waiting"

    assert ask(shelf, "rent", keep=is_waiting) == []


def test_vectors_of_another_model_are_not_compared_but_words_are() -> None:
    shelf = MemoryIndex(1)
    shelf.put([shelved("old", "rent"), shelved("new", "steel", [1, 0])])
    assert ask(shelf, "zzz", [1, 0], mode="semantic") == ["new"]
    assert ask(shelf, "zzz", [1, 0, 0], mode="semantic") == []
    assert set(ask(shelf, "rent", [1, 0])) == {"old", "new"}
    shelf.put([shelved("old", "rent", [1, 0])])
    assert len(ask(shelf, "zzz", [1, 0], mode="semantic")) == 2


def test_age_pales_and_trust_weighs_but_neither_hides() -> None:
    shelf = MemoryIndex(1)
    shelf.put(
        [
            shelved("old", "rent", created=NOW - 360 * DAY),
            shelved("pinned", "rent", created=NOW - 360 * DAY, ageless=True),
            shelved("doubtful", "rent", trust=0),
            shelved("sure", "rent", trust=3),
            shelved("plain", "rent"),
        ]
    )
    order = ask(shelf, "rent")
    assert order[0] == "sure"
    assert order.index("plain") < order.index("old") < order.index("doubtful")
    assert abs(order.index("pinned") - order.index("plain")) == 1


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_an_empty_shelf_and_an_empty_question_answer_nothing(mode: RankingMode) -> None:
    assert ask(MemoryIndex(1), "rent", [1, 0], mode=mode) == []
    shelf = MemoryIndex(1)
    shelf.put([])
    assert ask(shelf, "", [1, 0], mode=mode) == []


def test_a_word_that_no_text_has_finds_what_is_spelled_like_it() -> None:
    shelf = MemoryIndex(1)
    shelf.put([shelved("a", "forklift batteri"), shelved("b", "haulag diesel")])
    assert ask(shelf, "forklfit") == ["a"]
    assert ask(shelf, "disel haulage") == ["b"]
    assert ask(shelf, "lift") == [], "another word is no typing error"


def test_a_synonym_finds_less_surely_than_the_word_itself() -> None:
    shelf = MemoryIndex(1)
    shelf.put([shelved("word", "haulier paid"), shelved("like", "transport paid")])
    assert ask(shelf, "haulier") == ["word", "like"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=700), st.integers(0, 700))
def test_words_count_the_same_in_one_go_and_bit_by_bit(texts: list[list[str]], cut: int) -> None:
    whole, parted = KeywordIndex(), KeywordIndex()
    whole.extend(texts)
    parted.extend(texts[:cut])
    for text in texts[cut:]:
        parted.extend([text])
    for question in ("a", "ab", "fz"):
        query: list[dict[str, float]] = [{term: 1.0} for term in question]
        left, right = whole.scores(query), parted.scores(query)
        assert np.allclose(left, right)
        has = np.array([bool({*question} & {*text}) for text in texts], bool)
        assert ((left > 0) == has).all()


_FILTERS: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("memory_filters.json").read_text())
FACTS: Final[dict[str, Any]] = _FILTERS["memory"]


@pytest.mark.parametrize(("filters", "holds"), _FILTERS["cases"])
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
