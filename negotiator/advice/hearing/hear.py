"""Reads a message of the other side: what its figures are, the packages that it offers, and what its sentences do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from negotiator.advice.hearing.features import figure_features, neighbour_features, sentence_features, sentence_of
from negotiator.advice.hearing.figures import (
    IssueFit,
    Message,
    MessageFigure,
    Told,
    as_value,
    issue_fits,
    known_values,
    read_message,
)
from negotiator.advice.hearing.named_terms import named_values
from negotiator.terms.issues import Issue, Scalar, check_value, coordinate
from negotiator.terms.plain_text import COUNT_NOUNS, singular

if TYPE_CHECKING:
    from negotiator.advice.hearing.model import SparseModel

FigureKind = Literal["offer", "cut", "mine", "theirs", "rival", "market", "past", "limit", "gap", "wish", "count"]
"""What a figure of theirs is: offered now, an amount off or on their earlier one (`cut`), mine or theirs from before,
a rival's, a market price, a cost or price of the past, a limit that is told, a difference, unreal, or a count of
anything else."""
FIGURE_KINDS: Final[tuple[FigureKind, ...]] = get_args(FigureKind)
SURE: Final = 0.9
"""From this chance on a figure is taken as offered; of others, one in a hundred is then taken wrongly."""
LIKELY: Final = 0.5
"""From this chance on, and below `SURE`, the user is asked."""
ABOUT: Final = 0.3
"""The least chance that a figure is a value of an issue."""
FURTHEST: Final = 4
"""A figure that is so many times smaller or larger than every price named is none."""


@dataclass(frozen=True, slots=True)
class HeardFigure:
    """A figure of the message: its words, what it is, and where it is a value of an issue, that value. `at` is the
    place of its first character."""

    quote: str
    kind: FigureKind
    chance: float
    issue: str | None
    value: Scalar | None
    sentence: tuple[int, int]
    first: int
    at: int = 0


@dataclass(frozen=True, slots=True)
class HeardOffer:
    """A package that they offer: what it names, the least chance of one of its values, its sentence and conditions."""

    package: dict[str, Scalar]
    chance: float
    quote: str
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeardAct:
    """What a sentence does, such as `ask` `of` a reason, with its words and the chance."""

    name: str
    of: str
    quote: str
    chance: float


@dataclass(frozen=True, slots=True)
class Heard:
    """All that a message says. `offers` holds the packages in their order; two of them are a choice for the user."""

    figures: tuple[HeardFigure, ...] = ()
    offers: tuple[HeardOffer, ...] = ()
    acts: tuple[HeardAct, ...] = ()

    def act(self, name: str, of: str = "") -> HeardAct | None:
        """The likeliest act of this name, and of this kind where one is given."""
        found = [one for one in self.acts if one.name == name and (not of or one.of == of)]
        return max(found, key=lambda one: one.chance, default=None)


NOTHING_HEARD: Final = Heard()


def load_models() -> "Mapping[str, SparseModel]":
    """The models, read when something is heard for the first time: a start does not wait for their arithmetic."""
    from negotiator.advice.hearing import model

    return model.load_models()


def hear(text: str, told: Told) -> Heard:
    """What a message says; `told` are the issues and the offers before it."""
    message = read_message(text, told)
    figures = _figures(message)
    scores = [_act_chances(message, one, figures) for one in message.sentences]
    acts = [
        act for span, chances in zip(message.sentences, scores, strict=True) for act in _acts(message, span, chances)
    ]
    likely = [
        span for span, chances in zip(message.sentences, scores, strict=True) if chances["offer"] >= ACT_BOUNDS["offer"]
    ]
    return Heard(tuple(figures), tuple(_offers(message, figures, acts, likely)), tuple(acts))


# Figures


def figure_fits(message: Message, figure: MessageFigure) -> tuple[IssueFit | None, float]:
    """The issue that a figure is most likely a value of, and that chance."""
    model = load_models()["issue"]
    fits = [(model.chances(fit.features)["about"], -n, fit) for n, fit in enumerate(issue_fits(message, figure))]
    if not fits:
        return None, 0.0
    chance, _, fit = max(fits, key=lambda one: one[:2])
    return fit, chance


def _figures(message: Message) -> list[HeardFigure]:
    models = load_models()
    fits = [figure_fits(message, one) for one in message.figures]
    given = [set(figure_features(message, one, *fit)) for one, fit in zip(message.figures, fits, strict=True)]
    first = [models["kind"].shares(features) for features in given]
    found: list[HeardFigure] = []
    for at, (figure, (fit, about)) in enumerate(zip(message.figures, fits, strict=True)):
        beside = neighbour_features(message, at, [one for one, _ in fits], first)
        shares = models["kind again"].shares({*given[at], *beside})
        offered = shares["offer"] + shares["cut"]
        kind = max(FIGURE_KINDS, key=shares.__getitem__)
        if offered >= LIKELY and kind not in ("offer", "cut"):
            kind = "offer"
        fit = fit if about >= ABOUT else None
        value = None if fit is None else _value_of(message.told, fit, figure, kind)
        found.append(
            HeardFigure(
                message.text[figure.start : figure.end],
                kind,
                offered if kind in ("offer", "cut") else shares[kind],
                None if fit is None else fit.issue.name,
                value,
                sentence_of(message, figure),
                figure.first,
                figure.start,
            )
        )
    return [
        replace(one, value=None) if _is_too_short(message, figure, one, found) else one
        for figure, one in zip(message.figures, found, strict=True)
    ]


def _is_too_short(message: Message, figure: MessageFigure, one: HeardFigure, all_: Sequence[HeardFigure]) -> bool:
    """Whether a figure is no short form of a price, "three" for 3,000: it counts something, or another is in full."""
    if one.kind != "offer" or not _is_short_form(message, figure, one):
        return False
    beside = (
        (other, told)
        for other, told in zip(message.figures, all_, strict=True)
        if told.issue == one.issue and other is not figure
    )
    after = message.words[figure.last : figure.last + 1]
    is_counting = bool(figure.unit) or (bool(after) and singular(after[0]) in COUNT_NOUNS)
    return is_counting or any(_is_possible(message, told) and told.value in other.readings for other, told in beside)


def _is_short_form(message: Message, figure: MessageFigure, one: HeardFigure) -> bool:
    issue = next((issue for issue in message.told.issues if issue.name == one.issue), None)
    at = None if issue is None or one.value is None else coordinate(issue.type, one.value)
    return issue is not None and at is not None and issue.type == "money" and at not in figure.readings


def _value_of(told: Told, fit: IssueFit, figure: MessageFigure, kind: FigureKind) -> Scalar | None:
    """The value of the issue that a figure names; of an amount off or on, what that makes of their last offer, or of
    the user's where they made none."""
    value = fit.value
    if kind == "cut":
        theirs, mine = (known_values(fit.issue, packages) for packages in (told.theirs, told.mine))
        if not (theirs or mine) or not figure.readings:
            return None
        step = figure.readings[0] * (1 if (fit.issue.direction == "higher") is bool(theirs) else -1)
        value = [*mine, *theirs][-1] + step
    if value != value.to_integral_value() and fit.issue.type in ("integer", "duration_days"):
        return None
    return as_value(fit.issue, value)


