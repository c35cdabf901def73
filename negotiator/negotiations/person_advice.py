"""The next move with a person: from a stored negotiation or a described turn to the answer of the contract (6.7)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from negotiator.advice.concession import move_text
from negotiator.advice.concession.aims import Evidence, with_assumed_ranges
from negotiator.advice.concession.move import MAX_OFFERS, PersonMove, person_move
from negotiator.advice.concession.move_text import NO_LINES, CaseLines
from negotiator.advice.concession.reply import AskedOfUs, Reply, as_sentence, reply_to
from negotiator.advice.concession.reply_check import HeldMove, check_reply
from negotiator.advice.expected_price import ExpectedPrice, expected_price
from negotiator.advice.hearing.hear import LIKELY, SURE
from negotiator.advice.leverage.concessions import LedgerOffer, completed_offers
from negotiator.advice.plans.case_template import case_words, choose_template, fill_case
from negotiator.advice.plans.evidence import BenchmarkFigure
from negotiator.advice.strategy.situation import StrategySituation
from negotiator.advice.words.sentences import table
from negotiator.base.errors import ValidationFailed
from negotiator.negotiations.engine_input import OUTSIDE_RANGE, described_turn_input, engine_result_json, require_inputs
from negotiator.negotiations.offer_history import advised_terms, as_said, ledger_offers, live_offers, offers_made
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.schemas_advice import NextMoveBody, ReplyCheck, Style
from negotiator.negotiations.session import NegotiationSession
from negotiator.terms import limits
from negotiator.terms.issues import (
    Issue,
    IssueOption,
    IssueType,
    Package,
    Scalar,
    same_value,
    values_of,
    worth_of,
    worths_of,
)
from negotiator.terms.short_forms import read_package
from negotiator.terms.terms import Terms
from negotiator.terms.terms_view import package_view, value_view
from negotiator.terms.utility import (
    Preferences,
    Worth,
    check_package,
    is_complete,
    issues_outside_range,
    opposed_preferences,
)
from negotiator.terms.wording import Wording

MAX_DESCRIBED_OFFERS = 200
CHANCE_DIGITS = 3
"""More would claim a knowledge that nobody has."""
DECIDED: Final = "It goes beyond a limit of yours, no further than the offer that you allowed."
MAX_BRIEF_POINTS: Final = 4
MIN_QUOTE: Final = 40
"""So many characters of a question tell whether a message has it."""
NEVER_SAY: Final = table("brief")["never_say"]
TONE: Final = {True: table("brief")["private"], False: table("brief")["company"]}
_FIRST_PERSON = re.compile(r"\b(?:I|me|my)\b")


def stored_person_answer(
    session: NegotiationSession,
    rows: Sequence[OfferRow],
    *,
    now: int,
    style: Style = "balanced",
    utterance: str | None = None,
    benchmarks: Sequence[BenchmarkFigure] = (),
    scores: bool = False,
) -> dict[str, Any]:
    """The next move of a stored negotiation. Raises 409 `missing_inputs` without a walk-away and an alternative."""
    terms, move = _stored_move(session, rows, now=now, style=style, utterance=utterance, benchmarks=benchmarks)
    live = live_offers(rows, now, side="them")
    words = Wording(terms)
    expected = expected_price(words, ledger_offers(rows), comparable=comparable_price(terms, benchmarks))
    answer = person_answer(move, terms, expected, scores=scores)
    if move.package is not None and not limits.keeps_limits(session.terms, move.package):
        answer["reasons"].append(DECIDED)
    outside = issues_outside_range(terms.issues, live[-1].package or {}) if live else ()
    answer["reasons"] += [OUTSIDE_RANGE.format(words.label(issue)) for issue in terms.issues if issue.name in outside]
    if move.package is not None and limits.needs_approval(terms, move.package):
        answer["reasons"].append("It goes beyond your authority, so it needs approval.")
    return answer


def _stored_move(
    session: NegotiationSession,
    rows: Sequence[OfferRow],
    *,
    now: int,
    style: Style,
    utterance: str | None,
    benchmarks: Sequence[BenchmarkFigure],
) -> tuple[Terms, PersonMove]:
    """The move, and the terms that it was made from."""
    require_inputs(with_assumed_ranges(session.terms)[0], floor=True)
    terms = advised_terms(session.terms, rows, now)
    offers, counted = ledger_offers(rows), as_said(rows)
    move = person_move(
        terms,
        offers,
        now=now,
        on_table=offer_on_table(terms, offers, live_offers(rows, now, side="them")),
        style=style,
        words=_heard_words(utterance, _said(rows)),
        answer=utterance,
        refused=bool(counted) and (counted[-1].side, counted[-1].kind) == ("them", "rejection"),
        evidence=price_evidence(terms, benchmarks),
        own=session.terms,
    )
    return terms, move


def checked_reply(
    session: NegotiationSession,
    rows: Sequence[OfferRow],
    draft: str,
    *,
    now: int,
    style: Style = "balanced",
    utterance: str | None = None,
    package: Any = None,
    benchmarks: Sequence[BenchmarkFigure] = (),
) -> ReplyCheck:
    """A draft held against a package, else against the next move, whose inputs it needs."""
    terms, move = _stored_move(session, rows, now=now, style=style, utterance=utterance, benchmarks=benchmarks)
    offers_read = ledger_offers(rows)[-MAX_OFFERS:]
    held = held_move(move, session.terms, offers_read, utterance, _package_sent(terms, package))
    problems, offers = check_reply(draft, held)
    return {
        "ok": not problems,
        "problems": [{"kind": one.kind, "quote": one.quote, "mend": one.mend} for one in problems],
        "package": None if held.package is None else package_view(terms, held.package),
        "offers": [package_view(terms, one) for one in offers],
    }


def _package_sent(terms: Terms, sent: Any) -> Package | None:
    """The package of a request; 422 where a value of it is none of its issue."""
    if sent is None:
        return None
    package, faults = read_package(terms, sent)
    faults = faults or check_package(terms.issues, package)
    if faults:
        raise ValidationFailed(faults)
    return package


def held_move(
    move: PersonMove, terms: Terms, offers: Sequence[LedgerOffer], utterance: str | None, package: Package | None = None
) -> HeldMove:
    """What a draft is held against: the package that was sent, else the move with its alternatives and its figures."""
    aims, words = move.path.aims, Wording(terms)
    reply = reply_to(aims, move.reading, words)
    heard = " ".join((utterance or "").split())
    questions = tuple(one for one in reply.questions if one.quote[:MIN_QUOTE] in heard)
    if package is not None and not _is_same(terms, package, move.package):
        whole = {**(move.reading.own[-1] if move.reading.own else {}), **package}
        return HeldMove(terms, offers, "counter", whole, questions=questions, utterance=heard)
    beside = move.step.alternatives if move.step is not None and move.action == "counter" else ()
    sayable = (move_text.say(move, words), *(text for text, _ in reply.points))
    return HeldMove(terms, offers, move.action, move.package, beside, sayable, questions, heard)


def _is_same(terms: Terms, package: Package, other: Package | None) -> bool:
    """Whether a package names nothing but values of the other one."""
    return other is not None and all(
        one.name not in package or same_value(one.type, package[one.name], other.get(one.name)) for one in terms.issues
    )


def described_person_answer(body: NextMoveBody) -> dict[str, Any]:
    """The next move of a described turn: its values and worths stand for the issues, its reservation for the limit."""
    situation = described_turn_input(body)

    terms = _described_terms(situation)
    past = situation.history[-MAX_DESCRIBED_OFFERS:]
    offers = tuple(LedgerOffer(seq=place + 1, by=one.by, package=dict(one.offer)) for place, one in enumerate(past))
    table = situation.on_table
    move = person_move(
        terms,
        offers,
        now=0,
        on_table=None if table is None else dict(table.offer),
        style=body.style,
        words=body.utterance,
        answer=body.utterance,
    )
    return person_answer(move, terms)


def person_answer(
    move: PersonMove, described: Terms, expected: ExpectedPrice | None = None, *, scores: bool = True
) -> dict[str, Any]:
    """The members of the answer. `described` are the terms with every value that the caller listed.

    Without `scores` the table of what each value is worth to them is left out.

    `expected` is the forecast of their price; the summary of a counter-offer says it, `say` never.
    """

    aims, round_ = move.path.aims, move.round
    terms, words = aims.terms, Wording(aims.terms)
    reply = reply_to(aims, move.reading, words)
    chance = 1.0 if move.action == "accept" else 0.0
    summary = [move_text.summary(move, words)]
    if expected is not None and move.action == "counter" and move.why != "ask_if_agreed":
        summary.append(expected.text)
    if move.action == "counter" and round_ is not None:
        chance = round(round_.chance, CHANCE_DIGITS)
    return {
        "action": move.action,
        "offer": None if move.package is None else package_view(terms, move.package),
        "my_utility": None if move.package is None else aims.worth(move.package),
        "alternatives": [package_view(terms, one) for one in move.step.alternatives]
        if move.step and move.action == "counter"
        else [],
        "acceptance_probability": chance,
        "acceptance_interval": {"low": round(round_.low, CHANCE_DIGITS), "high": round(round_.high, CHANCE_DIGITS)}
        if round_ is not None and move.action == "counter"
        else None,
        "reasons": move_text.reasons(move, words),
        "say": move_text.say(
            move,
            words,
            _case_lines(described, words, len(move.reading.own)),
            approval=move.package is not None and limits.needs_approval(terms, move.package),
        ),
        "summary": " ".join(summary),
        "cost": move_text.cost(move, words),
        "assumptions": move_text.assumptions(aims, words, move.package, move.reading),
        "ask": [
            {"missing": one.missing, "ask": one.ask, "why": one.why}
            for one in move_text.missing_inputs(aims, words, opened=bool(move.reading.own), reading=move.reading)
        ],
        "trade": _trade_view(move),
        "path": []
        if move.why in {"last_offer", "they_agree", "is_gone"}
        else [package_view(terms, step.package) for step in move.path.steps],
        "expected": engine_result_json(expected, terms.currency),
        "heard": _heard_view(move, terms),
        "answer_first": [_question_view(one) for one in reply.open] if move.action == "counter" else [],
        "brief": _brief(move, words, reply),
        "opponent_utility": their_scores(described, move.reading.theirs) if scores else {},
        "floor": max(aims.floor, 0.0) if aims.floor == -1.0 else aims.floor,
        "counterpart": "person",
    }


def _heard_view(move: PersonMove, terms: Terms) -> dict[str, Any]:
    """What their words say: acts with their quotes, and the offers in them; `recorded` tells which the ledger has."""
    message = move.reading.message
    new = (*message.taken, *message.unsure)
    return {
        "acts": [
            {"act": one.name, "of": one.of, "quote": one.quote, "chance": round(one.chance, 2)}
            for one in message.heard.acts
        ],
        "offers": [
            {
                "package": package_view(terms, one.package),
                "conditions": list(one.conditions),
                "quote": one.quote,
                "sure": one.chance >= SURE,
                "recorded": one not in new,
            }
            for one in message.heard.offers
            if one.chance >= LIKELY
        ],
    }


def _question_view(one: AskedOfUs) -> dict[str, str]:
    return {"asks": one.of, "quote": one.quote, "answer": one.fact}


def _brief(move: PersonMove, words: Wording, reply: Reply) -> dict[str, Any]:
    """What somebody needs who words the answer themselves."""
    terms = move.path.aims.terms
    told = [one for one in terms.arguments if one.shareable]
    points = {True: list[str](), False: list[str]()}
    for text, is_give in reply.points[:MAX_BRIEF_POINTS]:
        points[is_give].append(text)
    known = [as_sentence(one.fact) for one in told if one.kind == "reason"][:MAX_BRIEF_POINTS]
    return {
        "action": move.action,
        "package": None if move.package is None else package_view(terms, move.package),
        "in_words": "" if move.package is None else words.deal(move.package, with_total=False),
        "answer": [_question_view(one) for one in reply.questions],
        "reasons": points[False] or known,
        "may_give": points[True],
        "thank_for": move_text.thanks(move, words),
        "ask_for": [one.fact for one in told if one.kind == "wish"] if move.action == "accept" else [],
        "never_say": NEVER_SAY,
        "tone": TONE[words.voice.is_private],
    }


def _case_lines(terms: Terms, words: Wording, turn: int) -> CaseLines:
    """The lines of the kind of case that the title, category and role tell, in this turn; none without a title."""

    if not terms.title:
        return NO_LINES
    content = fill_case(choose_template(terms).content, case_words(words), terms.issues)

    def fitting(line: str) -> str:
        """The line unless it says "I" for a company."""
        return line if words.voice.is_private or not _FIRST_PERSON.search(line) else ""

    return CaseLines(
        opening=fitting(content.opening),
        leave=fitting(content.leave),
        question=fitting(content.questions[turn].ask) if turn < len(content.questions) else "",
    )


def their_scores(terms: Terms, theirs: Sequence[Package]) -> dict[str, list[list[Any]]]:
    """The estimated part-worth to the other side of every value: the opposite of the user's, by estimated weights.

    A weight is the one that the user gave, else their own; an issue on which the other side has not moved since its
    first offer weighs up to three times one on which it has come all the way.
    """
    opposed = opposed_preferences(terms.preferences).issues
    weights = [other.weight * _insistence(one, theirs) for one, other in zip(terms.issues, opposed, strict=True)]
    total = sum(weights) or 1.0
    found: dict[str, list[list[Any]]] = {}
    for issue, weight in zip(terms.issues, weights, strict=True):
        values = values_of(issue)
        found[issue.name] = [
            [value_view(issue, value, terms.currency), weight / total * (1.0 - worth)]
            for value, worth in zip(values, worths_of(issue, values), strict=True)
            if worth is not None
        ]
    return found


def _insistence(issue: Issue, theirs: Sequence[Package]) -> float:
    """From 1.5 for an issue on which they have not moved to .5 for one on which they came all the way; 1 if unknown."""
    named = [package[issue.name] for package in theirs if issue.name in package]
    if len(named) < 2:
        return 1.0
    first, last = (worth_of(issue, value) or 0.0 for value in (named[0], named[-1]))
    way = 1.0 - first
    return 1.5 - min(1.0, max(0.0, (last - first) / way)) if way > 0 else 1.0


def price_evidence(terms: Terms, benchmarks: Sequence[BenchmarkFigure]) -> tuple[Evidence, ...]:
    """Prices that others can check: what comparable deals save, applied to the baseline of this one."""

    price, baseline = terms.price, terms.baseline
    if price is None or baseline is None or baseline.value is None:
        return ()
    found: list[Evidence] = []
    for mark in benchmarks:
        rate = _rate(mark.high)
        if rate is None:
            continue
        change = 1 - rate if price.direction == "lower" else 1 + rate
        found.append(
            Evidence(
                baseline.value * change,
                "A quarter of comparable deals ended at least this well.",
                f"benchmark:{mark.id}",
            )
        )
    return tuple(found)


def comparable_price(terms: Terms, benchmarks: Sequence[BenchmarkFigure]) -> Decimal | None:
    """What comparable deals usually end at: the baseline of this one with their usual saving."""
    price, baseline = terms.price, terms.baseline
    rate = next((rate for mark in benchmarks if (rate := _rate(mark.value)) is not None), None)
    if price is None or baseline is None or baseline.value is None or rate is None:
        return None
    return baseline.value * (1 - rate if price.direction == "lower" else 1 + rate)


def _rate(text: str | None) -> Decimal | None:
    if text is None or not text.endswith("%"):
        return None
    return Decimal(text.removesuffix("%").strip()) / 100


def offer_on_table(terms: Terms, offers: Sequence[LedgerOffer], live: Sequence[OfferRow]) -> Package | None:
    """Their live offer, completed from their earlier ones, if it names every issue."""
    if not live:
        return None
    rows = [row for row in completed_offers(offers) if row.by == "them"]
    last = next((row for row in reversed(rows) if row.seq == live[-1].seq), None)
    if last is None or not is_complete(terms.issues, last.package):
        return None
    return last.package


def _heard_words(utterance: str | None, said: str | None) -> str | None:
    """What they say now and what came with their latest offer, each once."""
    texts = [text for text in (said, utterance) if text]
    if len(texts) > 1 and (texts[0] in texts[1] or texts[1] in texts[0]):
        texts = [max(texts, key=len)]
    return " ".join(texts) or None


def _said(rows: Sequence[OfferRow]) -> str | None:
    """The words that came with their latest offer."""
    last = next((row for row in reversed(offers_made(rows)) if row.side == "them"), None)
    return None if last is None else last.content.get("rationale")


def _trade_view(move: PersonMove) -> dict[str, Any] | None:
    """What the offer gives and what it asks for it."""
    step, terms = move.step, move.path.aims.terms
    if step is None or move.action != "counter":
        return None

    def shown(issue: Issue, value: Scalar) -> Any:
        return value_view(issue, value, terms.currency)

    if move.trade is not None:
        issue, cost = terms.issue(move.trade.allowed.issue), move.trade.cost
        return {
            "gives": [{"issue": issue.name, "to": shown(issue, move.trade.allowed.to)}] if issue else [],
            "asks": [
                {"issue": name, "value": shown(one, value)}
                for name, value in move.trade.allowed.in_return.items()
                if (one := terms.issue(name)) is not None
            ],
            "beyond_limit": True,
            "cost": None if cost is None else str(cost),
        }
    if not step.gives:
        return None
    ask = step.ask
    asked = (
        [{"issue": ask.issue.name, "value": shown(ask.issue, ask.value)}]
        if ask is not None and ask.issue is not None and ask.value is not None
        else [
            {
                "issue": None,
                "value": "a step of theirs" if ask is None or ask.kind == "movement" else "an agreement now",
            }
        ]
    )
    return {
        "gives": [
            {"issue": one.issue.name, "from": shown(one.issue, one.before), "to": shown(one.issue, one.after)}
            for one in step.gives
        ],
        "asks": asked,
        "beyond_limit": False,
        "cost": None,
    }


def _described_terms(situation: StrategySituation) -> Terms:
    """The terms of a described turn: each issue with its values as options, on the scale of the given utilities."""
    issues: list[Issue] = []
    constant = situation.my_preferences.constant
    for issue in situation.issues:
        worths = [situation.worths[issue.name][isinstance(v, bool), v] for v in issue.values]
        low, span = min(worths), max(worths) - min(worths)
        constant += low
        issues.append(
            Issue(
                issue.name,
                _type_of(issue.values),
                weight=span,
                options=tuple(
                    IssueOption(value, (worth - low) / span if span else 0.0)
                    for value, worth in zip(issue.values, worths, strict=True)
                ),
            )
        )
    known = Terms(
        title="",
        role="party",
        category="other",
        kind="other",
        currency=None,
        preferences=Preferences(tuple(issues), constant),
        walk_away=Worth(utility=situation.my_preferences.reservation_utility),
        max_rounds=situation.progress.n_steps,
    )
    return replace(known, missing=("target",))


def _type_of(values: Sequence[Scalar]) -> IssueType:
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    if any(isinstance(value, bool | str) for value in values):
        return "enum"
    return "number"
