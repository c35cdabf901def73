"""The part "Plan" of a negotiation's page, and the page that compares two versions of the plan."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from negotiator.base.errors import NotFound
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.guides_content import parse_markdown, render_tokens
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import PageRouter, read_whole
from negotiator.console.talk.workspace_fields import read_negotiation
from negotiator.negotiations.schemas_negotiations import EventView
from negotiator.negotiations.schemas_plans import BattlePlanHead

if TYPE_CHECKING:
    from markdown_it.token import Token

OUT_OF_DATE: Final = "**Out of date"
"""The page says this itself, with what changed."""
LIMIT_HEADING: Final = "Limit (do not say)"
AIM_HEADING: Final = "Aim"
_LIMIT_PARAGRAPHS: Final = ("Beyond your own limit",)
_LIMIT_ITEMS: Final = ("Approval.",)
_PRIVATE_ITEMS: Final = tuple(f"{name} (private)." for name in ("At stake", "Likely result", "Who needs it more"))
_NOTE: Final = "¹"
"""What the notes at the end begin with."""
_PRIVATE_SECTIONS: Final = frozenset({"Step by step", "Offers to make together", "Assumptions and open questions"})
"""What the other side would bargain by if they read it on paper; the page shows it to the user."""
_MARKUP: Final = re.compile(r"\*\*|\\(?=[^\w\s])|^(?:[-+>]|\d+\.) +")
_STARTS: Final = re.compile(r"(?:[-+>] |\d+\. |\||#)")
_RULE: Final = frozenset("|:- ")
_WORDS: Final = re.compile(r"\S+")


def plan_html(text: str) -> str:
    """The plan below the page's own headings, without its title.

    What tells the user's limit has the class `floor`, what else the other side must not read the class `private`.
    """
    tokens = parse_markdown(_below_the_page(text))
    _mark_columns(tokens)
    _mark_texts(tokens)
    return render_tokens(list(_in_sections(tokens)))


def _below_the_page(text: str) -> str:
    lines = [line for line in text.split("\n") if not line.startswith(OUT_OF_DATE)]
    return "\n".join(f"#{line}" if line.startswith("##") else line for line in lines[1:])


def _mark_columns(tokens: "Sequence[Token]") -> None:
    """Mark the columns of aims and limits of the table that has both."""
    classes = {AIM_HEADING: "private", LIMIT_HEADING: "floor"}
    columns: dict[int, str] = {}
    cell = 0
    for place, token in enumerate(tokens):
        if token.type == "table_close":
            columns = {}
        if token.type == "tr_open":
            cell = 0
        if token.type in {"th_open", "td_open"}:
            cell += 1
            if token.type == "th_open" and (name := classes.get(tokens[place + 1].content)):
                columns[cell] = name
            if cell in columns:
                token.attrs.pop("style", None)
                token.attrJoin("class", columns[cell])


def _in_sections(tokens: "Sequence[Token]") -> "Iterator[Token]":
    """The tokens with the private sections each in an element of its own."""
    from markdown_it.token import Token

    is_open = False
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            if is_open:
                yield Token("section_close", "section", -1, block=True)
            is_open = tokens[place + 1].content in _PRIVATE_SECTIONS
            if is_open:
                yield Token("section_open", "section", 1, attrs={"class": "private"}, block=True)
        is_notes = token.type == "paragraph_open" and tokens[place + 1].content.startswith(_NOTE)
        if is_open and is_notes:
            yield Token("section_close", "section", -1, block=True)
            is_open = False
        yield token
    if is_open:
        yield Token("section_close", "section", -1, block=True)


def _mark_texts(tokens: "Sequence[Token]") -> None:
    """Mark the paragraph and the list after it that say how far the limit may be passed, and items that name it."""
    marks_list = False
    for place, token in enumerate(tokens):
        following = tokens[place + 1].content if place + 1 < len(tokens) else ""
        if token.type == "paragraph_open" and following.startswith(_LIMIT_PARAGRAPHS):
            token.attrJoin("class", "floor")
            marks_list = True
        elif token.type == "bullet_list_open" and marks_list:
            token.attrJoin("class", "floor")
            marks_list = False
        elif token.type == "list_item_open":
            content = tokens[place + 2].content if place + 2 < len(tokens) else ""
            if content.removeprefix("**").startswith(_LIMIT_ITEMS):
                token.attrJoin("class", "floor")
            if content.removeprefix("**").startswith(_PRIVATE_ITEMS):
                token.attrJoin("class", "private")


Piece = tuple[Literal["same", "added", "removed"], str]
"""A run of words, and what became of it."""


def plan_changes(before: str, after: str) -> dict[str, list[Sequence[Piece]]]:
    """The changed paragraphs of two plans by section, in the order of the later one."""
    old, new = dict(_sections(before)), dict(_sections(after))
    found = {title: [*_changed(old.get(title, ()), new.get(title, ()))] for title in {**new, **old}}
    return {title: paragraphs for title, paragraphs in found.items() if paragraphs}


def _sections(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The headings of a plan with their paragraphs as plain text, each on one line."""
    title, blocks, continues = "", list[str](), False
    for line in text.split("\n")[1:]:
        if line.startswith("## "):
            if title:
                yield title, tuple(blocks)
            title, blocks, continues = line[3:], [], False
        elif not line.strip() or set(line) <= _RULE:
            continues = False
        elif title and continues and (line[0] == " " or not _STARTS.match(line)):
            blocks[-1] = f"{blocks[-1]} {line.strip()}"
        elif title:
            blocks.append(line)
            continues = True
    if title:
        yield title, tuple(blocks)


