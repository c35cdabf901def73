"""The two lanes of the tests: `make test` asks for the quick one (`--quick`), `make test-all` for everything.

The quick lane leaves out `tests/live` and `tests/quality` but for a smoke test of each neighbour, what is marked `long`
elsewhere, and tries a part of the examples. Which part changes from day to day and is the same all day: two runs of one
day agree, and so do the workers of one run.
"""

import os
import time
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")
DAY: Final = int(os.environ.setdefault("TESTS_DAY", str(int(time.time() // 86_400))))
"""Days since 1970; the first process of a run says it to its workers."""
_LONG: Final = ("tests/live/", "tests/quality/")
_FEWEST: Final = 5
_SETTINGS: Final = "_hypothesis_internal_use_settings"
_chosen = {"quick": False}


def choose(*, quick: bool) -> None:
    """Say once, before the tests are collected, which lane this run is."""
    _chosen["quick"] = quick


def is_quick() -> bool:
    """Whether this run is the quick lane."""
    return _chosen["quick"]


def part(cases: Sequence[T], parts: int = 3) -> Sequence[T]:
    """All cases; in the quick lane one of so many `parts` of them, another one each day."""
    return cases[DAY % parts :: parts] if is_quick() and len(cases) >= parts else cases


def is_left_out(item: pytest.Item) -> bool:
    """Whether the quick lane does without this test."""
    if item.nodeid.startswith(_LONG):
        return item.get_closest_marker("smoke") is None
    return item.get_closest_marker("long") is not None


def halve_examples(item: pytest.Item) -> None:
    """Let Hypothesis draw half as many examples for this test; few are left as they are."""
    test: Any = getattr(item, "obj", None)
    if (drawn := getattr(test, _SETTINGS, None)) is not None and drawn.max_examples > _FEWEST:
        setattr(test, _SETTINGS, settings(drawn, max_examples=max(_FEWEST, drawn.max_examples // 2)))
