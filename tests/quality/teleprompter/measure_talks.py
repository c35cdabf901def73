"""Measures the cards on whole talks: `python -m tests.quality.teleprompter.measure_talks FOLDER [OUT]`.

FOLDER has talks as JSON: `me_role`, `currency`, `issue` with the plausible span of its value, and `turns` with `who`,
`text`, `moves` (what a reader says the turn does) and `card_helps` (whether a card would help the user at this turn).
Each turn is a final of its speaker, six seconds after the one before, through the functions that hear an utterance in
the product. A talk is bound to a negotiation whose target and walk-away are the ends of the span. With OUT, each talk
is written there as plain text with the cards that are shown, for a reader who judges whether they help.

Ordinary sentences are turns of the other side that only carry the move `ordinary` and for which no card would help.
"""

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, cast

import orjson

from negotiator.advice.tactics.tactic import ROLES, NegotiationRole
from negotiator.memory.embedding.embedder import Embedder, HashingEmbedder
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from negotiator.memory.search import MemorySearch
from negotiator.negotiations.session import NegotiationSession
from negotiator.negotiations.tactic_recogniser import TacticRecogniser
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.teleprompter.classifier_training import UserClassifier
from negotiator.teleprompter.cues.catalogue import Speaker, cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.cues.policy import Card, HeardUtterance, is_shown, restore_screen
from negotiator.teleprompter.figures import read_figures, remember_figures, remembered_figures
from negotiator.teleprompter.session_transitions import AnalysedUtterance, advance_stored_screen
from negotiator.teleprompter.user_classifiers import UserClassifiers
from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser, cards_beyond_phrases
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms
from tests.quality.teleprompter.measure_cues import taught

TURN_SECONDS: Final = 6.0
ROLE_OF: Final[Mapping[str, NegotiationRole]] = {
    "freelancer": "seller", "supplier": "seller", "client": "buyer", "customer": "buyer"
}  # fmt: skip
CUES_OF_MOVE: Final = {
    "refusal": frozenset(["refusal"]),
    "doubt": frozenset(["doubt", "trust"]),
    "acceptance": frozenset(["acceptance"]),
}
_HIGHER_IS_BETTER: Final = frozenset(["seller", "candidate", "landlord", "asker"])


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a talk, the cards it showed, and the cues that it is sure enough to mean, shown or not."""

    talk: str
    at: float
    speaker: Speaker
    text: str
    moves: frozenset[str]
    helps: bool | None
    shown: tuple[Card, ...]
    heard: frozenset[str]

    @property
    def is_ordinary(self) -> bool:
        """Whether it is ordinary talk of the other side."""
        return self.speaker == "them" and self.moves == frozenset(["ordinary"]) and not self.helps


@dataclass(frozen=True, slots=True)
class TalkFigures:
    """What "How it is shown" asks for: shares, F1 by move for cues that are recognised and for cards that are shown."""

    cards: int
    false: float
    precision: float
    per_minute: float
    recognised: Mapping[str, float]
    shown: Mapping[str, float]


class _ShippedHeads:
    """The shipped classifiers, as an analyser asks for them."""

    def __init__(self, embedder: Embedder) -> None:
        self.taught = {speaker: UserClassifier(head) for speaker, head in taught(embedder).items()}

    async def of(self, _owner: str, speaker: Speaker, **_about: Any) -> UserClassifier:
        return self.taught[speaker]


def shipped_analyser(embedder: Any) -> UtteranceAnalyser:
    """The product's analyser with the shipped classifiers and without memories."""
    heads = cast("UserClassifiers", _ShippedHeads(embedder))
    tactics = TacticRecogniser(HashingEmbedder("tactics are not measured here"), Path())
    return UtteranceAnalyser(
        BuiltOnce(lambda: build_matcher(cue_catalogue())), heads, embedder, cast("MemorySearch", None), tactics
    )


def negotiation_of(talk: Mapping[str, Any]) -> NegotiationSession:
    """The negotiation of a talk: one issue, whose ends are the target and the walk-away."""
    issue, role = talk["issue"], role_of(talk)
    worst, best = ends_of_span(talk)
    name = str(issue["name"]).replace(" ", "_")
    body = NegotiationBody.model_validate(
        {
            "title": talk["item"][:100],
            "role": role or "party",
            "currency": talk["currency"],
            "issues": [
                {
                    "name": name,
                    "type": "money",
                    "direction": "higher" if Decimal(best) > Decimal(worst) else "lower",
                    "range": {"min": str(issue["min"]), "max": str(issue["max"])},
                }
            ],
            "target": {"package": {name: best}},
            "walk_away": {"package": {name: worst}},
        }
    )
    return NegotiationSession("neg_1", "usr_1", b"{}", parse_terms(body, lenient=True), 0)


def ends_of_span(talk: Mapping[str, Any]) -> tuple[str, str]:
    """The worst and the best end of the span for the user."""
    ends = str(talk["issue"]["min"]), str(talk["issue"]["max"])
    more = {talk["me_role"], role_of(talk)} & _HIGHER_IS_BETTER
    return ends if more else (ends[1], ends[0])


def role_of(talk: Mapping[str, Any]) -> NegotiationRole | None:
    """The product's role for the user's; None where it has none."""
    named = talk["me_role"]
    return named if named in ROLES else ROLE_OF.get(named)


