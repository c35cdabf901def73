"""What stands on the screen: few cards, the right moment, and taken back when wrong.

A state machine without a clock: `advance_screen` takes what stands, what was heard and its matches, and gives what
stands then and what to tell the viewers. A card that is not worth a glance costs a sentence of listening, so at most
two are shown in a minute, unless a limit is passed.

The screen between two utterances: as JSON, so that any worker can take it up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from negotiator.advice.tactics.tactic import NegotiationRole
from negotiator.teleprompter.cues.catalogue import Cue, Speaker, cue_catalogue
from negotiator.teleprompter.cues.matcher import CueMatch, MatchSource

CardStage = Literal["early", "final"]
CardNews = Literal["shown", "updated", "retracted", "maybe"]

ACCEPTANCE: Final = "acceptance"
ANSWERS: Final = frozenset(["refusal", "doubt", ACCEPTANCE])
"""The families of the answers to a request or an offer."""
_AGAINST_ACCEPTANCE: Final = frozenset(
    ["price", "budget", "anchoring", "probing", "split", "ultimatum", "refusal", "doubt", "value"]
)
BARE_WORDS: Final = 3
"""Up to how many words an answer means nothing unless something was asked."""
_OPEN_UTTERANCES: Final = 8
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """The settings: confidences (0..1), seconds and counts.

    `shown` holds for what a pattern found, `guessed` for what the classifier alone found; docs/benchmarks.md has the
    curve. A bare answer to a request is at least as sure as `asked`; when nothing was asked, it is less sure by `bare`
    and another answer by `unasked`. The `second` card of a minute has to be surer, unless it is an answer.
    """

    early: float = 0.40
    early_rule: float = 0.5
    in_a_row: int = 2
    shown: float = 0.15
    guessed: float = 0.18
    maybe: float = 0.08
    maybes: int = 3
    family_pause: float = 20.0
    on_screen: int = 2
    stays: float = 20.0
    per_minute: int = 2
    answer_within: float = 30.0
    asked: float = 0.35
    unasked: float = 0.15
    bare: float = 0.40
    second: float = 0.25


POLICY: Final = PolicySettings()


@dataclass(frozen=True, slots=True)
class HeardUtterance:
    """A partial or final utterance; `at` is in seconds and never decreases.

    `asks` when the user makes an offer or a request in it.
    """

    utterance_id: str
    speaker: Speaker
    text: str
    final: bool
    at: float
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A card: what to say, why, and the words that raised it; `urgent` when a limit is passed, or no longer is."""

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
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class CardChange:
    """A change of the screen: cards shown, updated or retracted, or the unshown `maybe` cards, best first."""

    news: CardNews
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Screen:
    """The cards shown, the last card of each family, and repeated classifier results for partial utterances.

    `shown_at` are the moments of the cards of the last minute, `asked_at` that of the user's last request or offer if
    they have said nothing else since.
    """

    cards: tuple[Card, ...] = ()
    families: dict[str, Card] = field(default_factory=dict[str, Card])
    rising: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    shown_at: tuple[float, ...] = ()
    asked_at: float | None = None


def advance_screen(
    screen: Screen,
    heard: HeardUtterance,
    matches: Sequence[CueMatch],
    *,
    rules: PolicySettings = POLICY,
    outside: Sequence[Card] = (),
    role: NegotiationRole | None = None,
) -> tuple[Screen, tuple[CardChange, ...]]:
    """The next screen and what to tell; `matches` are surest first, `role` is the user's.

    `outside` are cards made elsewhere, of the plan or of memory: of a final they come before every match, and a plan's
    card leaves the matches of its utterance to the quiet list.
    """
    screen = _aged(screen, heard.at, rules)
    if heard.final and heard.speaker == "me":
        screen = replace(screen, asked_at=heard.at if heard.asks else None)
    cards = [
        card_from_match(match, cue_catalogue().cues[match.cue_id], heard, role=role)
        for match in matches_in_context(matches, screen, heard, rules=rules)
    ]
    cards = [card for card in cards if cue_catalogue().cues[card.cue_id].speaker == heard.speaker]
    return (
        _final(screen, heard, [*outside, *cards], rules=rules)
        if heard.final
        else _partial(screen, heard, cards, rules=rules)
    )


def is_shown(found: CueMatch | Card, rules: PolicySettings = POLICY) -> bool:
    least = rules.guessed if found.source == "model" else rules.shown
    return found.source == "plan" or found.confidence >= least


