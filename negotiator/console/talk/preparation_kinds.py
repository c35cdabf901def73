"""The kinds of negotiation that a person can prepare, with what the form of each begins with."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast

from negotiator.terms.issues import IssueType

OTHER_KIND: Final = "other"
"""The kind that stands in until one is chosen."""
_FILE: Final = "preparation_kinds.toml"


@dataclass(frozen=True, slots=True)
class Side:
    """A side that the user can be on, and how they say it."""

    role: str
    words: str


@dataclass(frozen=True, slots=True)
class CountTemplate:
    """What a unit price is multiplied by, and how many; empty where the user has to say it."""

    of: str
    count: str = ""


@dataclass(frozen=True, slots=True)
class IssueTemplate:
    """An issue that is usual in a kind. `direction` is what is better for the kind's first side.

    `choices` stand best first for that side. `least` and `most` are the ends that no value can pass.
    """

    name: str
    label: str
    type: IssueType
    direction: str
    weight: int
    unit: str = ""
    choices: tuple[str, ...] = ()
    multiples: tuple[CountTemplate, ...] = ()
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class PreparationKind:
    """A kind of negotiation. `example`, `counterpart` and `alternative` are shown in empty fields."""

    name: str
    title: str
    detail: str
    kind: str
    category: str
    example: str
    counterpart: str
    alternative: str
    sides: tuple[Side, ...]
    baseline_kind: str
    baseline_question: str
    issues: tuple[IssueTemplate, ...]

    def issue(self, name: str) -> IssueTemplate | None:
        """The issue of this name."""
        return next((issue for issue in self.issues if issue.name == name), None)


@cache
def preparation_kinds() -> Mapping[str, PreparationKind]:
    """The kinds by name, in the order in which they are offered."""
    page = files(__package__ or __name__).joinpath(_FILE).read_text("utf-8")
    kinds = [_kind(row) for row in tomllib.loads(page)["kind"]]
    return {kind.name: kind for kind in kinds}


def kind_named(name: str) -> PreparationKind:
    """The kind of this name; the one for everything else where there is none."""
    kinds = preparation_kinds()
    return kinds.get(name, kinds[OTHER_KIND])


def _kind(row: dict[str, Any]) -> PreparationKind:
    baseline = row.pop("baseline")
    sides = tuple(Side(**side) for side in row.pop("sides"))
    issues = tuple(_issue(issue) for issue in row.pop("issue"))
    return PreparationKind(
        **row, sides=sides, baseline_kind=baseline["kind"], baseline_question=baseline["question"], issues=issues
    )


def _issue(row: dict[str, Any]) -> IssueTemplate:
    multiples = cast("list[dict[str, Any]]", row.pop("multiples", []))
    choices = tuple(row.pop("choices", ()))
    return IssueTemplate(
        **row,
        choices=choices,
        multiples=tuple(CountTemplate(one["of"], str(one.get("count", ""))) for one in multiples),
    )
