"""Ranks the tactics that fit a situation, with reasons and sentences to say, and sums them up.

A score is the sum of named parts.

A tactic is suggested only when a fact supports it: one of its reasons holds, or it answers a recognised move.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from negotiator.advice.tactics.catalogue import TacticCatalogue
from negotiator.advice.tactics.facts import FACTS, FactValues, PublicWords, TacticSituation, condition_holds, facts_of
from negotiator.advice.tactics.phrases import built_in_descriptions
from negotiator.advice.tactics.recognition import RecognisedTactic, recognise_tactics
from negotiator.advice.tactics.tactic import NegotiationRole, Tactic, TacticEffect, TacticStats
from negotiator.terms.plain_text import capitalise, join_words, sentence, tidy

COUNTER_POINTS = 2.0
LATER_ANSWER = 0.85
REASON_POINTS = (0.5, 0.35, 0.25)
PHASE_POINTS = 0.2
SIZE_POINTS = {"small": 0.1, "medium": 0.2, "large": 0.3}
GRADE_POINTS = {"practice": 0.05, "experiment": 0.1, "meta-analysis": 0.15}
RISK_POINTS = -0.15
CAUTION_POINTS = -0.25
OWN_RESULT_POINTS = 1.0
PRIOR_WINS, PRIOR_LOSSES = 2, 2
MAX_PER_FAMILY = 2
MAX_MOVES = 2
"""Moves of the other side that are named, the surest first."""
TRADE_SHARE = 0.5
"""Share of the points of an answer that a tactic gets when it takes up a trade that they offer."""
TRADES = frozenset(
    f"tac_{name}"
    for name in (
        *("conditional_concession", "logrolling", "meso", "contingent_contract", "volume_trade"),
        *("multi_year_lock", "payment_terms", "bundle", "add_issue", "pilot", "scope_swap"),
        *("information_trade", "priority_question", "agenda_first", "matching_right"),
    )
)
"""Moves by which the other side offers a trade or looks for one; they are taken up and not fended off."""
MAX_PUBLIC_WORDS_CHARACTERS = 160
_KIN: Mapping[NegotiationRole, NegotiationRole] = {
    "employer": "buyer",
    "tenant": "buyer",
    "candidate": "seller",
    "landlord": "seller",
}
_UNSAID = {
    "topic": "this",
    "price": "the price",
    "give": "another point",
    "their_offer": "your last offer",
    "criterion": "comparable deals",
}
PLACEHOLDERS = frozenset([*_UNSAID, "my_offer", "we", "us", "our", "ours", "are", "were"])
"""What a line may have in braces; `PublicWords` says what fills it."""
_EFFECTS = {
    "claim": "your share of the deal",
    "create": "what the deal brings to both sides",
    "relationship": "the relationship",
}
_EVIDENCE = {"practice": "experience", "experiment": "experiments", "meta-analysis": "a review of many studies"}
_PHASES = {
    "prepare": "While you prepare",
    "open": "When the talk opens",
    "explore": "While you find out more",
    "bargain": "While you bargain",
    "close": "When you close",
    "after": "After the deal",
}
_PLACEHOLDER = re.compile(r"(?P<start>\A|(?<=[.?!] ))?\{(?P<name>[a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class TacticReference:
    """A tactic by id and name."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One term of the score, in words and points."""

    text: str
    points: float


@dataclass(frozen=True, slots=True)
class SuggestionEvidence:
    """The evidence of a suggestion: the parts that add up to the score, the effect, and published sources."""

    parts: tuple[ScorePart, ...]
    effect: TacticEffect
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TacticSuccessRate:
    """The user's own results with a tactic; `rate` is shrunk towards one half (see `shrunken_win_rate`)."""

    used: int
    wins: int
    n: int
    rate: float


@dataclass(frozen=True, slots=True)
class TacticResult:
    """The user's record of one tactic: counts, and the ids of the memories they come from."""

    stats: TacticStats
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TacticSuggestion:
    """One suggestion, with the members of the response."""

    tactic: TacticReference
    score: float
    why: str
    when: str
    say: str
    risk: int
    counters: tuple[TacticReference, ...]
    evidence: SuggestionEvidence
    memories: tuple[str, ...]
    wins: TacticSuccessRate | None