# Packages


def _offers(
    message: Message, figures: Sequence[HeardFigure], acts: Sequence[HeardAct], likely: Sequence[tuple[int, int]]
) -> Iterator[HeardOffer]:
    """The offered packages: a new one begins where an issue is named again with another value."""
    package, chances, spans = dict[str, Scalar](), list[float](), list[tuple[int, int]]()
    for name, value, chance, span in _offered_values(message, figures, likely):
        if name in package and package[name] != value:
            yield _offer(message, package, chances, spans, acts)
            package, chances, spans = {}, [], []
        package = {**package, name: value}
        chances.append(chance)
        spans.append(span)
    if package:
        yield _offer(message, package, chances, spans, acts)


def _offered_values(
    message: Message, figures: Sequence[HeardFigure], likely: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, Scalar, float, tuple[int, int]]]:
    """Every issue, offered value, chance and sentence, in the order of the message.

    What a question without a price names after an offer is asked about, and no part of it: "Could you pay in 14 days?"
    """
    issues = {issue.name: issue for issue in message.told.issues}
    listed = [issue for issue in message.told.issues if issue.type in ("boolean", "enum")]
    is_priced = False
    for span in message.sentences:
        own = [one for one in figures if one.sentence == span]
        offered = [one for one in own if one.kind in ("offer", "cut") and _is_possible(message, one)]
        has_price = any(issues[one.issue].type == "money" for one in offered if one.issue is not None)
        if is_priced and not has_price and message.words[span[1] - 1] == "?":
            continue
        is_priced = is_priced or has_price
        for one in own:
            is_repeated = one.kind in ("mine", "theirs", "count") and one.issue is not None and one.value is not None
            if one in offered:
                chance = one.chance
            elif is_repeated and offered and all(other.issue != one.issue for other in offered):
                chance = LIKELY
            else:
                continue
            if (
                one.issue is not None
                and one.value is not None
                and not check_value(_free(issues[one.issue]), one.value, "")
            ):
                yield one.issue, one.value, chance, span
        if offered or span in likely:
            named = named_values(listed, message.quote(*span))
            for name, value in named.items():
                yield name, value, max([one.chance for one in offered], default=LIKELY), span