async def walk(talk: Mapping[str, Any], analyser: UtteranceAnalyser, *, name: str = "") -> list[Turn]:
    role, session = role_of(talk), negotiation_of(talk)
    screen: dict[str, Any] = {}
    remembered: list[Any] = []
    turns: list[Turn] = []
    for number, turn in enumerate(talk["turns"]):
        speaker, at = turn["who"], number * TURN_SECONDS
        ahead = await analyser.listen(
            "usr_1", turn["text"], speaker, final=True, role=role, session=session, remembers=False
        )
        heard = HeardUtterance(f"u{number}", speaker, ahead.text, final=True, at=at, asks=ahead.asks)
        earlier = remembered_figures(remembered)
        ahead = replace(ahead, earlier=earlier)
        read = read_figures(ahead.figures, session.terms, speaker, earlier)
        remembered = remember_figures(remembered, read)
        cards = cards_beyond_phrases(ahead, read, heard, screen=restore_screen(screen), role=role)
        piece = AnalysedUtterance(heard, ahead.matches, cards)
        screen, news = advance_stored_screen(screen, piece, role=role)
        told = [(each.news, card) for each in news for card in each.cards]
        shown = tuple(card for what, card in told if what == "shown")
        sure = {card.cue_id for what, card in told if what != "retracted" and is_shown(card)}
        moves, helps = frozenset(turn["moves"]), turn["card_helps"]
        turns.append(Turn(name, at, speaker, turn["text"], moves, helps, shown, frozenset(sure)))
    return turns


def walk_all(folder: Path, embedder: Any) -> list[list[Turn]]:
    analyser = shipped_analyser(embedder)

    async def run() -> list[list[Turn]]:
        return [
            await walk(orjson.loads(file.read_bytes()), analyser, name=file.stem)
            for file in sorted(folder.glob("*.json"))
        ]

    return asyncio.run(run())


def talk_figures(talks: Sequence[Sequence[Turn]]) -> TalkFigures:
    turns = [turn for talk in talks for turn in talk]
    theirs = [turn for turn in turns if turn.speaker == "them"]
    ordinary = [turn for turn in turns if turn.is_ordinary]
    answered = [turn for turn in theirs if turn.shown]
    cards = sum(len(turn.shown) for turn in turns)
    minutes = sum(len(talk) * TURN_SECONDS for talk in talks) / 60
    recognised = {move: _f1(theirs, move, [turn.heard for turn in theirs]) for move in CUES_OF_MOVE}
    shown = {
        move: _f1(theirs, move, [frozenset(c.cue_id for c in turn.shown) for turn in theirs]) for move in CUES_OF_MOVE
    }
    return TalkFigures(
        cards,
        false=sum(bool(turn.shown) for turn in ordinary) / max(len(ordinary), 1),
        precision=sum(bool(turn.helps) for turn in answered) / max(len(answered), 1),
        per_minute=cards / max(minutes, 1e-9),
        recognised=recognised,
        shown=shown,
    )


def _f1(turns: Sequence[Turn], move: str, cues: Sequence[frozenset[str]]) -> float:
    meant = [move in turn.moves for turn in turns]
    found = [bool(each & CUES_OF_MOVE[move]) for each in cues]
    both = sum(one and other for one, other in zip(meant, found, strict=True))
    return 2 * both / max(sum(meant) + sum(found), 1)


def about_talk(talk: Mapping[str, Any]) -> str:
    """Who the user is, what it is about, and the limits that the cards know."""
    issue, worst, best = talk["issue"], *ends_of_span(talk)
    return (
        f"# ME is the {talk['me_role']}: {talk['item']}. {issue['name']} {issue['unit_of']} in "
        f"{talk['currency']}: target {best}, walk-away {worst}"
    )


def as_text(talk: Sequence[Turn], about: str = "") -> str:
    """A talk with the cards that are shown, as plain text; `about` is its first line."""
    lines = [about] if about else []
    for turn in talk:
        lines.append(f"{'ME  ' if turn.speaker == 'me' else 'THEM'}: {turn.text}")
        lines += [f"      [card] {card.title} | say: {card.say} | why: {card.why}" for card in turn.shown]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the figures and, below them, each card that was shown."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as models:
        embedder = choose_embedder("", key="", model="", models=Path(models))
        talks = walk_all(folder, embedder)
        asyncio.run(embedder.close())
    out = sys.stdout.write
    for talk in talks:
        for turn in talk:
            for card in turn.shown:
                mark = {True: "+", False: "-", None: " "}[turn.helps]
                moves = ",".join(sorted(turn.moves))
                out(f"{mark} {turn.talk} {card.cue_id} {card.confidence:.2f} {card.source} | ")
                out(f"{moves} | {turn.text[:100]}\n")
    got = talk_figures(talks)
    out(f"\ncards shown {got.cards}, {got.per_minute:.2f} a minute\n")
    out(f"ordinary sentences with a card {got.false:.1%}\n")
    out(f"cards at a turn where one helps {got.precision:.1%}\n")
    for move in CUES_OF_MOVE:
        out(f"F1 {move}: recognised {got.recognised[move]:.2f}, shown {got.shown[move]:.2f}\n")
    if len(sys.argv) > 2:
        target = Path(sys.argv[2])
        target.mkdir(parents=True, exist_ok=True)
        for talk in talks:
            name = talk[0].talk
            told = orjson.loads((folder / f"{name}.json").read_bytes())
            (target / f"{name}.txt").write_text(as_text(talk, about_talk(told)))


if __name__ == "__main__":
    main()