def matches_in_context(
    matches: Sequence[CueMatch], screen: Screen, heard: HeardUtterance, *, rules: PolicySettings = POLICY
) -> list[CueMatch]:
    """The matches weighed by what the user said just before, surest first.

    A bare "no" or "yes" is an answer only to a request or an offer, and other answers are less sure without one. An
    acceptance leaves no objection to the price in its utterance, a surer refusal or doubt no acceptance.
    """
    asked = screen.asked_at is not None and heard.at - screen.asked_at <= rules.answer_within
    weighed: list[CueMatch] = []
    for match in matches:
        if asked and match.reply:
            sure = max(match.confidence, rules.asked)
            weighed.append(replace(match, confidence=sure))
        elif asked or not cue_catalogue().cues[match.cue_id].replies:
            weighed.append(match)
        elif not match.reply or len(heard.text.split()) > BARE_WORDS:
            less = rules.bare if match.reply else rules.unasked if match.source == "model" else 0.0
            if match.confidence > less:
                weighed.append(replace(match, confidence=round(match.confidence - less, 3)))
    weighed.sort(key=lambda match: -match.confidence)
    answer = next((match for match in weighed if match.cue_id in ANSWERS), None)
    if answer is None or not is_shown(answer, rules):
        return weighed
    silenced = _AGAINST_ACCEPTANCE if answer.cue_id == ACCEPTANCE else {ACCEPTANCE}
    return [match for match in weighed if cue_catalogue().cues[match.cue_id].family not in silenced]


def _aged(screen: Screen, at: float, rules: PolicySettings) -> Screen:
    return replace(
        screen,
        cards=tuple(card for card in screen.cards if at - card.at < rules.stays),
        families={name: card for name, card in screen.families.items() if at - card.at < rules.family_pause},
        shown_at=tuple(shown for shown in screen.shown_at if at - shown < _MINUTE),
    )


def card_from_match(match: CueMatch, cue: Cue, heard: HeardUtterance, *, role: NegotiationRole | None = None) -> Card:
    return Card(
        id=f"{heard.utterance_id}:{cue.id}",
        family=cue.family,
        cue_id=cue.id,
        kind=cue.kind,
        title=cue.title,
        say=cue.question(role),
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
    ready = [card for card in cards if card.source == "rule" and card.confidence >= rules.early_rule]
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
    sure = [card for card in cards if is_shown(card, rules)]
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
    told_of = {card.cue_id for event in events for card in event.cards}
    quiet = [card for card in cards if card.confidence >= rules.maybe and card.cue_id not in told_of]
    if quiet:
        events.append(CardChange("maybe", tuple(quiet[: rules.maybes])))
    return screen, tuple(events)


def _without(screen: Screen, gone: Card) -> Screen:
    families = {name: card for name, card in screen.families.items() if card.id != gone.id}
    return replace(
        screen,
        cards=tuple(one for one in screen.cards if one.id != gone.id),
        families=families,
        shown_at=tuple(at for at in screen.shown_at if at != gone.at),
    )


def _place(screen: Screen, card: Card, rules: PolicySettings) -> tuple[Screen, tuple[CardChange, ...]]:
    """Show a card, count a repeated one, or drop it while its family is paused or the minute has its cards.

    A plan's card takes the place of an earlier one about the same issue, whose figure stands no longer.
    """
    known = (*screen.cards, *screen.families.values())
    standing = next((one for one in known if one.cue_id == card.cue_id), None)
    if standing is not None and card.source != "plan":
        again = _again(standing, card)
        cards = tuple(again if one.id == standing.id else one for one in screen.cards)
        families = {**screen.families, card.family: again}
        return replace(screen, cards=cards, families=families), (CardChange("updated", (again,)),)
    if card.family in screen.families and card.source != "plan":
        return screen, ()
    if not card.urgent and not _has_room(screen, card, rules):
        return screen, ()
    old = [one for one in screen.cards if (one.source, one.family) == ("plan", card.family)]
    rest = [one for one in screen.cards if one not in old]
    events = [CardChange("retracted", (one,)) for one in old]
    while len(rest) >= rules.on_screen:
        oldest = min(rest, key=lambda one: (one.source == "plan", one.at))
        if oldest.source == "plan" and card.source != "plan":
            return screen, ()
        rest.remove(oldest)
    events.append(CardChange("shown", (card,)))
    families = {**screen.families, card.family: card}
    shown_at = (*screen.shown_at, card.at)
    after = replace(screen, cards=(*rest, card), families=families, shown_at=shown_at)
    return after, tuple(events)


def _has_room(screen: Screen, card: Card, rules: PolicySettings) -> bool:
    is_sure = card.family in ANSWERS or card.confidence >= rules.second
    return not screen.shown_at or (is_sure and len(screen.shown_at) < rules.per_minute)


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


_SCREEN: Final = TypeAdapter(Screen)


def dump_screen(screen: Screen) -> dict[str, Any]:
    """The screen as a JSON value; `restore_screen` reads it."""
    return asdict(screen)


def restore_screen(kept: Mapping[str, Any]) -> Screen:
    """The screen of `dump_screen`, with whatever else is kept beside it; an empty mapping is an empty screen."""
    return _SCREEN.validate_python(kept)
