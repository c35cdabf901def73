"""A plan as a page of Markdown to print: two pages at most, in words, with the sources as notes at the end.

Text that comes from users is escaped, so it has no formatting, links or HTML.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from negotiator.base.values import day_text
from negotiator.terms.plain_text import capitalise, cut_at_word, join_words, sentence

MAX_LINES: Final = 110
MAX_COLUMNS: Final = 100
MAX_TABLE_ROWS: Final = 12
MAX_STEP_COLUMNS: Final = 5
_STEP_LABEL_COLUMNS: Final = 33
_LABEL_COLUMNS: Final = 38
_VALUE_COLUMNS: Final = 17
_SPECIAL: Final = re.compile(r"[\\`*\[\]<|~]|(?<=\])\(|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,31};)")
_OPENS_A_BLOCK: Final = re.compile(r" (?=(?:[-+#>=:]+|\d{1,9}[.)])(?: |$))")
_GLUE: Final = "\ue000"
_MARKS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SOURCES: Final = {
    "session:/their_estimate/walk_away": "Your estimate of how far they can go",
    "session:/baseline/value": "The figure that you compare with",
}
_DAY: Final = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}")
_OWN_LIMITS: Final = frozenset({"no worse than", "utility >="})
"""Red lines that the table shows."""
_ADVICE: Final = {"answer": "", "wait": "Wait for their figure, then name yours.", "first": "Name yours first."}
_SITUATIONS: Final = {
    "They call it final.": "they call it final",
    "They name a deadline.": "they name a deadline",
    "They go silent.": "they go silent",
}


@dataclass(frozen=True, slots=True)
class PageSize:
    """How many rows of each list the page prints, and which additions."""

    interests: int = 4
    standards: int = 4
    objections: int = 6
    questions: int = 6
    open_points: int = 4
    steps: int = 8
    packages: int = 3
    has_how: bool = True
    has_reveals: bool = True
    has_fallbacks: bool = True
    has_step_table: bool = True
    has_closing_words: bool = True


REDUCTIONS: Final[tuple[dict[str, Any], ...]] = (
    {"questions": 5, "open_points": 3},
    {"has_fallbacks": False},
    {"interests": 3},
    {"has_how": False},
    {"objections": 5},
    {"has_reveals": False},
    {"standards": 3, "has_closing_words": False},
    {"objections": 4},
    {"questions": 4},
    {"has_step_table": False},
    {"interests": 2},
    {"open_points": 2, "standards": 2},
    {"questions": 3},
    {"interests": 1, "open_points": 1},
    {"objections": 3},
    {"packages": 0, "steps": 5},
    {"objections": 2, "questions": 2, "standards": 1},
    {"steps": 3},
)
"""What is left out of a page that has more than 110 lines, one after the other until it fits."""


@dataclass(slots=True)
class _Notes:
    """The sources that the page has cited, in order."""

    texts: list[str] = field(default_factory=list[str])

    def mark(self, text: str) -> str:
        if text not in self.texts:
            self.texts.append(text)
        return "".join(_MARKS[int(digit)] for digit in str(self.texts.index(text) + 1))


def plan_markdown(view: Mapping[str, Any]) -> str:
    """The page of a plan's JSON view: at most 110 lines of at most 100 characters for a plan of ordinary size."""
    size = PageSize()
    page = _page(view, size)
    for less in REDUCTIONS:
        if len(page) <= MAX_LINES:
            break
        size = replace(size, **less)
        page = _page(view, size)
    return "\n".join(page) + "\n"


