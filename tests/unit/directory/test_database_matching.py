"""What PostgreSQL's rows have of a tool, and how a query is written for it."""

import orjson
import pytest

from negotiator.directory import search_rows
from negotiator.directory.change_queries import ChangedTool
from negotiator.directory.database_matching import RowUnit, row_of, unit_groups
from negotiator.directory.search.query import QueryUnit
from negotiator.directory.search_rows import all_of, any_of, lexeme, none_of
from tests.helpers.search_entries import AT, entry


def test_a_tool_has_the_row_of_this_form() -> None:
    """Raise `FORM` when this row becomes another: rows in a database are then made anew."""
    document = entry(
        "Click House", "Fast queries", tags=["olap"], publisher={"name": "Acme", "domain": "acme.example"}
    ).document  # fmt: skip
    tool = ChangedTool(7, "tool_1", "active", 3, orjson.dumps(document), AT, AT + 1)
    row = row_of(tool)
    assert search_rows.FORM == 2
    assert set(row.terms) == {
        *("click", "hous", "fast", "queri", "olap", "app", "acm", "code", "clickhous"),
        *("^click", "^hous", "^olap", "^clickhous"),
        "=clickhouse",
        *("=category:coding", "=tag:olap", "=kind:app", "=auth:none", "=pricing:free"),
        *("=publisher:acme", "=publisher:acme.example", "=status:active", "=verified:false"),
    }
    assert (row.seq, row.name, row.saves, row.created, row.updated) == (
        7, "click house", 3, AT, AT + 1,
    )  # fmt: skip
    assert len(row.postings) == 6 * 9
    assert {("word", "click"), ("name", "clickhouse")} <= {known[:2] for known in row.known}


@pytest.mark.parametrize(
    ("term", "written"),
    [("a", "'a'"), ("it's", "'it''s'"), ("a\\", "'a\\\\'"), ("' | 'b", "''' | ''b'"), ("\0", "'\x1f'")],
)  # fmt: skip
def test_a_term_stays_one_term(term: str, written: str) -> None:
    assert lexeme(term) == written
    assert all_of([lexeme("a"), any_of([lexeme("b"), lexeme("c")])]) == "('a' & ('b' | 'c'))"
    assert all_of([any_of([lexeme("a")]), none_of([lexeme("b")])]) == "('a' & !'b')"


def test_tools_are_grouped_by_the_units_that_they_match_the_greatest_share_first() -> None:
    units = [RowUnit(QueryUnit(word, ()), f"'{word}'", 1) for word in "abc"]
    assert unit_groups(units[:1], [2.0], "every", "q") == [("q", 1)]
    assert unit_groups(units, [3.0, 0.0, 1.0], "any", "q") == [
        ("(q & 'a' & 'c')", 64),
        ("(q & 'a' & !'c')", 48),
        ("(q & 'c' & !'a')", 16),
    ]


def test_of_many_units_the_heaviest_group_and_no_tool_is_left_out() -> None:
    units = [RowUnit(QueryUnit(word, ()), f"'{word}'", 1) for word in "abcdefg"]
    groups = unit_groups(units, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "any", "q")
    assert len(groups) == 2**5
    assert groups[-1] == ("(q & !('g' | 'f' | 'e' | 'd' | 'c'))", 0)
    assert [share for _, share in groups] == sorted((share for _, share in groups), reverse=True)
