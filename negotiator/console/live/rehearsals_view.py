"""What the pages of rehearsals show: whom one meets, earlier ones, and the talk, from the API's answers; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console.negotiation_words import NegotiationWords, day_text, object_member, time_text
from negotiator.terms.plain_text import capitalise, join_words

KINDS: Final[dict[str, tuple[str, str]]] = {
    "fair": ("Fair", "Opens within reason, and moves when you give a reason."),
    "stubborn": ("Stubborn", "Moves late, and in small steps."),
    "extreme_anchor": ("Opens far off", "Begins with a figure that is far from anything likely."),
    "takes_back": ("Takes back", "Makes an offer, and takes it back once."),
    "deadline_bluff": ("Last offer", "Calls an offer the last one, which may not be true."),
}
"""By kind: its name, and what to expect."""
HARDNESSES: Final[dict[str, tuple[str, str]]] = {
    "easy": ("Easy", "They come far towards you, and have time."),
    "normal": ("Normal", "They come some of the way, and their patience ends."),
    "hard": ("Hard", "They give little, and leave early."),
}
ENDINGS: Final[dict[str, str]] = {
    "running": "Goes on",
    "agreed": "Agreed",
    "left_by_me": "You left",
    "left_by_them": "They left",
}
_HEARD: Final[dict[str, str]] = {
    "reason": "a reason",
    "alternative": "another choice that you have",
    "question_interest": "a question about what they need",
    "question_limit": "a question about how far they can go",
    "question_why": "a question about how they come to it",
    "ultimatum": "your last word",
    "names_tactic": "that you see what they are doing",
    "rude": "an insult",
    "courtesy": "a kind word",
}
_OWN_ACTIONS: Final[dict[str, str]] = {
    "wait": "You said nothing.",
    "accept": "You accepted their offer.",
    "leave": "You left.",
}


@dataclass(frozen=True, slots=True)
class RehearsalRow:
    """An earlier rehearsal: when, whom, how it ended, and what was left on the table."""

    id: str
    at: str
    whom: str
    ended: str
    deal: str
    points: str
    left: str
    is_over: bool


@dataclass(frozen=True, slots=True)
class TalkLine:
    """One turn of the conversation: what was said and offered, what that comes to, and what else happened in it."""

    number: int
    by: str
    who: str
    text: str
    offer: str
    total: str
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class TableRow:
    """One point, or the total, as both sides have it on the table."""

    label: str
    mine: str
    theirs: str


@dataclass(frozen=True, slots=True)
class MetBefore:
    """A person that was met before; `rehearsal` is the last rehearsal with them."""

    rehearsal: str
    label: str


def whom(kind: str, hardness: str) -> str:
    """`Stubborn, hard`."""
    return f"{KINDS[kind][0]}, {HARDNESSES[hardness][0].lower()}"


def rehearsal_row(head: Mapping[str, Any]) -> RehearsalRow:
    """A rehearsal as the table of earlier ones shows it."""
    result = object_member(head, "result")
    deal = object_member(result, "deal")
    return RehearsalRow(
        head["id"],
        time_text(head["created_at"]),
        whom(head["kind"], head["hardness"]),
        ENDINGS[head["state"]],
        deal.get("words", ""),
        f"{result['score']} of 100" if result else "",
        capitalise(result.get("left_on_table") or ""),
        head["state"] != "running",
    )


def met_before(heads: Sequence[Mapping[str, Any]]) -> list[MetBefore]:
    """Each person that was met, with the last rehearsal with them; `heads` are newest first."""
    found: dict[int, MetBefore] = {}
    for head in heads:
        if head["seed"] not in found:
            said = whom(head["kind"], head["hardness"])
            ended = rehearsal_row(head)
            result = f", {ended.points} points" if ended.points else ""
            label = f"{said}, of {day_text(head['created_at'])}{result}"
            found[head["seed"]] = MetBefore(head["id"], label)
    return list(found.values())


def talk_lines(turns: Sequence[Mapping[str, Any]], words: NegotiationWords) -> list[TalkLine]:
    """The conversation in its order. What they put on the table is in their sentence, but for what it comes to."""
    found: list[TalkLine] = []
    mine: Mapping[str, Any] = {}
    for turn in turns:
        package, offer = object_member(turn, "package"), ""
        if package and turn["by"] == "me":
            offer = "" if turn["action"] == "accept" else offer_words(package, mine, words)
            mine = package
        total = words.total(package) if package else ""
        who = "You" if turn["by"] == "me" else words.them
        found.append(TalkLine(turn["number"], turn["by"], who, turn["said"], offer, total, _notes(turn)))
    return found


def offer_words(package: Mapping[str, Any], before: Mapping[str, Any], words: NegotiationWords) -> str:
    """An offer; of one that follows another of the same side, only what is new in it."""
    new = {name: value for name, value in package.items() if before.get(name) != value}
    if not before or not new or len(new) == len(package):
        return words.package(dict(package), with_total=False)
    return f"{words.package(new, with_total=False)}, the rest as before"


def on_the_table(rehearsal: Mapping[str, Any], words: NegotiationWords) -> list[TableRow]:
    """Each point with both sides' last values, and what they come to in all."""
    mine, theirs = (_package(rehearsal[side]) for side in ("my_offer", "their_offer"))
    rows = [
        TableRow(
            words.label(issue.name),
            words.value(issue.name, mine[issue.name]) if issue.name in mine else "",
            words.value(issue.name, theirs[issue.name]) if issue.name in theirs else "",
        )
        for issue in words.terms.issues
        if issue.name in mine or issue.name in theirs
    ]
    totals = [words.total(side) if side else "" for side in (mine, theirs)]
    return [*rows, TableRow("In all", *totals)] if any(totals) else rows


def _package(offer: Mapping[str, Any] | None) -> dict[str, Any]:
    return offer["package"] if offer else {}


def _notes(turn: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    if turn["by"] == "me" and turn["action"] in _OWN_ACTIONS:
        found.append(_OWN_ACTIONS[turn["action"]])
    if turn["withdraws"]:
        found.append("They took their last offer back.")
    if turn["final"]:
        found.append("They call it their last offer.")
    if heard := [_HEARD[one] for one in turn["heard"]]:
        found.append(f"They heard {join_words(heard)}.")
    return found
