"""How well the models hear writers whom they were not trained on.

`python -m tests.quality.messages.test_hearing` prints all of it, `… wrong` also the figures that were taken wrongly.
"""

import sys
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import pytest

from negotiator.advice.hearing.hear import SURE, Heard, hear
from negotiator.advice.hearing.model import SparseModel
from tests.quality.messages.training import Example, examples, kind_of, marked_acts, train_models

UNSEEN: Final = frozenset({"d", "j", "q", "r", "v", "y"})
"""The writers whose messages are only read."""
ACTS: Final = ("offer", "ask", "if", "choice", "yes", "no", "final", "deadline", "walk", "complain", "scope", "claim")


@dataclass
class Count:
    """How often something was found rightly, found wrongly and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, found: bool, true: bool) -> None:
        self.right += found and true
        self.wrong += found and not true
        self.missed += true and not found

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)

    def __str__(self) -> str:
        precision, recall = (self.right / max(1, self.right + each) for each in (self.wrong, self.missed))
        return f"{self.right + self.missed:5} F1 {self.f1:.3f}  precision {precision:.3f}  recall {recall:.3f}"


@dataclass
class Scores:
    """The counts of unseen messages. `taken` and `others` are the figures of other kinds, taken surely or in all."""

    values: Count = field(default_factory=Count)
    sure: Count = field(default_factory=Count)
    acts: dict[str, Count] = field(default_factory=dict[str, Count])
    taken: int = 0
    others: int = 0
    wrong: list[str] = field(default_factory=list[str])


@contextmanager
def _models(models: Mapping[str, SparseModel]) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("negotiator.advice.hearing.hear.load_models", lambda: models)
        yield


def scores() -> Scores:
    """What models that saw the other writers hear in the messages of `UNSEEN`."""
    given = examples()
    models = train_models([one for one in given if one.marked.writer not in UNSEEN])
    found = Scores()
    with _models(models):
        for one in given:
            if one.marked.writer in UNSEEN:
                _count(found, one, hear(one.message.text, one.message.told))
    return found


def _count(found: Scores, one: Example, heard: Heard) -> None:
    truth = Counter(mark.split(":")[1] for mark in one.kinds if kind_of(mark) in ("offer", "cut"))
    numeric = {issue.name for issue in one.message.told.issues if issue.type not in ("boolean", "enum", "date")}
    for least, count in ((0.0, found.values), (SURE, found.sure)):
        named = Counter(
            name for offer in heard.offers if offer.chance >= least for name in offer.package if name in numeric
        )
        both = (named & truth).total()
        count.right += both
        count.wrong += named.total() - both
        count.missed += truth.total() - both
    for mark, figure in zip(one.kinds, heard.figures, strict=True):
        if kind_of(mark) not in ("offer", "cut"):
            found.others += 1
            if figure.kind in ("offer", "cut") and figure.chance >= SURE:
                found.taken += 1
                found.wrong.append(f"{mark} [{figure.quote}] {one.message.text}")
    done = {label for label, *_ in marked_acts(one.marked)}
    said = {label for act in heard.acts for label in (act.name, f"{act.name} {act.of}") if label.strip() == label}
    for label in {*done, *said}:
        found.acts.setdefault(label, Count()).add(label in said, label in done)


def report(found: Scores) -> Sequence[str]:
    """The scores as lines."""
    lines = [f"offered values        {found.values}", f"surely offered values {found.sure}"]
    lines.append(f"figures of other kinds taken as surely offered: {found.taken} of {found.others}")
    return lines + [f"{label:22}{found.acts[label]}" for label in sorted(found.acts)]


@pytest.mark.long
def test_messages_of_writers_that_no_model_saw_are_heard() -> None:
    found = scores()
    assert found.values.f1 >= 0.82
    assert found.taken / found.others <= 0.015
    assert min(found.acts[name].f1 for name in ("ask", "choice", "final")) >= 0.75


if __name__ == "__main__":
    result = scores()
    sys.stdout.write("\n".join([*report(result), *(result.wrong if "wrong" in sys.argv else ())]) + "\n")
