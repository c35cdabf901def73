"""Trains `negotiator/advice/hearing/model.npz` on the marked messages: `python -m tests.quality.messages.training`.

It is logistic regression with the steps of Adagrad (Duchi et al. 2011), the same numbers on every run. The second model
of a figure's kind sees what the first says of the figures beside it; so that it learns from the errors of the first,
that is trained without the writer whose messages it reads (stacking, Wolpert 1992).
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from negotiator.advice.hearing import model as hearing_model
from negotiator.advice.hearing.features import figure_features, neighbour_features, sentence_features
from negotiator.advice.hearing.figures import IssueFit, Message, Told, issue_fits, issue_group, read_message
from negotiator.advice.hearing.hear import FIGURE_KINDS
from negotiator.advice.hearing.model import SparseModel, feature_keys
from negotiator.terms.issues import Issue, IssueOption, IssueRange, IssueType, Package
from tests.quality.messages.marked import MarkedFigure, MarkedMessage, marked_messages
from tests.quality.messages.spoken import spoken_messages

FOLDS: Final = 4
FEWEST_ACTS: Final = 40
FEWEST_FINALS: Final = 5
"""Writers with fewer marked last words marked figures only."""
EPOCHS: Final = 8
RATE: Final = 0.5
FEWEST_FEATURES: Final = 2
LEAST_WEIGHT: Final = 0.7
"""A feature is left out of the file where none of its weights is larger."""
_SAME: Final = {"authority": "decider"}
_BUYERS: Final = ("buy", "tenant", "client", "customer", "procure", "purchas", "owner", "user", "debtor", "guest")
Shares = Mapping[str, float]


@dataclass(frozen=True)
class Example:
    """A marked message, taken apart, and its writer."""

    marked: MarkedMessage
    message: Message

    @cached_property
    def kinds(self) -> list[str]:
        """The marked kind of each figure; a number that bears no mark counts something."""
        return [(found.kind if (found := self._mark(one.start, one.end)) else "count") for one in self.message.figures]

    def _mark(self, start: int, end: int) -> MarkedFigure | None:
        marks = (one for one in self.marked.figures if one.start - 1 <= start < one.end or start <= one.start < end)
        return next(marks, None)


def examples(folder: Path = Path(__file__).parent) -> list[Example]:
    """Every marked message of a folder."""
    marked = [Example(one, read_message(one.text, told_of(one.case))) for one in marked_messages(folder)]
    return [*marked, *(Example(*one) for one in spoken_messages())]


def told_of(case: Mapping[str, Any]) -> Told:
    """What was known before a message of a marked case."""
    lower = any(part in case["role"].lower() for part in _BUYERS)
    issues = tuple(
        Issue(
            one["name"],
            cast("IssueType", one["type"]),
            one.get("label", ""),
            one.get("unit"),
            direction="lower" if lower and one["type"] == "money" else "higher",
            range=IssueRange(*map(Decimal, one["range"])) if "range" in one else None,
            options=tuple(IssueOption(value, 0.5) for value in one.get("values", ())),
        )
        for one in case["issues"]
    )
    before = case.get("before", {})
    mine, theirs = (_packages(before.get(side)) for side in ("mine", "theirs"))
    return Told(issues, mine, theirs, channel=case.get("channel", ""))


def _packages(named: Mapping[str, Any] | None) -> tuple[Package, ...]:
    exact = {k: v if isinstance(v, bool | str) else Decimal(str(v)) for k, v in (named or {}).items()}
    return (exact,) if exact else ()


def kind_of(mark: str) -> str:
    """The kind of a figure with this mark: `offer:price:less` is a cut."""
    first, *rest = mark.split(":")
    return "cut" if first == "offer" and len(rest) > 1 else first


def kinds_of(mark: str) -> frozenset[str]:
    """The kinds that a figure with this mark may have: of "rival/market" one of both, of "not" all but an offer."""
    said = kind_of(mark).split("/")
    return frozenset(FIGURE_KINDS) - {"offer", "cut"} if "not" in said else frozenset(said)


# One model


def train(
    labels: Sequence[str], given: Sequence[NDArray[np.uint32]], wanted: np.ndarray, *, one_of: bool
) -> SparseModel:
    """The model of examples with these feature keys [examples] and truths [examples, labels]."""
    spread = Counter(key for keys in given for key in keys.tolist())
    known = np.array(sorted(key for key, count in spread.items() if count >= FEWEST_FEATURES), np.uint32)
    rows = [(_places(known, keys), np.float32(1 / max(1, len(keys)) ** 0.5)) for keys in given]
    weights = np.zeros((len(known), len(labels)), np.float32)
    squares = np.full_like(weights, 0.01)
    bias, bias_squares = np.zeros(len(labels), np.float32), np.full(len(labels), 0.01, np.float32)
    order, lots = list(range(len(rows))), random.Random(1)  # noqa: S311
    for _ in range(EPOCHS):
        lots.shuffle(order)
        for at in order:
            places, share = rows[at]
            score = bias + weights[places].sum(axis=0) * share
            if one_of:
                found = np.exp(score - score.max())
                found /= found.sum()
                meant = (found + np.float32(1e-9)) * wanted[at]
                error = (found - meant / meant.sum()).astype(np.float32)
            else:
                found = 1 / (1 + np.exp(-score))
                error = (found - wanted[at]).astype(np.float32)
            step = error * share + np.float32(5e-5) * weights[places]
            squares[places] += step * step
            weights[places] -= RATE * step / np.sqrt(squares[places])
            bias_squares += error * error
            bias -= RATE * error / np.sqrt(bias_squares)
    kept = np.abs(weights).max(axis=1, initial=0) > LEAST_WEIGHT
    scale = float(np.abs(weights).max(initial=1.0)) / 127
    return SparseModel(tuple(labels), known[kept], np.round(weights[kept] / scale).astype(np.int8), scale, bias)


def _places(known: NDArray[np.uint32], keys: NDArray[np.uint32]) -> NDArray[np.intp]:
    places = np.searchsorted(known, keys)
    places[places == len(known)] = 0
    return places[known[places] == keys]


# All models


def train_models(given: Sequence[Example]) -> dict[str, SparseModel]:
    """The four models of the messages."""
    issue = _issue_model(given)
    hearing = [_Hearing(one, issue) for one in given]
    kind = _kind_model(hearing, [one.features for one in hearing])
    shares = _unseen_shares(hearing)
    again = _kind_model(hearing, [one.beside(first) for one, first in zip(hearing, shares, strict=True)])
    return {"issue": issue, "kind": kind, "kind again": again, "act": _act_model(hearing, shares)}


def _issue_model(given: Sequence[Example]) -> SparseModel:
    keys, truths = list[NDArray[np.uint32]](), list[list[float]]()
    for one in given:
        for figure, mark in zip(one.message.figures, one.kinds, strict=True):
            for fit in issue_fits(one.message, figure):
                is_value = _is_value(mark, fit)
                if is_value is not None:
                    keys.append(feature_keys(fit.features))
                    truths.append([float(is_value)])
    return train(("about",), keys, np.array(truths), one_of=False)


def _is_value(mark: str, fit: IssueFit) -> bool | None:
    """Whether a marked figure is a value of an issue; None where its mark does not tell."""
    first, *rest = mark.split(":")
    if rest:
        return rest[0] == fit.issue.name if len(rest) == 1 else None
    if first.startswith("count") or (first != "gap" and issue_group(fit.issue) != "money"):
        return False
    return None


class _Hearing:
    """An example with the features of its figures."""

    def __init__(self, example: Example, issue: SparseModel) -> None:
        self.example, self.message = example, example.message
        self.fits = [_likeliest(issue, issue_fits(self.message, one)) for one in self.message.figures]
        self.features = [
            frozenset(figure_features(self.message, one, *fit))
            for one, fit in zip(self.message.figures, self.fits, strict=True)
        ]

    def beside(self, first: Sequence[Shares]) -> list[frozenset[str]]:
        fits = [fit for fit, _ in self.fits]
        return [
            one | frozenset(neighbour_features(self.message, at, fits, first)) for at, one in enumerate(self.features)
        ]


def _likeliest(issue: SparseModel, fits: Sequence[IssueFit]) -> tuple[IssueFit | None, float]:
    found = [(issue.chances(fit.features)["about"], -n) for n, fit in enumerate(fits)]
    chance, place = max(found, default=(0.0, 0))
    return (fits[-place], chance) if fits else (None, 0.0)


def _kind_model(given: Sequence[_Hearing], features: Sequence[Sequence[frozenset[str]]]) -> SparseModel:
    truths = [[label in kinds_of(mark) for label in FIGURE_KINDS] for one in given for mark in one.example.kinds]
    keys = [feature_keys(one) for each in features for one in each]
    return train(FIGURE_KINDS, keys, np.array(truths, np.float32), one_of=True)


def _unseen_shares(given: Sequence[_Hearing]) -> list[list[Shares]]:
    """What the first kind model says of each message when it has not seen that writer."""
    writers = sorted({one.example.marked.writer for one in given})
    found = dict[int, list[Shares]]()
    for fold in range(FOLDS):
        held = set(writers[fold::FOLDS])
        rest = [one for one in given if one.example.marked.writer not in held]
        model = _kind_model(rest, [one.features for one in rest])
        found |= {
            place: [model.shares(features) for features in one.features]
            for place, one in enumerate(given)
            if one.example.marked.writer in held
        }
    return [found[place] for place in range(len(given))]


def _act_model(given: Sequence[_Hearing], shares: Sequence[Sequence[Shares]]) -> SparseModel:
    """What sentences do, from the writers who marked that; some tables mark figures only."""
    marks = Counter(
        one.example.marked.writer for one in given for act in one.example.marked.acts if act.name == "final"
    )
    seen = [pair for pair in zip(given, shares, strict=True) if marks[pair[0].example.marked.writer] >= FEWEST_FINALS]
    counted = Counter(label for one, _ in seen for label, *_ in marked_acts(one.example.marked))
    labels = [label for label, count in counted.most_common() if count >= FEWEST_ACTS]
    keys, truths = list[NDArray[np.uint32]](), list[list[bool]]()
    for one, first in zip(given, shares, strict=True):
        case = one.example.marked.case
        if case.get("figures_only", not case):
            continue
        message, acts = one.message, list(marked_acts(one.example.marked))
        kinds = [max(each, key=each.__getitem__) for each in first]
        tags = {
            figure.first: f"<{kind}>" for figure, kind in zip(message.figures, kinds, strict=True) if kind != "count"
        }
        for span in message.sentences:
            keys.append(feature_keys(frozenset(sentence_features(message, *span, tags))))
            start, end = message.tokens[span[0]].start, message.tokens[span[1] - 1].end
            done = {label for label, first_, last in acts if min(last, end) - max(first_, start) >= min(3, end - start)}
            truths.append([label in done for label in labels])
    return train(labels, keys, np.array(truths, np.float32), one_of=False)


def marked_acts(marked: MarkedMessage) -> Iterator[tuple[str, int, int]]:
    """The acts of a message as labels with their places: `ask`, and `ask reason` where it says what for."""
    for act in marked.acts:
        yield act.name, act.start, act.end
        if act.name in ("ask", "complain", "claim"):
            yield f"{act.name} {_SAME.get(act.of, act.of)}", act.start, act.end


def write_models(models: Mapping[str, SparseModel], file: Path) -> None:
    """Write the models as `load_models` reads them."""
    arrays = {"names": np.array(list(models))}
    for name, one in models.items():
        arrays |= {f"{name} labels": np.array(one.labels), f"{name} keys": one.keys, f"{name} weights": one.weights}
        arrays |= {f"{name} scale": np.array(one.scale), f"{name} bias": one.bias}
    np.savez_compressed(file, **cast("Any", arrays))


def main() -> None:
    """Train on everything and write the file."""
    file = Path(hearing_model.__file__).with_name("model.npz")
    write_models(train_models(examples()), file)
    sys.stdout.write(f"{file.name}: {file.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