def rank_tactics(
    situation: TacticSituation,
    *,
    catalogue: TacticCatalogue,
    own: Iterable[Tactic] = (),
    results: Mapping[str, TacticResult] | None = None,
    limit: int = 5,
) -> list[TacticSuggestion]:
    """At most `limit` tactics, best first, at most `MAX_PER_FAMILY` of a family.

    `own` are the user's tactics, `results` the user's record by tactic id. Deceptive tactics are never returned, nor
    tactics with a precondition that is not known to hold or a reason against them that is known to hold.
    """
    whole = catalogue.with_own(own)
    moves = tuple(move for move in recognised_moves(situation) if move.tactic_id in whole.by_id)
    pressing = sum(whole.by_id[move.tactic_id].ethics != "fine" for move in moves)
    facts = facts_of(situation, moves, pressure=pressing)
    record = results or {}
    made: list[TacticSuggestion] = []
    for tactic in whole.tactics:
        answering = any(move.tactic_id in tactic.counter_to for move in moves)
        if _allowed(tactic, situation, facts=facts, answering=answering):
            item = _suggestion(tactic, situation, facts=facts, moves=moves, catalogue=whole, own=record.get(tactic.id))
            made += [item] if item else []
    made.sort(key=lambda item: (-item.score, item.tactic.id))
    return _varied(made, whole)[: max(limit, 0)]


def recognised_moves(situation: TacticSituation) -> tuple[RecognisedTactic, ...]:
    """The other side's moves, each once with its highest confidence: those recognised, else by phrases alone."""
    found = situation.recognised
    if found is None:
        found = () if situation.utterance is None else recognise_tactics(situation.utterance)
    surest: dict[str, RecognisedTactic] = {}
    for move in sorted(found, key=lambda one: (-one.confidence, one.tactic_id)):
        surest.setdefault(move.tactic_id, move)
    return tuple(surest.values())


def shrunken_win_rate(stats: TacticStats) -> float:
    """The mean of the beta posterior, (wins + 2) / (n + 4); few uses stay close to one half."""
    return (stats.wins + PRIOR_WINS) / (stats.n + PRIOR_WINS + PRIOR_LOSSES)


def _allowed(tactic: Tactic, situation: TacticSituation, *, facts: FactValues, answering: bool) -> bool:
    """Whether no known fact excludes the tactic. An answer to a recognised move is allowed in any phase."""
    return (
        tactic.ethics != "deceptive"
        and tactic.suits(situation.role)
        and (answering or situation.phase is None or situation.phase in tactic.phases)
        and all(condition_holds(test, facts) is True for test in tactic.preconditions)
        and not any(clause.condition and condition_holds(clause.condition, facts) for clause in tactic.avoid_when)
    )


def _suggestion(
    tactic: Tactic,
    situation: TacticSituation,
    *,
    facts: FactValues,
    moves: Sequence[RecognisedTactic],
    catalogue: TacticCatalogue,
    own: TacticResult | None,
) -> TacticSuggestion | None:
    answers = [_answer(tactic, move, catalogue) for move in moves if move.tactic_id in tactic.counter_to][:1]
    fired = [c for c in tactic.use_when if c.condition and condition_holds(c.condition, facts)]
    if not answers and not fired:
        return None
    reasons = [
        ScorePart(f"{c.text}{_figure(c.condition.fact, facts)}", points)
        for c, points in zip(fired, REASON_POINTS, strict=False)
        if c.condition
    ]
    stats = own.stats if own else tactic.stats
    wins = TacticSuccessRate(stats.used, stats.wins, stats.n, round(shrunken_win_rate(stats), 3)) if stats else None
    parts = (*answers, *reasons, *_standing(tactic, situation), *_own_part(wins))
    said = [part.text for part in (*answers, *reasons, *_own_part(wins))]
    return TacticSuggestion(
        tactic=TacticReference(tactic.id, tactic.name),
        score=round(sum(part.points for part in parts), 3),
        why=" ".join(f"{one}." for one in said),
        when=_when(tactic, situation, answering=bool(answers)),
        say=_say(tactic, situation),
        risk=tactic.risk,
        counters=tuple(TacticReference(answer, catalogue.by_id[answer].name) for answer in tactic.countered_by),
        evidence=SuggestionEvidence(
            parts, tactic.effect, tuple(f"{s.author}, {s.title}, {s.year}" for s in tactic.sources)
        ),
        memories=own.memories if own else (),
        wins=wins,
    )


def _answer(tactic: Tactic, move: RecognisedTactic, catalogue: TacticCatalogue) -> ScorePart:
    """The points a tactic gets as an answer: more for a certain recognition and an early place."""
    faced = catalogue.by_id[move.tactic_id]
    place = faced.countered_by.index(tactic.id)
    points = COUNTER_POINTS * move.confidence * LATER_ANSWER**place
    if move.tactic_id in TRADES:
        text = f"It takes up the trade they look for, heard in “{move.quote}”"
        return ScorePart(text, round(TRADE_SHARE * points, 3))
    return ScorePart(f"It answers “{faced.name}”, heard in “{move.quote}”", round(points, 3))


