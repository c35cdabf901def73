"""Which tactics fit here and now, why, and what to say: a sum of stated parts, no hidden weights.

A tactic is offered only if a fact speaks for it: one of its reasons holds, or it answers a move
just heard. General advice that fits any talk does worse than none, so it is not given.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from negotiator.negotiations.tactics.cues import clean
from negotiator.negotiations.tactics.recognise import Recognition, recognise
from negotiator.negotiations.tactics.shelf import Shelf
from negotiator.negotiations.tactics.situation import (
    FACTS,
    Facts,
    Sayable,
    TacticSituation,
    facts_of,
    holds,
)
from negotiator.negotiations.tactics.tactic import Effect, Role, Stats, Tactic

COUNTER = 2.0
LATER_ANSWER = 0.85
REASONS = (0.5, 0.35, 0.25)
PHASE = 0.2
SIZE = {"small": 0.1, "medium": 0.2, "large": 0.3}
GRADE = {"practice": 0.05, "experiment": 0.1, "meta-analysis": 0.15}
RISK = -0.15
CAUTION = -0.25
OWN = 1.0
PRIOR_WINS, PRIOR_LOSSES = 2, 2
PER_FAMILY = 2
SAYABLE_LIMIT = 80
_KIN: Mapping[Role, Role] = {
    "employer": "buyer",
    "tenant": "buyer",
    "candidate": "seller",
    "landlord": "seller",
}
_UNSAID = {
    "topic": "this",
    "my_offer": "our last proposal",
    "their_offer": "that figure",
    "criterion": "what comparable deals look like",
}


@dataclass(frozen=True, slots=True)
class Ref:
    """A tactic by id and name."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Part:
    """One term of the score, in words and points."""

    text: str
    points: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the suggestion rests on: the parts that add up to the score, the effect, the works."""

    parts: tuple[Part, ...]
    effect: Effect
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wins:
    """The user's own results with this tactic; `rate` is shrunken towards one half."""

    used: int
    wins: int
    n: int
    rate: float


@dataclass(frozen=True, slots=True)
class OwnResult:
    """What the user's memory says about one tactic: counts, and the memories they rest on."""

    stats: Stats
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One item of the answer; the members are the contract's (§3, suggestions)."""

    tactic: Ref
    score: float
    why: str
    when: str
    say: str
    risk: int
    counters: tuple[Ref, ...]
    evidence: Evidence
    memories: tuple[str, ...]
    wins: Wins | None


def suggest(
    situation: TacticSituation,
    *,
    shelf: Shelf,
    own: Iterable[Tactic] = (),
    results: Mapping[str, OwnResult] | None = None,
    limit: int = 5,
) -> list[Suggestion]:
    """At most `limit` tactics, best first, at most two of a family; same input, same answer.

    `own` are the user's tactics, `results` the user's record by tactic id. A deceptive tactic is
    never returned, nor one whose precondition is not known to hold, nor one with a reason against
    it that is known to hold.
    """
    whole = shelf.with_own(own)
    moves = tuple(move for move in heard(situation) if move.tactic_id in whole.by_id)
    pressing = sum(whole.by_id[move.tactic_id].ethics != "fine" for move in moves)
    facts = facts_of(situation, moves, pressure=pressing)
    record = results or {}
    made: list[Suggestion] = []
    for tactic in whole.tactics:
        answering = any(move.tactic_id in tactic.counter_to for move in moves)
        if _allowed(tactic, situation, facts=facts, answering=answering):
            item = _suggestion(
                tactic, situation, facts=facts, moves=moves, shelf=whole, own=record.get(tactic.id)
            )
            made += [item] if item else []
    made.sort(key=lambda item: (-item.score, item.tactic.id))
    return _varied(made, whole)[: max(limit, 0)]


def heard(situation: TacticSituation) -> tuple[Recognition, ...]:
    """The other side's moves, already recognised or in the utterance; the surest of each."""
    found = situation.recognised
    if situation.utterance is not None:
        found += recognise(situation.utterance)
    surest: dict[str, Recognition] = {}
    for move in sorted(found, key=lambda one: (-one.confidence, one.tactic_id)):
        surest.setdefault(move.tactic_id, move)
    return tuple(surest.values())


def own_rate(stats: Stats) -> float:
    """The mean of the beta posterior: (wins + 2) / (n + 4), so that few uses say little."""
    return (stats.wins + PRIOR_WINS) / (stats.n + PRIOR_WINS + PRIOR_LOSSES)


def _allowed(tactic: Tactic, situation: TacticSituation, *, facts: Facts, answering: bool) -> bool:
    """Whether nothing known speaks against it. A move just heard is answered in whatever phase it came."""
    return (
        tactic.ethics != "deceptive"
        and tactic.suits(situation.role)
        and (answering or situation.phase is None or situation.phase in tactic.phases)
        and all(holds(test, facts) is True for test in tactic.preconditions)
        and not any(
            clause.condition and holds(clause.condition, facts) for clause in tactic.avoid_when
        )
    )


