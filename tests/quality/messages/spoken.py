"""The sentences of the tables of single utterances, marked as far as these say what their figures are."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, cast

from negotiator.advice.hearing.figures import Message, Told, issue_fits, read_message
from negotiator.rehearsals.counterpart.person import KINDS, draw_person
from negotiator.rehearsals.counterpart.sentences import spoken_lines
from negotiator.terms.issues import Issue, IssueRange, coordinate
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.wording import Wording
from tests.bench.haggling.play import case_names, load_case
from tests.quality.messages.marked import MarkedFigure, MarkedMessage

_TESTS: Final = Path(__file__).parents[2]
_KINDS: Final[Mapping[str, str]] = {
    "offer": "offer",
    "limit": "offer/limit",
    "reduction": "cut",
    "rival": "rival/market",
    "history": "past/mine/theirs/count",
}
_NOT: Final = "not"
_CURRENCIES: Final = ("EUR", "USD", "GBP", "CHF")
_FACTORS: Final = (Decimal(1), Decimal(1000), Decimal(100))
Wanted = Mapping[Decimal, str]


def spoken_messages() -> Iterator[tuple[MarkedMessage, Message]]:
    """Each sentence, with the name of its table as its writer."""
    yield from _refusals()
    yield from _offer_texts()
    yield from _forms()
    yield from _corpus(_TESTS / "quality/teleprompter/tuned")
    yield from _rehearsed()


def _refusals() -> Iterator[tuple[MarkedMessage, Message]]:
    table = _toml("quality/teleprompter/refusals.toml")
    for name, rows in table.items():
        for part, said in rows.items():
            if name != "answers" and part != "terms":
                issues = _issues(rows["terms"])
                for text, offered in said:
                    wanted = {Decimal(offered): "offer"} if offered else {}
                    yield _marked(f"refusals {part}", text, Told(issues, channel="call"), wanted)


def _offer_texts() -> Iterator[tuple[MarkedMessage, Message]]:
    for rows in _toml("unit/rehearsals/offer_texts.toml").values():
        for at, (text, package) in enumerate(rows["said"]):
            wanted = {Decimal(str(one)): "offer" for one in package.values() if type(one) in (int, float)}
            yield _marked(f"texts {at % 2}", text, Told(_issues(rows["terms"]), channel="call"), wanted)


def _forms() -> Iterator[tuple[MarkedMessage, Message]]:
    for style, rows in _toml("unit/teleprompter/spoken_forms.toml").items():
        for text, span, figures in rows:
            wanted = dict[Decimal, str]()
            for one in filter(None, figures.split("; ")):
                values, kind = one.split(" ")
                told = _KINDS.get(kind.rstrip("*"), _NOT)
                told = "offer" if kind == "limit*" else told if kind != "offer" else _NOT
                told = "limit" if kind == "limit" else told
                wanted |= {Decimal(value): told for value in values.split("-")}
            yield _marked(f"forms {style}", text, _priced(*span.split("-")), wanted)


def _rehearsed() -> Iterator[tuple[MarkedMessage, Message]]:
    """Each sentence with which the counterpart of a rehearsal opens, with prices of the cases and currencies in turn.

    Two of each sentence would have the model take more figures that are no offers.
    """
    for at, line in enumerate(spoken_lines()["opening"]):
        case = load_case(case_names()[7 * at % len(case_names())])
        issue = case.terms.price
        if issue is not None:
            opening = draw_person(case.interests, KINDS[at % len(KINDS)], at).opening[issue.name]
            words = Wording(replace(case.terms, currency=_CURRENCIES[at % len(_CURRENCIES)]))
            text = line.say({"offer": words.package({issue.name: opening}, with_total=False)})
            value = coordinate("money", opening) or Decimal(0)
            yield _marked("call", text, Told((issue,), channel="call"), {value: "offer"})


def _corpus(folder: Path) -> Iterator[tuple[MarkedMessage, Message]]:
    for one in json.loads((folder / "forms.json").read_text("utf-8")):
        span = str(one["context"]["min"]), str(one["context"]["max"])
        offered = _values(one["offer"])
        wanted = {
            value: "offer" if value in offered else _NOT if said["kind"] == "offer" else _KINDS.get(said["kind"], _NOT)
            for said in one["figures"]
            if said["measure"] == "money"
            for value in _values(said["value"])
        }
        yield _marked(f"{folder.name} forms", one["text"], _priced(*span), wanted)
    for file in sorted(folder.glob("talks/*.json")):
        yield from _talk(f"{folder.name} talks", json.loads(file.read_text("utf-8")))


def _talk(writer: str, talk: Mapping[str, Any]) -> Iterator[tuple[MarkedMessage, Message]]:
    named: dict[str, list[Decimal]] = {"me": [], "them": []}
    for turn in talk["turns"]:
        speaker, other = turn["who"], "them" if turn["who"] == "me" else "me"
        mine, theirs = (tuple({"price": value} for value in named[side]) for side in (other, speaker))
        issues = _priced(str(talk["issue"]["min"]), str(talk["issue"]["max"])).issues
        told = Told(issues, mine, theirs, channel="call")
        wanted = dict[Decimal, str]()
        for said in turn["figures"]:
            if said["measure"] == "money":
                kind = _KINDS.get(said["kind"], _NOT)
                if said["kind"] == "offer" and said["whose"] != "speaker":
                    kind = _NOT
                wanted |= dict.fromkeys(_values(said["value"]), kind)
                if said["kind"] in ("offer", "limit") and said["whose"] == "speaker":
                    named[speaker] += _values(said["value"])
        if turn["figures"]:
            yield _marked(writer, turn["text"], told, wanted)


def _values(said: Any) -> list[Decimal]:
    several = cast("list[Any]", said if isinstance(said, list) else [] if said is None else [said])
    return [Decimal(str(one)) for one in several]


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((_TESTS / name).read_text("utf-8"))


def _issues(terms: Mapping[str, Any]) -> tuple[Issue, ...]:
    return parse_terms(NegotiationBody.model_validate({"title": "t", **terms}), lenient=True).issues


def _priced(least: str, most: str) -> Told:
    issue = Issue("price", "money", direction="lower", range=IssueRange(Decimal(least), Decimal(most)))
    return Told((issue,), channel="call")


def _marked(writer: str, text: str, told: Told, wanted: Wanted) -> tuple[MarkedMessage, Message]:
    """The sentence with a mark for each of its figures; one that the table does not name counts something or is not
    offered."""
    message = read_message(text, told)
    marks = list[MarkedFigure]()
    for figure in message.figures:
        kind, issue = "count", ""
        for fit in issue_fits(message, figure):
            values = {fit.value, *(one * factor for one in figure.readings for factor in _FACTORS)}
            met = next((value for value in wanted if value in values), None)
            if met is not None:
                kind, issue = wanted[met], fit.issue.name
                break
            span = fit.issue.range
            if not wanted and span is not None and span.min * Decimal("0.4") <= fit.value <= span.max * Decimal("2.5"):
                kind, issue = f"{_NOT}/count", ""
        marks.append(MarkedFigure(f"{kind}:{issue}" if issue else kind, figure.start, figure.end))
    return MarkedMessage(writer, {}, text, (), tuple(marks)), message
