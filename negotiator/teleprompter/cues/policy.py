"""What stands on the screen: few cards, the right moment, and taken back when wrong.

A state machine without a clock: `step` takes what stands, what was heard and its matches, and gives what stands then
and what to tell the viewers. Log many, show few: a card that is not worth a glance costs a sentence of listening.

The screen between two utterances: as JSON, so that any worker can take it up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from negotiator.teleprompter.cues.catalogue import Cue, CueCatalogue, Speaker
from negotiator.teleprompter.cues.matcher import CueMatch, MatchSource

CardStage = Literal["early", "final"]
CardNews = Literal["shown", "updated", "retracted", "maybe"]

_OPEN_UTTERANCES: Final = 8


@dataclass(frozen=True, slots=True)
class PolicySettings:
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
class HeardUtterance:
    """A partial or final utterance; `at` is in seconds and never decreases."""

    utterance_id: str
    speaker: Speaker
    text: str
    final: bool
    at: float


@dataclass(frozen=True, slots=True)
class Card:
    """A card: what to say, why, and the words that raised it."""

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
    source: MatchSource
    stage: CardStage
    at: float
    count: int = 1
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CardChange:
    """A change of the screen: cards shown, updated or retracted, or the unshown `maybe` cards, best first."""

    news: CardNews
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Screen:
    """The cards shown, the last card of each family, and repeated classifier results for partial utterances."""

    cards: tuple[Card, ...] = ()
    families: dict[str, Card] = field(default_factory=dict[str, Card])
    rising: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])


def advance_screen(
    screen: Screen,
    heard: HeardUtterance,
    matches: Sequence[CueMatch],
    *,
    catalogue: CueCatalogue,
    patience: PolicySettings | None = None,
    outside: Sequence[Card] = (),
) -> tuple[Screen, tuple[CardChange, ...]]:
    """The next screen and what to tell; `matches` are surest first.

    `outside` are cards made elsewhere, of the plan or of memory: of a final they come before every match, and a plan's
    card leaves the matches of its utterance to the quiet list.
    """
    rules = patience or PolicySettings()
    screen = _aged(screen, heard.at, rules)
    cards = [card_from_match(match, catalogue.cues[match.cue_id], heard) for match in matches]
    cards = [card for card in cards if catalogue.cues[card.cue_id].speaker == heard.speaker]
    return (
        _final(screen, heard, [*outside, *cards], rules=rules)
        if heard.final
        else _partial(screen, heard, cards, rules=rules)
    )


def _aged(screen: Screen, at: float, rules: PolicySettings) -> Screen:
    return replace(
        screen,
        cards=tuple(card for card in screen.cards if at - card.at < rules.stays),
        families={
            name: card
            for name, card in screen.families.items()
            if at - card.at < rules.family_pause
        },
    )


def card_from_match(match: CueMatch, cue: Cue, heard: HeardUtterance) -> Card:
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
    screen: Screen, heard: HeardUtterance, cards: Sequence[Card], *, rules: PolicySettings
) -> tuple[Screen, tuple[CardChange, ...]]:
    """A phrase shows a card at once; the classifier only after naming the same cue several times in a row."""
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
    screen: Screen, heard: HeardUtterance, cards: Sequence[Card], *, rules: PolicySettings
) -> tuple[Screen, tuple[CardChange, ...]]:
    """Show the surest card, retract an early card that it contradicts, and list the unsure ones as `maybe`."""
    rising = {name: at for name, at in screen.rising.items() if name != heard.utterance_id}
    screen = replace(screen, rising=rising)
    sure = [card for card in cards if card.source == "plan" or card.confidence >= rules.shown]
    chosen = sure[0] if sure else None
    events: list[CardChange] = []
    for early in screen.cards:
        if early.utterance_id == heard.utterance_id and early.stage == "early":
            kept = next((card for card in sure if card.cue_id == early.cue_id), None)
            if kept is not None and (chosen is None or chosen.source != "plan"):
                chosen = kept
            else:
                screen = _without(screen, early)
                events.append(CardChange("retracted", (early,)))
    if chosen is not None:
        screen, told = _place(screen, chosen, rules)
        events += told
    quiet = [
        card
        for card in cards
        if card.confidence >= rules.maybe and (chosen is None or card.cue_id != chosen.cue_id)
    ]
    if quiet:
        events.append(CardChange("maybe", tuple(quiet[: rules.maybes])))
    return screen, tuple(events)


def _without(screen: Screen, gone: Card) -> Screen:
    families = {name: card for name, card in screen.families.items() if card.id != gone.id}
    return replace(
        screen, cards=tuple(one for one in screen.cards if one.id != gone.id), families=families
    )


def _place(
    screen: Screen, card: Card, rules: PolicySettings
) -> tuple[Screen, tuple[CardChange, ...]]:
    """Show a card, count a repeated one, or drop it while its family is paused."""
    known = (*screen.cards, *screen.families.values())
    standing = next((one for one in known if one.cue_id == card.cue_id), None)
    if standing is not None and card.source != "plan":
        again = _again(standing, card)
        cards = tuple(again if one.id == standing.id else one for one in screen.cards)
        families = {**screen.families, card.family: again}
        return replace(screen, cards=cards, families=families), (CardChange("updated", (again,)),)
    if card.family in screen.families and card.source != "plan":
        return screen, ()
    rest = list(screen.cards)
    events: list[CardChange] = []
    while len(rest) >= rules.on_screen:
        oldest = min(rest, key=lambda one: (one.source == "plan", one.at))
        if oldest.source == "plan" and card.source != "plan":
            return screen, ()
        rest.remove(oldest)
    events.append(CardChange("shown", (card,)))
    families = {**screen.families, card.family: card}
    return replace(screen, cards=(*rest, card), families=families), tuple(events)


def _again(standing: Card, card: Card) -> Card:
    """A repeated cue; counted only when it comes from another utterance."""
    more = 0 if standing.utterance_id == card.utterance_id else 1
    return replace(
        standing,
        stage=card.stage if more == 0 else standing.stage,
        confidence=max(standing.confidence, card.confidence),
        count=standing.count + more,
        at=card.at,
    )


def dump_screen(screen: Screen) -> dict[str, Any]:
    """The screen as a JSON value; `restore_screen` reads it."""
    return asdict(screen)


def restore_screen(kept: Mapping[str, Any]) -> Screen:
    """The screen of `dump_screen`; an empty mapping is an empty screen."""
    return Screen(
        cards=tuple(_card(card) for card in kept.get("cards", ())),
        families={name: _card(card) for name, card in kept.get("families", {}).items()},
        rising={name: (cue, times) for name, (cue, times) in kept.get("rising", {}).items()},
    )


def _card(kept: dict[str, Any]) -> Card:
    listed: dict[str, Any] = {**kept, "memory_ids": tuple(kept["memory_ids"])}
    return Card(**listed)