def _is_possible(message: Message, one: HeardFigure) -> bool:
    """Whether a figure is a value of an issue that is not far from all that both sides named on it."""
    issue = next((issue for issue in message.told.issues if issue.name == one.issue), None)
    at = None if issue is None or one.value is None else coordinate(issue.type, one.value)
    if issue is None or at is None:
        return False
    known = [value for side in (message.told.mine, message.told.theirs) for value in known_values(issue, side)]
    known += [issue.range.min, issue.range.max] if issue.range is not None else []
    return issue.type != "money" or not known or min(known) / FURTHEST <= at <= max(known) * FURTHEST


def _free(issue: Issue) -> Issue:
    """The issue without its range: the other side may name what the user would never."""
    return replace(issue, range=None)


def _offer(
    message: Message,
    package: dict[str, Scalar],
    chances: Sequence[float],
    spans: Sequence[tuple[int, int]],
    acts: Sequence[HeardAct],
) -> HeardOffer:
    quotes = list(dict.fromkeys(message.quote(*span) for span in spans))
    conditions = tuple(act.quote for act in acts if act.name == "if" and act.quote in quotes)
    return HeardOffer(package, min(chances), " ".join(quotes), conditions)


# Acts

ACT_BOUNDS: Final = {"offer": 0.3, "ask": 0.45, "no": 0.3, "yes": 0.3, "final": 0.3, "if": 0.35}
"""From which chance on a sentence is taken to do something; others from `ACT_BOUND` on."""
ACT_BOUND: Final = 0.25
KIND_BOUND: Final = 0.2
"""From which chance on a question, complaint or claim is taken to be of a kind."""
ECHO_WORDS: Final = 4
"""A question of so few words repeats what was said: "9,500?"."""


def _act_chances(message: Message, span: tuple[int, int], figures: Sequence[HeardFigure]) -> dict[str, float]:
    tags = {one.first: f"<{one.kind}>" for one in figures if one.kind != "count"}
    return load_models()["act"].chances(set(sentence_features(message, *span, tags)))


def _acts(message: Message, span: tuple[int, int], chances: dict[str, float]) -> Iterator[HeardAct]:
    is_question = message.words[span[1] - 1] == "?" and span[1] - span[0] > ECHO_WORDS and chances["offer"] < LIKELY
    for name, chance in chances.items():
        if " " in name or (chance < ACT_BOUNDS.get(name, ACT_BOUND) and not (name == "ask" and is_question)):
            continue
        kinds = {label.partition(" ")[2]: each for label, each in chances.items() if label.startswith(f"{name} ")}
        of = max(kinds, key=kinds.__getitem__) if kinds and max(kinds.values()) >= KIND_BOUND else ""
        yield HeardAct(name, of, message.quote(*span), chance)
