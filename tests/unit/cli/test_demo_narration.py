"""What the demo tells, and what it does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cli.demo.context import SECRET_MEMBERS, DemoPrinter, shorten_secrets

SECRET = "s" * 40
PLAIN = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


def _nest(value: Any, path: list[str | None]) -> Any:
    for step in path:
        value = [value] if step is None else {step: value}
    return value


@given(name=st.sampled_from(sorted(SECRET_MEMBERS)), path=st.lists(st.none() | st.text(max_size=3)))
def test_a_secret_is_shortened_at_any_depth(name: str, path: list[str | None]) -> None:
    assert SECRET not in str(shorten_secrets(_nest({name: SECRET}, path)))


@given(value=PLAIN)
def test_everything_else_is_told_as_it_is(value: Any) -> None:
    assert shorten_secrets(value) == value


def test_a_silent_narrator_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    narrator = DemoPrinter(silent=True, verbose=True)
    narrator.line("one")
    narrator.said("Jens", "two")
    narrator.chapter("one", "why")
    narrator.sent("POST", "/", {"token": SECRET})
    narrator.got(200, {"items": [1, 2]})
    assert capsys.readouterr().out == ""


def test_requests_are_told_only_where_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    narrator = DemoPrinter(silent=False, verbose=False)
    narrator.chapter("one", "why")
    narrator.sent("POST", "/", {"token": SECRET})
    narrator.shown("It holds")
    narrator.said("Jens", "€14,900")
    assert capsys.readouterr().out.split() == ["Jens", "€14,900"]


def test_a_narrator_tells_a_command_as_it_can_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    DemoPrinter(silent=False, verbose=True).ran(("clients", "add", "two words"))
    assert "negotiator clients add 'two words'" in capsys.readouterr().out


def test_text_of_others_in_an_answer_does_not_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "[/x] \x1b[31m \x9b31m \u202e :key:"
    narrator = DemoPrinter(silent=False, verbose=True)
    narrator.got(200, {"name": hostile})
    narrator.event(hostile)
    narrator.shown(hostile)
    out = capsys.readouterr().out
    assert "[/x]" in out
    assert ":key:" in out
    assert not set(out) & {"\x1b", "\x9b", "\u202e"}
