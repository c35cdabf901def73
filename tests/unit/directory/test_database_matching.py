"""What PostgreSQL's rows have of a tool, and how a query is written for it."""

import orjson
import pytest

from negotiator.directory import search_rows
from negotiator.directory.change_queries import ChangedTool
from negotiator.directory.database_matching import row_of
from negotiator.directory.search_rows import all_of, any_of, lexeme
from tests.helpers.search_entries import AT, entry


def test_a_tool_has_the_row_of_this_form() -> None:
    """Raise `FORM` when this row becomes another: rows in a database are then made anew."""
    document = entry(
        "Click House", "Fast queries", tags=["olap"], publisher={"name": "Acme", "domain": "acme.example"}
    ).document  # fmt: skip
    tool = ChangedTool(7, "tool_1", "active", 3, orjson.dumps(document), AT, AT + 1)
    row = row_of(tool)
    assert search_rows.FORM == 1
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
