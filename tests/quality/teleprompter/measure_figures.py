"""How figures are read: `python -m tests.quality.teleprompter.measure_figures FOLDER`.

FOLDER has `forms.json` (single utterances with what an attentive reader finds in them) or `talks/*.json` (whole talks).
Both are walked through the functions that the product uses: redaction, `find_figures`, `read_figures` with the range of
the issue as the bound negotiation, `detected_offer`, and the ledger's rule that a repeated figure is no new row.

- A form is read right when every figure of money, percent and days has its value, measure and kind, no other number
  passes for a price, and the offer is found (none where there is none). A month is thirty days.
- Price found: figures of money of either side's offers that are found with their value.
- A ledger row is right when the reader names that value in that turn as an offer or a limit of the speaker, or as what
  a reduction leaves of an earlier figure. Recall asks for a row for each turn with an offer of the speaker that is
  plausible for the issue and not a repetition of the speaker's own last.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, cast

from negotiator.negotiations.session import NegotiationSession
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.detected_offers import detected_offer
from negotiator.teleprompter.figures import ComparedFigure, EarlierFigure, figures_as_earlier, read_figures
from negotiator.teleprompter.redaction import redact
from negotiator.teleprompter.spoken_figures import SpokenFigure, find_figures
from tests.helpers.example_session import example_session

SELLING: Final = frozenset({"seller", "freelancer", "landlord", "candidate", "asker"})
DAYS_OF: Final = {"days": (Decimal(1),), "weeks": (Decimal(7),), "months": (Decimal(30), Decimal(365) / 12)}
PLAUSIBLE: Final = (Decimal("0.4"), Decimal("2.5"))


@dataclass(slots=True)
class Score:
    """Counts by name, and what went wrong."""

    right: Counter[str] = field(default_factory=Counter[str])
    of: Counter[str] = field(default_factory=Counter[str])
    wrong: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list[str]))

    def count(self, name: str, right: bool, what: str) -> None:
        self.of[name] += 1
        self.right[name] += right
        if not right:
            self.wrong[name].append(what)

    def share(self, name: str) -> float:
        """The share that is right; 1 where nothing was counted."""
        return self.right[name] / self.of[name] if self.of[name] else 1.0


def bound_negotiation(
    currency: str, low: object, high: object, *, role: str = "buyer", list_price: object = None
) -> NegotiationSession:
    """A negotiation about one price within a range."""
    issue = {"name": "price", "type": "money", "range": {"min": str(low), "max": str(high)}}
    members: dict[str, Any] = {"currency": currency, "issues": [issue], "role": role}
    members |= {"walk_away": None, "target": None}
    if list_price is not None:
        members["baseline"] = {"kind": "list_price", "value": str(list_price)}
    return example_session(**members)


def heard(
    text: str, session: NegotiationSession, speaker: Speaker, named: Sequence[EarlierFigure] = ()
) -> tuple[tuple[SpokenFigure, ...], tuple[ComparedFigure, ...], Decimal | None]:
    """The figures of an utterance, those that concern the price, and the price that enters the ledger."""
    found = find_figures(redact(text))
    read = read_figures(found, session.terms, speaker, named)
    offer = detected_offer(session, read, speaker=speaker, utterance_id="u")
    value = None if offer is None else (offer.package or {}).get("price")
    return found, read, None if value is None else Decimal(str(value))


def values_of(expected: object) -> list[Decimal]:
    if expected is None:
        return []
    several = cast(list[object], expected) if isinstance(expected, list) else [expected]
    return [Decimal(str(one)) for one in several]


def measure_forms(forms: Sequence[Mapping[str, Any]]) -> Score:
    """Forms read right, by style and by what is asked."""
    score = Score()
    for form in forms:
        context, text = form["context"], str(form["text"])
        session = bound_negotiation(context["currency"], context["min"], context["max"])
        found, read, row = heard(text, session, "them")
        expected = [one for one in form["figures"] if one["measure"] != "count"]
        wrong = [said for one in expected if (said := _figure_fault(one, found, read, score, text))]
        prices = [value for one in expected if one["measure"] == "money" for value in values_of(one["value"])]
        for one in read:
            if one.figure.measure == "money" and one.kind not in ("reduction", "other"):
                right = one.value in prices
                score.count("no other number is a price", right, f"{text} -> {one.value} {one.kind}")
                wrong += [] if right else [f"extra {one.value}"]
        offers = values_of(form["offer"])
        right = row in offers if offers else row is None
        score.count("offer", right, f"{text} -> {row}, expected {form['offer']}")
        if row is not None:
            score.count("offer precision", row in offers, f"{text} -> {row}, expected {form['offer']}")
        if offers:
            score.count("offer recall", row in offers, f"{text} -> {row}, expected {form['offer']}")
        score.count(f"style {form['style']}", right and not wrong, f"{text} -> {wrong or row}")
        score.count("whole form", right and not wrong, "")
    return score


def _figure_fault(
    expected: Mapping[str, Any], found: Sequence[SpokenFigure], read: Sequence[ComparedFigure], score: Score, text: str
) -> str:
    """What is wrong with the reading of one figure; empty where nothing is."""
    values, measure, kind = (values_of(expected["value"]), str(expected["measure"]), str(expected["kind"]))
    met = [one for one in _candidates(measure, found, read) if one[0] in values]
    score.count(f"value {measure}", bool(met), f"{text} -> {expected['said']}")
    if not met:
        return f"{measure} {expected['said']} not found"
    kinds = {met[0][1], *("history" for one in met if one[2] in ("listener", "me"))}
    right = kind in kinds
    score.count(f"kind {measure}", right, f"{text} -> {expected['said']}: {kinds}, expected {kind}")
    return "" if right or measure != "money" else f"{expected['said']} is {kinds}, expected {kind}"


def _candidates(
    measure: str, found: Sequence[SpokenFigure], read: Sequence[ComparedFigure]
) -> list[tuple[Decimal, str, str]]:
    """The values of a measure that were read, each with its kind and owner; the price of the issue comes first."""
    kind_of = "days" if measure in DAYS_OF else measure
    alike = [one for one in found if one.measure == kind_of]
    if measure == "money":
        priced = [
            (one.value, str(one.figure.sense.kind), str(one.whose)) for one in read if one.figure.measure == "money"
        ]
        values = [(value, one) for one in alike for value in (*one.readings, one.low, one.high)]
        return [*priced, *((value, one.sense.kind, one.sense.whose) for value, one in values)]
    per = DAYS_OF.get(measure, (Decimal(1),))
    values = [(round(value / each, 2), one) for one in alike for value in (one.low, one.high) for each in per]
    return [(value, one.sense.kind, one.sense.whose) for value, one in values]


def measure_talks(talks: Sequence[tuple[str, Mapping[str, Any]]]) -> Score:
    """Prices found where they are said, and precision and recall of the ledger."""
    score = Score()
    for name, talk in talks:
        issue = talk["issue"]
        role = "seller" if talk["me_role"] in SELLING else "buyer"
        session = bound_negotiation(
            talk["currency"], issue["min"], issue["max"], role=role, list_price=talk["list_price"]
        )
        memory: list[EarlierFigure] = []
        named: list[Decimal] = values_of(talk["list_price"])
        last: dict[str, Decimal] = {}
        low, high = (Decimal(str(issue["min"])) * PLAUSIBLE[0], Decimal(str(issue["max"])) * PLAUSIBLE[1])
        for turn in talk["turns"]:
            who: Speaker = turn["who"]
            text = str(turn["text"])
            found, read, row = heard(text, session, who, memory)
            memory += figures_as_earlier(read)
            money = [one for one in turn["figures"] if one["measure"] == "money"]
            where = f"{name} {who}: {text}"
            for one in money:
                plausible = [value for value in values_of(one["value"]) if low <= value <= high]
                if plausible and one["kind"] in ("offer", "limit", "list_price"):
                    values = {value for each in found for value in (*each.readings, each.low, each.high)}
                    values |= {each.value for each in read}
                    score.count("price found", bool(values & set(plausible)), f"{where} -> {one['said']}")
            offered = _values(money, "offer")
            limits, cuts = _values(money, "limit"), _values(money, "reduction")
            if row is not None and last.get(who) == row:
                row = None
            if row is not None:
                rest = {one - cut for one in named for cut in cuts}
                percent = [one for one in turn["figures"] if one["measure"] == "percent" and one["kind"] == "reduction"]
                rest |= {
                    one * (100 - cut) / 100 for one in named for each in percent for cut in values_of(each["value"])
                }
                right = row in (*offered, *limits, *rest)
                score.count("ledger precision", right, f"{where} -> {row}")
                last[who] = row
            wanted = [value for value in offered if low <= value <= high and value != last.get(f"said {who}")]
            if wanted:
                score.count(
                    "ledger recall", row in wanted or last.get(who) in wanted, f"{where} -> {row}, expected {wanted}"
                )
                last[f"said {who}"] = wanted[-1]
            named += [value for one in money for value in values_of(one["value"])]
    return score


def _values(figures: Sequence[Mapping[str, Any]], kind: str) -> list[Decimal]:
    return [
        value
        for one in figures
        if one["kind"] == kind and one["whose"] == "speaker"
        for value in values_of(one["value"])
    ]


def read_corpus(folder: Path) -> tuple[list[Any], list[tuple[str, Any]]]:
    """The forms and the talks of a folder, each talk with its name; `forms.json` may be in `figures`."""
    files = [one for one in (folder / "forms.json", folder / "figures" / "forms.json") if one.exists()]
    forms = [form for one in files for form in json.loads(one.read_text("utf-8"))]
    talks = [(file.stem, json.loads(file.read_text("utf-8"))) for file in sorted((folder / "talks").glob("*.json"))]
    return forms, talks


def report(score: Score, *, with_faults: bool) -> None:
    """Print each share and, if asked for, what went wrong."""
    for name in sorted(score.of):
        counts = f"{score.right[name]:4} of {score.of[name]:4}  {score.share(name):.3f}"
        sys.stdout.write(f"{name:40} {counts}\n")
        for what in filter(None, score.wrong[name] if with_faults else ()):
            sys.stdout.write(f"    {what}\n")


def main() -> None:
    """Measure the folder that is named first; `--faults` prints what went wrong."""
    forms, talks = read_corpus(Path(sys.argv[1]))
    for score in (measure_forms(forms), measure_talks(talks)):
        report(score, with_faults="--faults" in sys.argv)


if __name__ == "__main__":
    main()
