"""A plan's markdown on a page: what tells the limit is marked, and what changed between versions is found."""

import re

from negotiator.console.talk.workspace_plan import plan_changes, plan_html, word_changes

PLAN = """# Battle plan: Car

Private. Version 1 of 3 May 2026.
**Out of date: the negotiation has changed since. Make a new plan.**

## At a glance
You buy.

| | First move | Aim | Limit (do not say) |
|:--|:--|:--|:--|
| Price | €12,000 | €12,500 | €14,000 |

- **First move.** Name yours first.
- **At stake (private).** Your aim is €2,400 less than their first quote.
- **Likely result (private).** Expect €13,000, between €12,000 and €14,000.
- **Approval.** From €13,500 on you need Ada.

## Step by step
1. “We can do €12,300 if you
   deliver in May.”

Beyond your own limit, only as you allowed:
- €14,200 for winter tyres.

## If …
- **… they go silent:** Wait.

## Assumptions and open questions
- Find out: What is your alternative?

¹ The figure that you compare with
"""


def test_what_tells_the_limit_is_marked_and_nothing_else() -> None:
    html = plan_html(PLAN)
    shown = re.sub(r'<(th|td|p|ul|li) class="floor">.*?</\1>', "", html, flags=re.S)
    for figure in ('class="floor">€14,000', "14,200", "13,500"):
        assert figure in html
        assert figure not in shown
    for figure in ("12,500", "12,300", "13,000", "2,400"):
        assert figure in shown
    assert "go silent" in shown
    assert "style=" not in html
    assert "Out of date" not in html
    assert "<h3>At a glance</h3>" in html


def test_what_they_must_not_read_on_paper_is_marked_and_the_first_move_is_not() -> None:
    html = plan_html(PLAN)
    marked = r'<(th|td|p|ul|li|section) class="(?:floor|private)">.*?</\1>'
    on_paper = re.sub(marked, "", html, flags=re.S)
    for secret in ("12,500", "14,000", "13,000", "13,500", "2,400", "12,300", "14,200", "Step by"):
        assert secret in html
        assert secret not in on_paper
    assert "12,000" in on_paper
    assert "go silent" in on_paper
    assert "your alternative" not in on_paper
    assert "¹ The figure" in on_paper
    assert html.count("<section") == html.count("</section>") == 2


def test_only_changed_paragraphs_are_shown_word_by_word() -> None:
    after = PLAN.replace("Wait.", "Wait two days.").replace("€12,300 if", "€12,400 if")
    found = plan_changes(PLAN, after)
    assert [*found] == ["Step by step", "If …"]
    [pieces] = found["Step by step"]
    assert [one for one in pieces if one[0] != "same"] == [("removed", "€12,300"), ("added", "€12,400")]
    assert pieces[-1][1].endswith("deliver in May.”"), "a wrapped line is one paragraph"
    assert plan_changes(PLAN, PLAN) == {}


def test_texts_that_share_little_are_shown_whole() -> None:
    assert [kind for kind, _ in word_changes("a b c", "x y z")] == ["removed", "added"]
