"""The printed page of four plans, and what every printed page keeps.

`python -m tests.unit.advice.plans.test_plan_pages` writes the stored pages anew.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from negotiator.advice.plans.generator import make_plan
from negotiator.advice.plans.markdown import MAX_COLUMNS, MAX_LINES, escape_markdown, plan_markdown
from negotiator.terms.negotiation_body import NegotiationBody
from tests.unit.advice.plans.plan_cases import CASES, FOLDER, PAGES, STORED, brief_of, case

HEADINGS = [
    "At a glance",
    "What each side wants",
    "Opening",
    "Objections and answers",
    "Questions to ask first",
    "How to react",
    "To close, or to leave",
    "Assumptions and open questions",
]


def printed(name: str, folder: Path = PAGES, **members: Any) -> str:
    """The page of a case."""
    head = {"version": 1, "stale": False, "created_at": "2026-11-22T09:00:00.000Z"}
    return plan_markdown({**head, **make_plan(case(name, folder).brief), **members})


@pytest.mark.parametrize("name", STORED)
def test_the_page_is_the_stored_one(name: str) -> None:
    assert printed(name) == (PAGES / f"{name}.md").read_text("utf-8")


EVERY = [*((name, PAGES) for name in STORED), *((name, FOLDER) for name in CASES)]


@pytest.mark.parametrize(("name", "folder"), EVERY, ids=[name for name, _ in EVERY])
def test_a_page_is_short_and_in_words(name: str, folder: Path) -> None:
    page = printed(name, folder)
    lines = page.splitlines()
    assert len(lines) <= MAX_LINES
    assert max(map(len, lines)) <= MAX_COLUMNS
    names = [issue.name for issue in case(name, folder).brief.terms.issues if "_" in issue.name]
    assert not [one for one in names if one in page]
    assert not re.search(r"utility|alpha|engine:|session:|[a-z]{3}_[0-9a-z]{6,}|\\_|\bNone\b|\bnull\b", page)
    found = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert [one for one in found if one in HEADINGS] == HEADINGS
    for line in lines:
        if not line.startswith(("#", "|", ">", "-", "   ", "  ")) and line:
            assert not re.match(r"[-+*] |=+$|\d+\) ", line), line


SCARS = {
    "a doubled word": r"\b(?!that\b|had\b|[a-z]\b)([a-z]+) \1\b",
    "an unfilled word": r"[{}]",
    "a wrong article": r"\ba [aeio][a-z]|\ban [bcdfgjklmnpqrstvwxyz][a-z]",
    "two marks of a currency": r"[€$£] ?[€$£]|[€$£][\d.,]+ (?:EUR|USD|GBP)|[€$£][\d,]+\.00\b",
    "two marks of a sentence": r"[.,;:?!]{2}",
    "a blank before a mark": r" [.,;?!]",
    "a sentence that begins small": r"(?<!\be\.g)[.?!] [a-z]|“[a-z]",
    "a quotation without its end": r"[^.?!,;:)*]”(?!\))|[a-z]$",
    "an inner word": r"\b(?:utility|alpha|engine|BATNA|ZOPA|package utility|his|her|he|she)\b",
}
"""What filling and cutting templates may leave behind."""


@pytest.mark.parametrize(("name", "folder"), EVERY, ids=[name for name, _ in EVERY])
def test_a_page_has_no_scar_of_its_templates(name: str, folder: Path) -> None:
    page = printed(name, folder)
    paragraphs = re.split(r"\n(?=- |\d+\. |\||#|\n)", page)
    for text in (" ".join(one.replace("\n>", " ").removeprefix("\n").removeprefix("> ").split()) for one in paragraphs):
        if text.startswith(("#", "|", "¹")) or not text:
            continue
        for scar, pattern in SCARS.items():
            found = re.search(pattern, text)
            assert found is None, f"{scar}: {found.group()!r} in {text!r}"


@pytest.mark.parametrize("name", STORED)
def test_a_page_has_the_steps_the_objections_and_the_limit(name: str) -> None:
    page = printed(name)
    assert page.count("\n- **“") >= 3
    assert re.search(r"^1\. “If ", page, re.MULTILINE)
    assert "Limit (do not say)" in page
    assert "Step by step" in page


def test_a_source_is_a_note_at_the_end() -> None:
    page = printed("crm_renewal")
    *body, notes = page.splitlines()
    assert "¹" in "".join(body)
    assert notes.startswith("¹ ")


def test_a_page_of_no_kind_says_that_it_is_general() -> None:
    assert "No template fits" in printed("used_car", case="generic_buyer").splitlines()[4]
    assert "No template fits" not in printed("used_car")


def test_a_stale_plan_says_so_at_the_top() -> None:
    assert "Out of date" in printed("used_car", stale=True).splitlines()[3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**bold** <b> [x](http://y) `code`", r"\*\*bold\*\* \<b> \[x\]\(http://y) \`code\`"),
        ("snake_case and _this_", r"snake_case and \_this\_"),
        ("a | b", r"a \| b"),
        ("R&D &lt;b&gt;", r"R&D \&lt;b\&gt;"),
        ("price (net), 5 - 7 %", "price (net), 5 - 7 %"),
        ("two\n lines", "two lines"),
    ],
)
def test_only_what_would_format_is_escaped(text: str, expected: str) -> None:
    assert escape_markdown(text) == expected


def test_no_line_of_a_users_text_starts_a_list_or_a_heading() -> None:
    words = " ".join(f"x{n} # - 1. > {n}) + =" for n in range(60))
    plan = make_plan(case("used_car", PAGES).brief)
    plan["summary"]["who"] = words
    head = {"version": 1, "stale": False, "created_at": "2026-11-22T09:00:00.000Z"}
    page = plan_markdown({**head, **plan})
    start = page.index("## At a glance") + len("## At a glance\n")
    for line in page[start : page.index("| |")].splitlines():
        assert not re.match(r"\s*([-+*#>=]|\d+[.)])(\s|$)", line), line


LET: dict[str, Any] = {
    "title": "Flat in Bonn",
    "role": "landlord",
    "category": "rent",
    "kind": "lease",
    "currency": "EUR",
    "counterparty": {"name": "Mr Klein"},
    "issues": [
        {"name": "rent", "label": "Monthly rent", "type": "money", "unit": "month", "weight": 3,
         "range": {"min": 900, "max": 1400}},
        {"name": "start", "label": "Start", "type": "date", "direction": "lower", "weight": 1,
         "range": {"min": "2027-01-01", "max": "2027-04-01"}},
        {"name": "kitchen", "label": "Fitted kitchen", "type": "boolean", "direction": "lower", "weight": 1},
    ],
    "target": {"package": {"rent": 1250, "start": "2027-01-15", "kitchen": False}},
    "walk_away": {"package": {"rent": 1050, "start": "2027-03-01", "kitchen": True}},
}  # fmt: skip


def test_a_plan_reads_aloud_without_a_stumble() -> None:
    head = {"version": 1, "stale": False, "created_at": "2026-11-22T09:00:00.000Z"}
    plan = make_plan(brief_of(NegotiationBody.model_validate(LET)))
    page = " ".join(plan_markdown({**head, **plan}).split())
    assert "“If you can do without a fitted kitchen, I can do a rent of €1,175 a month" in page
    assert "rent of" not in page.replace("a rent of", "")
    assert "| Start | 15 January | 1 February | 1 March | 1 March |" in page
    assert "Bring " not in page
    assert "” Shows " in page
    assert "you may give away more than you have to" in page


def write_pages() -> None:
    """Store the pages of the four cases."""
    for name in STORED:
        (PAGES / f"{name}.md").write_text(printed(name), "utf-8")


if __name__ == "__main__":
    write_pages()
