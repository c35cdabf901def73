"""What stands on the screen: few cards, the right moment, and taken back when wrong.

A state machine without a clock: `step` takes what stands, what was heard and its matches, and gives what stands then
and what to tell the viewers. Log many, show few: a card that is not worth a glance costs a sentence of listening.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from negotiator.teleprompter.cues.cue import Catalogue, Cue, Speaker
from negotiator.teleprompter.cues.matcher import Match, Source

Stage = Literal["early", "final"]
News = Literal["shown", "updated", "retracted", "maybe"]

_OPEN_UTTERANCES: Final = 8


@dataclass(frozen=True, slots=True)
class Patience:
    """The settings: confidences (0..1), seconds and counts.

    `shown` was chosen by cross-validating the phrasings; docs/benchmarks.md has the curve.
    """

    early: float = 0.40
    early_rule: float = 0.5
    in_a_row: int = 2
    shown: float = 0.20
    maybe: float = 0.10
    maybes: int = 3
    family_pause: float = 20.0
    on_screen: int = 2
    stays: float = 20.0


@dataclass(frozen=True, slots=True)
class Heard:
    """One partial or final of an utterance; `at` is in seconds and never runs back."""

    utterance_id: str
    speaker: Speaker
    text: str
    final: bool
    at: float


@dataclass(frozen=True, slots=True)
class Card:
    """A card on the screen or on its way: what to say, why, and in which words it was heard."""

    id: str
    family: str
    cue_id: str
    kind: str
    title: str
    say: str
    why: str
    tactic_id: str
    utterance_id: str
    quote: str
    confidence: float
    source: Source
    stage: Stage
    at: float
    count: int = 1
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """What changed: a card is shown, updated or retracted; `maybe` lists the quiet ones, best first."""

    news: News
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Screen:
    """What stands, when each family last spoke, and what the head keeps saying about growing utterances."""

    cards: tuple[Card, ...] = ()
    families: dict[str, Card] = field(default_factory=dict[str, Card])
    rising: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])


def step(
    screen: Screen,
    heard: Heard,
    matches: Sequence[Match],
    *,
    catalogue: Catalogue,
    patience: Patience | None = None,
    outside: Sequence[Card] = (),
) -> tuple[Screen, tuple[Event, ...]]:
    """The next screen and what to tell; `matches` are surest first.

    `outside` are cards made elsewhere, of the plan or of memory: of a final they come before every match, and a plan's
    card leaves the matches of its utterance to the quiet list.
    """
    rules = patience or Patience()
    screen = _aged(screen, heard.at, rules)
    cards = [card_of(match, catalogue.cues[match.cue_id], heard) for match in matches]
    cards = [card for card in cards if catalogue.cues[card.cue_id].speaker == heard.speaker]
    return (
        _final(screen, heard, [*outside, *cards], rules=rules)
        if heard.final
        else _partial(screen, heard, cards, rules=rules)
    )


def _aged(screen: Screen, at: float, rules: Patience) -> Screen:
    return replace(
        screen,
        cards=tuple(card for card in screen.cards if at - card.at < rules.stays),
        families={
            name: card
            for name, card in screen.families.items()
            if at - card.at < rules.family_pause
        },
    )


def card_of(match: Match, cue: Cue, heard: Heard) -> Card:
    """The card of a match of something heard."""
    return Card(
        id=f"{heard.utterance_id}:{cue.id}",
        family=cue.family,
        cue_id=cue.id,
        kind=cue.kind,
        title=cue.title,
        say=cue.say,
        why=cue.why,
        tactic_id=cue.tactic_id,
        utterance_id=heard.utterance_id,
        quote=match.quote,
        confidence=match.confidence,
        source=match.source,
        stage="final" if heard.final else "early",
        at=heard.at,
    )


def _partial(
    screen: Screen, heard: Heard, cards: Sequence[Card], *, rules: Patience
) -> tuple[Screen, tuple[Event, ...]]:
    """Rules speak at once; the head only when it names the same cue surely, several times running."""
    ready = [
        card for card in cards if card.source == "rule" and card.confidence >= rules.early_rule
    ]
    best = next((card for card in cards if card.source == "model"), None)
    rising = dict(list(screen.rising.items())[-_OPEN_UTTERANCES:])
    before, times = rising.pop(heard.utterance_id, ("", 0))
    if best is not None and best.confidence >= rules.early:
        times = times + 1 if before == best.cue_id else 1
        rising[heard.utterance_id] = (best.cue_id, times)
        if times >= rules.in_a_row:
            ready.append(best)
    shown = {card.cue_id for card in screen.cards if card.utterance_id == heard.utterance_id}
    if shown or not ready:  # one early card for an utterance, and it waits for the final
        return replace(screen, rising=rising), ()
    return _place(replace(screen, rising=rising), ready[0], rules)


def _final(
    screen: Screen, heard: Heard, cards: Sequence[Card], *, rules: Patience
) -> tuple[Screen, tuple[Event, ...]]:
    """The surest card is placed, an early one it contradicts goes, the unsure ones are listed quietly."""
    rising = {name: at for name, at in screen.rising.items() if name != heard.utterance_id}
    screen = replace(screen, rising=rising)
    sure = [card for card in cards if card.source == "plan" or card.confidence >= rules.shown]
    chosen = sure[0] if sure else None
    events: list[Event] = []
    for early in screen.cards:
        if early.utterance_id == heard.utterance_id and early.stage == "early":
            kept = next((card for card in sure if card.cue_id == early.cue_id), None)
            if kept is not None and (chosen is None or chosen.source != "plan"):
                chosen = kept
            else:
                screen = _without(screen, early)
                events.append(Event("retracted", (early,)))
    if chosen is not None:
        screen, told = _place(screen, chosen, rules)
        events += told
    quiet = [
        card
        for card in cards
        if card.confidence >= rules.maybe and (chosen is None or card.cue_id != chosen.cue_id)
    ]
    if quiet:
        events.append(Event("maybe", tuple(quiet[: rules.maybes])))
    return screen, tuple(events)


def _without(screen: Screen, gone: Card) -> Screen:
    families = {name: card for name, card in screen.families.items() if card.id != gone.id}
    return replace(
        screen, cards=tuple(one for one in screen.cards if one.id != gone.id), families=families
    )


def _place(screen: Screen, card: Card, rules: Patience) -> tuple[Screen, tuple[Event, ...]]:
    """Show it, or count it again, or keep quiet since its family has just spoken."""
    known = (*screen.cards, *screen.families.values())
    standing = next((one for one in known if one.cue_id == card.cue_id), None)
    if standing is not None and card.source != "plan":
        again = _again(standing, card)
        cards = tuple(again if one.id == standing.id else one for one in screen.cards)
        families = {**screen.families, card.family: again}
        return replace(screen, cards=cards, families=families), (Event("updated", (again,)),)
    if card.family in screen.families and card.source != "plan":
        return screen, ()
    rest = list(screen.cards)
    events: list[Event] = []
    while len(rest) >= rules.on_screen:
        oldest = min(rest, key=lambda one: (one.source == "plan", one.at))
        if oldest.source == "plan" and card.source != "plan":
            return screen, ()
        rest.remove(oldest)
    events.append(Event("shown", (card,)))
    families = {**screen.families, card.family: card}
    return replace(screen, cards=(*rest, card), families=families), tuple(events)


def _again(standing: Card, card: Card) -> Card:
    """The same cue once more: counted only when another utterance says it."""
    more = 0 if standing.utterance_id == card.utterance_id else 1
    return replace(
        standing,
        stage=card.stage if more == 0 else standing.stage,
        confidence=max(standing.confidence, card.confidence),
        count=standing.count + more,
        at=card.at,
    )