def _suggestion(
    tactic: Tactic,
    situation: TacticSituation,
    *,
    facts: Facts,
    moves: Sequence[Recognition],
    shelf: Shelf,
    own: OwnResult | None,
) -> Suggestion | None:
    answers = [
        _answer(tactic, move, shelf) for move in moves if move.tactic_id in tactic.counter_to
    ][:1]
    fired = [c for c in tactic.use_when if c.condition and holds(c.condition, facts)]
    if not answers and not fired:
        return None
    reasons = [
        Part(f"{c.text} ({_phrase(c.condition.fact, facts)})", points)
        for c, points in zip(fired, REASONS, strict=False)
        if c.condition
    ]
    stats = own.stats if own else tactic.stats
    wins = Wins(stats.used, stats.wins, stats.n, round(own_rate(stats), 3)) if stats else None
    parts = (*answers, *reasons, *_standing(tactic, situation), *_own_part(wins))
    said = [part.text for part in (*answers, *reasons, *_own_part(wins))]
    return Suggestion(
        tactic=Ref(tactic.id, tactic.name),
        score=round(sum(part.points for part in parts), 3),
        why="; ".join(said) + ".",
        when=_when(tactic, situation, answering=bool(answers)),
        say=_say(tactic, situation),
        risk=tactic.risk,
        counters=tuple(Ref(answer, shelf.by_id[answer].name) for answer in tactic.countered_by),
        evidence=Evidence(
            parts, tactic.effect, tuple(f"{s.author}, {s.title}, {s.year}" for s in tactic.sources)
        ),
        memories=own.memories if own else (),
        wins=wins,
    )


def _answer(tactic: Tactic, move: Recognition, shelf: Shelf) -> Part:
    """What it earns as an answer: more for a sure recognition and an early place."""
    faced = shelf.by_id[move.tactic_id]
    place = faced.countered_by.index(tactic.id)
    points = COUNTER * move.confidence * LATER_ANSWER**place
    return Part(f"It answers “{faced.name}”, heard in “{move.quote}”", round(points, 3))


def _standing(tactic: Tactic, situation: TacticSituation) -> list[Part]:
    """What the tactic brings along by itself: fit to the phase, effect, evidence, risk, ethics."""
    effect = tactic.effect
    parts = [
        Part(
            f"{effect.size} effect on the power to {effect.on}"
            if effect.on != "relationship"
            else f"{effect.size} effect on the relationship",
            SIZE[effect.size],
        ),
        Part(f"backed by {effect.evidence}", GRADE[effect.evidence]),
    ]
    if situation.phase in tactic.phases:
        parts.append(Part(f"made for the {situation.phase} phase", PHASE))
    if tactic.risk:
        parts.append(Part(f"risk {tactic.risk} of 3", round(RISK * tactic.risk, 3)))
    if tactic.ethics == "caution":
        parts.append(Part("to be used with care", CAUTION))
    return parts


def _own_part(wins: Wins | None) -> list[Part]:
    if wins is None or not wins.n:
        return []
    text = f"You used it {wins.used} times and it helped in {wins.wins} of {wins.n} known outcomes"
    return [Part(text, round(OWN * (wins.rate - 0.5), 3))]


def _when(tactic: Tactic, situation: TacticSituation, *, answering: bool) -> str:
    """The moment, the first thing to do, and the caution that no fact has settled."""
    moment = (
        "Right after their move" if answering else f"In the {situation.phase or 'coming'} phase"
    )
    first = f": {tactic.steps[0][0].lower()}{tactic.steps[0][1:]}" if tactic.steps else ""
    open_doubt = next((c.text for c in tactic.avoid_when if c.condition is None), None)
    return f"{moment}{first}." + (f" Not if: {open_doubt}." if open_doubt else "")


def _phrase(fact: str, facts: Facts) -> str:
    return FACTS[fact].phrase(facts[fact])


def _say(tactic: Tactic, situation: TacticSituation) -> str:
    by_role = {line.role: line.text for line in reversed(tactic.lines)}
    role = situation.role or "party"
    ladder = (role, "party", _KIN.get(role, "party"))
    text = next((by_role[step] for step in ladder if step in by_role), "")
    return re.sub(
        r"\{(topic|my_offer|their_offer|criterion)\}",
        lambda m: _sayable(situation.sayable, m[1]),
        text,
    )


def _sayable(sayable: Sayable, name: str) -> str:
    value = getattr(sayable, name)
    return " ".join(clean(value).split())[:SAYABLE_LIMIT] if value else _UNSAID[name]


def _varied(ranked: Sequence[Suggestion], shelf: Shelf) -> list[Suggestion]:
    """The ranking with no more than `PER_FAMILY` of one family."""
    counts: dict[str, int] = {}
    first: list[Suggestion] = []
    for item in ranked:
        family = shelf.by_id[item.tactic.id].family
        counts[family] = counts.get(family, 0) + 1
        if counts[family] <= PER_FAMILY:
            first.append(item)
    return first