def _standing(tactic: Tactic, situation: TacticSituation) -> list[ScorePart]:
    """The points a tactic gets by itself: fit to the phase, effect, evidence, risk, ethics."""
    effect = tactic.effect
    parts = [
        ScorePart(f"{effect.size} effect on {_EFFECTS[effect.on]}", SIZE_POINTS[effect.size]),
        ScorePart(f"backed by {_EVIDENCE[effect.evidence]}", GRADE_POINTS[effect.evidence]),
    ]
    if situation.phase in tactic.phases:
        parts.append(ScorePart("suits this part of the talk", PHASE_POINTS))
    if tactic.risk:
        parts.append(ScorePart(f"risk {tactic.risk} of 3", round(RISK_POINTS * tactic.risk, 3)))
    if tactic.ethics == "caution":
        parts.append(ScorePart("to be used with care", CAUTION_POINTS))
    return parts


def _own_part(wins: TacticSuccessRate | None) -> list[ScorePart]:
    if wins is None or not wins.n:
        return []
    times = "once" if wins.used == 1 else f"{wins.used} times"
    text = f"You used it {times}, and it helped in {wins.wins} of {wins.n} known outcomes"
    return [ScorePart(text, round(OWN_RESULT_POINTS * (wins.rate - 0.5), 3))]


def _when(tactic: Tactic, situation: TacticSituation, *, answering: bool) -> str:
    """The moment, the first thing to do, and the caution that no fact has settled."""
    moment = "Right after their move" if answering else _PHASES[situation.phase] if situation.phase else "Next"
    first = f": {tactic.steps[0][0].lower()}{tactic.steps[0][1:]}" if tactic.steps else ""
    open_doubt = next((c.text for c in tactic.avoid_when if c.condition is None), None)
    return f"{moment}{first}." + (f" Not if: {open_doubt}." if open_doubt else "")


def _figure(fact: str, facts: FactValues) -> str:
    """The figure behind a reason, in brackets; a yes or no would only say the reason again."""
    known = FACTS[fact]
    return "" if known.kind == "flag" else f" ({known.phrase(facts[fact])})"


def _say(tactic: Tactic, situation: TacticSituation) -> str:
    by_role = {line.role: line.text for line in reversed(tactic.lines)}
    role = situation.role or "party"
    ladder = (role, "party", _KIN.get(role, "party"))
    text = next((by_role[step] for step in ladder if step in by_role), "")
    return fill_line(text, situation.sayable)


def fill_line(text: str, sayable: PublicWords) -> str:
    """A line with its placeholders filled, and a capital where one of them begins a sentence.

    A text that is not known, or longer than 160 characters, is replaced by plain words such as "your last offer".
    """
    voice = sayable.voice
    words = {
        "we": voice.i,
        "us": voice.me,
        "our": voice.my,
        "ours": voice.mine,
        "are": voice.am,
        "were": voice.was,
        "my_offer": f"{voice.my} last offer",
        **_UNSAID,
    }

    def filled(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in PLACEHOLDERS:
            return found.group()
        given = tidy(getattr(sayable, name, None) or "")
        said = given if 0 < len(given) <= MAX_PUBLIC_WORDS_CHARACTERS else words[name]
        return said if found["start"] is None else capitalise(said)

    return _PLACEHOLDER.sub(filled, text)


def _varied(ranked: Sequence[TacticSuggestion], catalogue: TacticCatalogue) -> list[TacticSuggestion]:
    """The ranking with at most `MAX_PER_FAMILY` tactics of one family."""
    counts: dict[str, int] = {}
    first: list[TacticSuggestion] = []
    for item in ranked:
        family = catalogue.by_id[item.tactic.id].family
        counts[family] = counts.get(family, 0) + 1
        if counts[family] <= MAX_PER_FAMILY:
            first.append(item)
    return first


def suggestions_summary(moves: Sequence[RecognisedTactic], first: Tactic | None, say: str, *, is_answer: bool) -> str:
    """Two or three sentences for the user.

    `moves` are the recognised ones, the surest first; `first` is the tactic that fits best and `say` its line.
    `is_answer` tells whether there are words of the other side to answer.
    """
    parts: list[str] = []
    if moves:
        told = built_in_descriptions()
        seen = [f"{told.get(move.tactic_id, 'making a move')} (“{tidy(move.quote)}”)" for move in moves[:MAX_MOVES]]
        parts.append(f"They seem to be {join_words(seen)}")
    elif is_answer:
        parts.append("Nothing in what they said is pressure or a trick")
    if first is None:
        parts.append("Nothing known so far speaks for one tactic: listen, and ask what matters most to them")
        return " ".join(map(sentence, parts))
    step = first.steps[0] if first.steps else f"try “{tidy(first.name)}”"
    parts.append(f"First, {_lowered(step)}")
    if say:
        parts.append(f"Then say: “{say}”")
    return " ".join(map(sentence, parts))


def _lowered(step: str) -> str:
    """A step as it goes on after a comma."""
    word = step.split(" ")[0]
    return step if word.isupper() else step[:1].lower() + step[1:]