def escape_markdown(value: object) -> str:
    """A text as one line, with the characters escaped that would start formatting, a link or HTML."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(str(value).split()))


def _page(view: Mapping[str, Any], size: PageSize) -> list[str]:
    notes = _Notes()
    sections = (
        ("At a glance", _glance(view)),
        ("What each side wants", _sides(view, size)),
        ("Opening", _opening(view, notes)),
        ("Step by step", _steps(view, size)),
        ("Offers to make together", _together(view, size)),
        ("Objections and answers", _objections(view, size)),
        ("Questions to ask first", _questions(view, size)),
        ("How to react", _branches(view)),
        ("To close, or to leave", _closing(view, size)),
        ("Assumptions and open questions", _open_points(view, size)),
    )
    lines = _head(view)
    for title, body in sections:
        if body:
            lines += ["", f"## {title}", *body]
    if notes.texts:
        lines += ["", *_wrap(" · ".join(f"{notes.mark(text)} {text}" for text in notes.texts), "")]
    return lines


# Lines


def _wrap(text: str, indent: str, rest: str | None = None) -> list[str]:
    """The text in lines of at most 100 characters; no line after the first begins like a list or a heading."""
    glued = _OPENS_A_BLOCK.sub(_GLUE, text)
    lines = textwrap.wrap(
        glued,
        MAX_COLUMNS,
        initial_indent=indent,
        subsequent_indent=indent if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_GLUE, " ") for line in lines]


def _bullet(text: str) -> list[str]:
    return _wrap(text, "- ", "  ")


def _quote(text: str) -> list[str]:
    return _wrap(f"“{escape_markdown(text)}”", "> ")


def _said(text: str) -> str:
    return f"“{escape_markdown(text)}”"


def _list_line(title: str, texts: Iterable[str]) -> list[str]:
    shown = [escape_markdown(text) for text in texts]
    return _bullet(f"**{title}** {'; '.join(shown)}.") if shown else []


# Sections


def _head(view: Mapping[str, Any]) -> list[str]:
    day = day_text(datetime.fromisoformat(str(view["created_at"])))
    lines = _wrap(f"# Battle plan: {escape_markdown(view['title'])}", "")[:1]
    who = escape_markdown(view["summary"]["who"])
    lines += ["", *_wrap(f"Private. Version {view['version']} of {day}. {who}", "")]
    if view["stale"]:
        lines.append("**Out of date: the negotiation has changed since. Make a new plan.**")
    return lines


def _glance(view: Mapping[str, Any]) -> list[str]:
    summary = view["summary"]
    lines = [*_table(view), ""]
    offer = view["opening_offer"]
    title = "Next move." if offer is not None and offer["made"] else "First move."
    lines += _bullet(f"**{title}** {escape_markdown(_first_move(view))}")
    if summary["at_stake"]:
        lines += _bullet(f"**At stake (private).** {escape_markdown(summary['at_stake'])}")
    rules = [row["words"] for row in view["red_lines"] if row["op"] not in _OWN_LIMITS]
    lines += _list_line("Not to be broken:", [rule.rstrip(".") for rule in rules])
    if view["approvals"]:
        row = view["approvals"][0]
        text = f"{row['from']} on you need {_approval_of(row['approver'])}. Ask before the talk."
        lines += _bullet(f"**Approval.** {escape_markdown(text)}")
    expected = view.get("expected")  # plans that were stored before there was a forecast have none
    if expected is not None:
        lines += _bullet(f"**Likely result (private).** {escape_markdown(expected['words'])}")
    power = view["leverage"]
    if power is not None and any(row["contribution"]["value"] for row in power["factors"]):
        text = escape_markdown(power["summary"]["who_needs_it_more"])
        lines += _bullet(f"**Who needs it more (private).** {text}")
    return lines


def _first_move(view: Mapping[str, Any]) -> str:
    offer = view["opening_offer"]
    if offer is None:
        return str(view["summary"]["first_move"])
    advice = offer["first_or_wait"]
    if offer["made"]:
        return str(advice["why"])
    return f"{_ADVICE[advice['advice']]} {advice['why']}".strip()


def _approval_of(approver: str | None) -> str:
    return f"approval from {approver}" if approver else "approval"


def _table(view: Mapping[str, Any]) -> list[str]:
    """First move, aim and limit by issue, with the total and the saving."""
    rows: list[tuple[str, Sequence[str]]] = []
    columns = ("first_move", "aim", "limit")
    for row in view["overview"][:MAX_TABLE_ROWS]:
        label = capitalise(cut_at_word(row["label"], _LABEL_COLUMNS))
        rows.append((label, [_cell(row[name]) for name in columns]))
    money = view["summary"]["money"]
    if money is not None and money["factors"]:
        label = cut_at_word(f"{capitalise(money['scope'])} ({money['factors']})", _LABEL_COLUMNS)
        rows.append((label, [_cell(money["totals"][name]) for name in columns]))
    if money is not None and money["savings"]["aim"] is not None:
        label = cut_at_word(f"Compared with {money['baseline']}", _LABEL_COLUMNS)
        rows.append((label, [_saving(money, name) for name in columns]))
    opening = view["opening_offer"]
    first = "Your offer" if opening is not None and opening["made"] else "First move"
    lines = [f"| | {first} | Aim | Limit (do not say) |", "|:--|:--|:--|:--|"]
    lines += [f"| {' | '.join(escape_markdown(one) for one in (label, *cells))} |" for label, cells in rows]
    left = len(view["overview"]) - MAX_TABLE_ROWS
    return [*lines, *([f"| and {left} more | | | |"] if left > 0 else [])]


def _cell(cell: Mapping[str, Any] | None) -> str:
    return "–" if cell is None else cut_at_word(cell["words"], _VALUE_COLUMNS)


def _saving(money: Mapping[str, Any], name: str) -> str:
    """What a column differs by from the figure compared with: `€1,000 less`."""
    cell = money["savings"][name]
    if cell is None:
        return "–"
    amount = str(cell["words"])
    if not any("1" <= mark <= "9" for mark in amount):
        return "the same"
    gain = str(money["compared"]).lower()
    way = gain if not amount.startswith("-") else "less" if gain == "more" else "more"
    return cut_at_word(f"{amount.removeprefix('-')} {way}", _VALUE_COLUMNS)


def _sides(view: Mapping[str, Any], size: PageSize) -> list[str]:
    lines: list[str] = []
    for text in view["interests"]["theirs"][: size.interests]:
        lines += _bullet(f"**They:** {escape_markdown(text)}")
    for text in view["interests"]["ours"][: max(1, size.interests - 1)]:
        lines += _bullet(f"**You:** {escape_markdown(text)}")
    standards = view["standards"][: size.standards]
    if not size.has_how:
        return lines + _list_line("Evidence to bring:", [row["standard"] for row in standards])
    for row in standards:
        standard = sentence(escape_markdown(row["standard"]))
        lines += _bullet(f"**Evidence:** {standard} {escape_markdown(row['how'])}")
    return lines


def _opening(view: Mapping[str, Any], notes: _Notes) -> list[str]:
    script, offer = view["script"], view["opening_offer"]
    lines = _quote(script["opening"])
    lines.append("")
    if script.get("offer") and script["offer"] not in script["opening"]:
        lines += _bullet(f"**When they have named their figure.** {_said(script['offer'])}")
    lines += [*_bullet(f"**Say their doubt first.** {_said(script['audit'])}")]
    lines += _bullet(f"**Show that you understand.** {_said(script['label'])}")
    grounds = [_ground(row, notes) for row in offer["justification"]] if offer is not None else []
    if grounds:
        lines += _bullet(f"**Why this figure.** {' '.join(grounds)}")
    return lines


def _ground(row: Mapping[str, Any], notes: _Notes) -> str:
    source = row.get("source") or row.get("figure", {}).get("source") or ""
    kind = source.partition(":")[0]
    note = _SOURCES.get(source) or {
        "benchmark": "Figures from comparable deals",
        "memory": "Your own note from an earlier talk",
        "session": "What you entered for this negotiation",
    }.get(kind)
    return escape_markdown(row["text"]) + ("" if note is None else notes.mark(note))


def _steps(view: Mapping[str, Any], size: PageSize) -> list[str]:
    rows = view["concession_schedule"][: size.steps]
    lines = ["Take each step only after one of theirs, and only for what you ask in return."] if rows else []
    for place, row in enumerate(rows):
        said = f"{_said(row['say'])}{_in_all(row)}"
        lines += _wrap(said, f"{place + 1}. ", "   ")
    if rows and size.has_step_table and len(view["overview"]) > 1:
        lines += ["", *_step_table(view)]
    allowed = view["allowed_trades"]
    if allowed:
        lines += ["", "Beyond your own limit, only as you allowed:"]
        for row in allowed:
            lines += _bullet(escape_markdown(row["words"]))
    return lines


def _step_table(view: Mapping[str, Any]) -> list[str]:
    """What the offer is at each step, with the total."""
    offers = [view["opening_offer"], *view["concession_schedule"][:MAX_STEP_COLUMNS]]
    width = min(_VALUE_COLUMNS, (MAX_COLUMNS - _STEP_LABEL_COLUMNS) // len(offers) - 3)
    first = "Your offer" if offers[0]["made"] else "First move"
    heads = [first, *(f"Step {n}" for n in range(1, len(offers)))]
    rows: list[tuple[str, list[str]]] = []
    for place, row in enumerate(view["overview"][:MAX_TABLE_ROWS]):
        label = capitalise(cut_at_word(row["label"], _STEP_LABEL_COLUMNS - 3))
        rows.append((label, [offer["values"][place] for offer in offers]))
    if all(offer["total"] is not None for offer in offers):
        scope = capitalise(offers[0]["total"]["scope"])
        rows.append((scope, [offer["total"]["in_short"] for offer in offers]))
    lines = [f"| | {' | '.join(heads)} |", f"|{':--|' * (len(offers) + 1)}"]
    for label, cells in rows:
        shown = [label, *_fitting(cells, width)]
        lines.append(f"| {' | '.join(escape_markdown(one) for one in shown)} |")
    return lines


def _fitting(cells: Sequence[str], width: int) -> list[str]:
    """The cells of a row, each at most so wide; days of one year lose it all together or not at all."""
    years = {one.rsplit(" ", 1)[-1] for one in cells if _DAY.fullmatch(one)}
    if len(years) == 1 and all(map(_DAY.fullmatch, cells)) and max(map(len, cells)) > width:
        cells = [one.rsplit(" ", 1)[0] for one in cells]
    return [cut_at_word(one, width) for one in cells]


def _in_all(row: Mapping[str, Any]) -> str:
    """What the offer of the row comes to, as a sentence."""
    total = row["total"]
    if total is None:
        return ""
    amount, scope = escape_markdown(total["in_short"]), total["scope"]
    return f" {amount} {scope}."


def _together(view: Mapping[str, Any], size: PageSize) -> list[str]:
    lines: list[str] = []
    for row in view["offered_together"][: min(1, size.packages)]:
        text = f"Instead of {row['beside']}, offer all of these and ask which comes closest. They are worth the same"
        lines += _wrap(
            f"{text} to you; what they choose shows what matters to them. Everything else stays the same.", ""
        )
        for name, package in zip("ABC", row["packages"][: size.packages], strict=False):
            said = capitalise(escape_markdown(package["changes"]))
            lines += _bullet(f"**{name}.** {said}.{_in_all(package)}")
    return lines


def _objections(view: Mapping[str, Any], size: PageSize) -> list[str]:
    lines: list[str] = []
    for row in view["objections"][: size.objections]:
        text = f"**{_said(row['objection'])}** {_said(row['reply'])}"
        if size.has_fallbacks:
            text += f" If that does not help: {_lower(escape_markdown(row['fallback']))}"
        lines += _bullet(text)
    return lines


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _questions(view: Mapping[str, Any], size: PageSize) -> list[str]:
    lines: list[str] = []
    for row in view["questions"][: size.questions]:
        reveals = f" Shows {_lower(escape_markdown(row['reveals']))}" if size.has_reveals else ""
        lines += _bullet(f"{_said(row['question'])}{reveals}")
    return lines


def _branches(view: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for row in view["branches"]:
        if (name := _SITUATIONS.get(row["if"])) is not None:
            lines += _bullet(f"**If {name}:** {escape_markdown(row['then'])} {_said(row['say'])}")
    return lines


def _closing(view: Mapping[str, Any], size: PageSize) -> list[str]:
    script = view["script"]
    lines = _bullet(f"**Sum up their side.** {_said(script['recap'])}")
    lines += _list_line("Ask for at the end (costs them little):", view["closing_asks"][:3])
    lines += _list_line("Offer at the end (costs you little):", view["low_cost_gives"][:2])
    if size.has_closing_words:
        lines += _bullet(f"**To close.** {_said(script['close'])}")
    if "batna" in script:
        lines += _bullet(f"**Your alternative (do not say its value).** {_said(script['batna'])}")
    return lines + _bullet(f"**To leave.** {_said(view['walk_away_script'])}")


def _open_points(view: Mapping[str, Any], size: PageSize) -> list[str]:
    lines: list[str] = []
    for text in view["summary"]["assumptions"][: size.open_points]:
        lines += _bullet(f"Assumed: {escape_markdown(text)}")
    for row in view["information_gaps"][: size.open_points]:
        why = f" {row['why']}" if row.get("why") else ""
        lines += _bullet(f"Find out: {escape_markdown(row['ask'] + why)}")
    leads = [lead["name"] for lead in view["alternatives"][:3]]
    if leads:
        lines += _bullet(escape_markdown(sentence(f"Look at {join_words(leads)} as an alternative")))
    return lines
