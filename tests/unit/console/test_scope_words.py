"""Scopes in words: every scope has words of its own, and every purpose is recognised by what it grants."""

from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.console.people.scope_words import (
    PURPOSES,
    USUAL_PURPOSE,
    WORDS,
    describe_scopes,
    purpose_scopes,
    purpose_title,
)


def test_every_scope_has_words_of_its_own() -> None:
    assert WORDS.keys() == ASSISTANT.keys() | DIRECTORY.keys()
    assert len(set(WORDS.values())) == len(WORDS)
    assert [one.name for one in describe_scopes(WORDS)] == [*ASSISTANT, *DIRECTORY]


def test_a_purpose_is_known_by_its_scopes_and_grants_no_other() -> None:
    for one in PURPOSES:
        assert set(one.scopes) <= ASSISTANT.keys()
        assert purpose_title(one.scopes) == one.title
    assert purpose_title(["openid"]) == "Own choice"
    assert purpose_title([]) == ""
    assert purpose_scopes("anything") == ()
    assert "negotiations:write" not in purpose_scopes("advise")
    assert purpose_scopes(USUAL_PURPOSE)