def _plain(block: str) -> str:
    if block.startswith("|"):
        return " · ".join(filter(None, (cell.strip() for cell in block.split("|"))))
    return _MARKUP.sub("", block)


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[Sequence[Piece]]:
    was, now = [_plain(block) for block in old], [_plain(block) for block in new]
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        pairs = min(i2 - i1, j2 - j1)
        for offset in range(pairs):
            yield word_changes(was[i1 + offset], now[j1 + offset])
        for gone in was[i1 + pairs : i2]:
            yield [("removed", gone)]
        for come in now[j1 + pairs : j2]:
            yield [("added", come)]


def word_changes(before: str, after: str) -> Sequence[Piece]:
    """Two texts as one, word by word; texts that share little are shown whole, one after the other."""
    was, now = _WORDS.findall(before), _WORDS.findall(after)
    matcher = SequenceMatcher(None, was, now, autojunk=False)
    if matcher.ratio() < 0.4:
        return [("removed", before), ("added", after)]
    found: list[Piece] = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            found.append(("same", " ".join(was[i1:i2])))
            continue
        if i2 > i1:
            found.append(("removed", " ".join(was[i1:i2])))
        if j2 > j1:
            found.append(("added", " ".join(now[j1:j2])))
    return found


MAX_VERSIONS: Final = 100


async def plan_part(
    calls: PageCalls, session: SignedInSession, negotiation: str, history: Sequence[EventView]
) -> Members:
    """What the template of the part reads: the newest plan, all versions, and what happened since it was made.

    `history` has the events, newest first.
    """
    heads = await plan_heads(calls, session, negotiation)
    if not heads:
        return {"plan": None}
    newest = heads[0]
    return {
        "plan": newest,
        "plan_html": plan_html(await plan_markdown_of(calls, session, negotiation, newest["id"])),
        "versions": heads,
        "since": [event for event in reversed(history) if event["revision"] > newest["made_from_revision"]],
    }


async def plan_heads(calls: PageCalls, session: SignedInSession, negotiation: str) -> list[BattlePlanHead]:
    """The versions of a negotiation's plan, newest first, without their sections."""
    members = {"id": negotiation, "limit": MAX_VERSIONS}
    return cast("list[BattlePlanHead]", (await calls.run(session, "list_battle_plans", members))["items"])


async def plan_markdown_of(calls: PageCalls, session: SignedInSession, negotiation: str, plan: str) -> str:
    """A version of the plan as the API prints it."""
    members = {"id": negotiation, "plan_id": plan}
    return await calls.text(session, "get_battle_plan", members, accept="text/markdown")


@dataclass(frozen=True, slots=True)
class PlanVersionsPage:
    """Two versions of a negotiation's plan, and what changed from one to the other."""

    router: PageRouter
    calls: PageCalls
    path: str

    def routes(self) -> list[Route]:
        return [self.router.page(self.path, self.show), self.router.page(f"{self.path}.md", self.markdown)]

    async def markdown(self, request: Request, session: SignedInSession) -> Response:
        """The newest plan as markdown."""
        negotiation: str = request.path_params["id"]
        newest = (await self._heads(session, negotiation))[0]
        text = await plan_markdown_of(self.calls, session, negotiation, newest["id"])
        return PlainTextResponse(text, headers={"cache-control": "no-store"})

    async def _heads(self, session: SignedInSession, negotiation: str) -> list[BattlePlanHead]:
        heads = await plan_heads(self.calls, session, negotiation)
        if not heads:
            raise NotFound("This negotiation has no plan yet.")
        return heads

    async def show(self, request: Request, session: SignedInSession) -> Response:
        """The versions `from` and `to` of the query; the last two without them."""
        negotiation: str = request.path_params["id"]
        view = await read_negotiation(self.calls, session, negotiation)
        heads = await self._heads(session, negotiation)
        by_version = {head["version"]: head for head in heads}
        newest = heads[0]["version"]
        to = _version(request.query_params.get("to", ""), by_version, newest)
        before = _version(request.query_params.get("from", ""), by_version, max(1, to - 1))
        texts = [
            await plan_markdown_of(self.calls, session, negotiation, by_version[one]["id"]) for one in (before, to)
        ]
        return self.router.render(
            "plan_versions.html",
            session,
            negotiation=view,
            versions=heads,
            before=before,
            to=to,
            changes=plan_changes(*texts),
            html=plan_html(texts[1]),
            here="home",
        )


def _version(text: str, known: Mapping[int, Any], otherwise: int) -> int:
    number = read_whole(text, otherwise)
    if number in known:
        return number
    return otherwise if otherwise in known else max(known)
