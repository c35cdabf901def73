"""What the pages of tactics show, from the API's answers, and the form of an own tactic; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console.negotiation_words import day_text

PHASES: Final = {
    "prepare": "Before you meet",
    "open": "At the start",
    "explore": "Finding out",
    "bargain": "Giving and taking",
    "close": "Agreeing",
    "after": "Afterwards",
}
FAMILIES: Final = {
    "anchoring": "First figures",
    "information": "Finding out",
    "concession": "Giving way",
    "trade": "Trading",
    "time": "Time",
    "authority": "Who decides",
    "framing": "How it is put",
    "relationship": "Relationship",
    "coalition": "Others at the table",
    "closing": "Closing",
    "defence": "Defence",
    "hardball": "Pressure",
}
GAINS: Final = {
    "claim": "A better price for you",
    "create": "More for both sides",
    "relationship": "A better relationship",
}
_SIZES: Final = {"small": "a little", "medium": "noticeably", "large": "a lot"}
_GRADES: Final = {
    "meta-analysis": "many studies agree",
    "experiment": "shown in experiments",
    "practice": "known from practice",
}
RISKS: Final[tuple[str, ...]] = ("No risk", "Little risk", "Some risk", "May end the talk")
ETHICS: Final = {"fine": "Fair", "caution": "Use with care", "deceptive": "Deceptive: know it, do not use it"}
_SPEAKERS: Final = {
    "buyer": "When you buy",
    "seller": "When you sell",
    "employer": "When you hire",
    "candidate": "When you are hired",
    "landlord": "When you let",
    "tenant": "When you rent",
    "party": "",
}
_HELPED: Final = {-2: "it harmed", -1: "it did not help", 0: "effect not known", 1: "it helped", 2: "it decided"}


@dataclass(frozen=True, slots=True)
class TacticRow:
    """One tactic on the shelf."""

    id: str
    name: str
    summary: str
    family: str
    ethics: str
    is_own: bool


def tactic_row(view: Mapping[str, Any]) -> TacticRow:
    return TacticRow(
        view["id"],
        view["name"],
        view["summary"],
        FAMILIES[view["family"]],
        "" if view["ethics"] == "fine" else ETHICS[view["ethics"]],
        view["owner"] == "user",
    )


@dataclass(frozen=True, slots=True)
class TacticArticle:
    """A tactic as a short article."""

    row: TacticRow
    aliases: str
    effect: str
    risk: str
    phases: str
    use_when: Sequence[str]
    avoid_when: Sequence[str]
    steps: Sequence[str]
    lines: Sequence[tuple[str, str]]
    answers: Sequence[tuple[str, str]]
    answered_by: Sequence[tuple[str, str]]
    law: str
    sources: Sequence[str]


def tactic_article(view: Mapping[str, Any], names: Mapping[str, str]) -> TacticArticle:
    """The article; `names` are those of all tactics by id."""
    effect, risk = view["effect"], int(view["risk"])
    every = len(view["phases"]) == len(PHASES)
    return TacticArticle(
        tactic_row(view),
        ", ".join(view["aliases"]),
        f"{GAINS[effect['on']]}, {_SIZES[effect['size']]}; {_GRADES[effect['evidence']]}.",
        RISKS[risk],
        "At any time" if every else ", ".join(PHASES[phase] for phase in view["phases"]),
        [clause["text"] for clause in view["use_when"]],
        [clause["text"] for clause in view["avoid_when"]],
        view["steps"],
        [(_SPEAKERS[line["role"]], line["text"]) for line in view["lines"]],
        [(key, names[key]) for key in view["counter_to"] if key in names],
        [(key, names[key]) for key in view["countered_by"] if key in names],
        view["legality_notes"],
        [f"{source['author']}: {source['title']} ({source['year']})" for source in view["sources"]],
    )


@dataclass(frozen=True, slots=True)
class TacticUse:
    """One place where a tactic was used: what, its link and how it went."""

    title: str
    path: str
    detail: str


def tactic_uses(found: Mapping[str, Any]) -> list[TacticUse]:
    """The results and plans that name the tactic, results first."""
    wins = [
        TacticUse(
            win["counterparty"] or win["category"],
            f"/wins/{win['win_id']}",
            f"{day_text(win['closed_at'])}, {_HELPED[win['helped']]}",
        )
        for win in found["wins"]
    ]
    plans = [
        TacticUse(
            plan["title"],
            f"/negotiations/{plan['negotiation_id']}#plan",
            f"plan {plan['version']} of {day_text(plan['at'])}",
        )
        for plan in found["plans"]
    ]
    return [*wins, *plans]


@dataclass(frozen=True, slots=True)
class TacticAnswer:
    """One thing to answer: the tactic, the sentence to say, and why."""

    id: str
    name: str
    say: str
    why: Sequence[str]


@dataclass(frozen=True, slots=True)
class Heard:
    """What the other side's words are, and what to answer."""

    moves: Sequence[tuple[str, str, str, bool]]
    """Id, name, the words that show it, and whether it is deceptive."""
    answers: Sequence[TacticAnswer]


def heard(found: Mapping[str, Any]) -> Heard:
    """Suggestions as the page says them."""
    return Heard(
        [(one["tactic"]["id"], one["tactic"]["name"], one["quote"], one["deceptive"]) for one in found["recognised"]],
        [
            TacticAnswer(item["tactic"]["id"], item["tactic"]["name"], item["say"], _texts(item["why"]))
            for item in found["items"]
        ],
    )


def _texts(why: Any) -> list[str]:
    return [why] if isinstance(why, str) else list(why)


LISTS: Final = ("use_when", "avoid_when", "steps")


def read_tactic_form(fields: Mapping[str, str], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The members of a request. A reason or line that is typed as it was keeps its test and role."""
    chosen = [phase for phase in PHASES if f"phase_{phase}" in fields]
    known = before or {}
    gain = fields.get("gain", "claim")
    effect = known.get("effect", {"size": "medium", "evidence": "practice"})
    return {
        "name": fields.get("name", "").strip(),
        "summary": fields.get("summary", "").strip(),
        "family": fields.get("family", ""),
        "effect": {**effect, "on": gain},
        "ethics": fields.get("ethics", "fine"),
        "risk": int(fields["risk"]) if fields.get("risk", "") in {"0", "1", "2", "3"} else 0,
        "phases": chosen or None,
        "steps": _lines(fields, "steps"),
        **{
            name: [_same(known.get(name, ()), text, {"text": text}) for text in _lines(fields, name)]
            for name in ("use_when", "avoid_when")
        },
        "lines": [
            _same(known.get("lines", ()), text, {"role": "party", "text": text}) for text in _lines(fields, "lines")
        ],
    }


def _lines(fields: Mapping[str, str], name: str) -> list[str]:
    return [text for line in fields.get(name, "").splitlines() if (text := line.strip())]


def _same(known: Sequence[dict[str, Any]], text: str, new: dict[str, Any]) -> dict[str, Any]:
    return next((one for one in known if one["text"] == text), new)


def typed_tactic(view: Mapping[str, Any]) -> dict[str, str]:
    """An own tactic as it would have been typed."""
    return {
        **{name: view[name] for name in ("name", "summary", "family", "ethics")},
        "gain": view["effect"]["on"],
        "risk": str(view["risk"]),
        "steps": "\n".join(view["steps"]),
        **{name: "\n".join(one["text"] for one in view[name]) for name in ("use_when", "avoid_when", "lines")},
        **{f"phase_{phase}": "on" for phase in view["phases"]},
    }
