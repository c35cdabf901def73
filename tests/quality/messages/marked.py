"""Reads the marked messages of `*.toml`: what the other side writes in a case, and what its writer says it means.

`<offer>I could do [13,600|offer:price]</offer>` is the text "I could do 13,600" with an act over all of it, and a
figure.
Acts: offer, if (its condition), choice (of one of the user's packages), yes, no, final, deadline, walk, scope, `ask`
with what is asked for, `complain` and `claim` with what about. Figures: `offer:ISSUE` (with `:less` or `:more` for an
amount off or on their earlier figure), `mine:ISSUE` and `theirs:ISSUE` for one repeated, rival, market, past, limit
(told and not offered), gap (between figures), wish (unreal), count (of anything else).

The files were written by people who knew no reader and no other's sentences. Each file is one writer's; `k` is German,
`l` French and Spanish. `call` has single sentences of a call, where an issue may have a range instead of offers before;
of `ff` to `nn` (`figures_only`) the figures are marked and no acts, `not` for one that is no offer.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_MARK: Final = re.compile(
    r'<(?P<end>/?)(?P<act>\w+)(?: \w+="(?P<of>[^"]*)")?>|\[(?P<said>[^\[\]|]+)\|(?P<kind>[^\[\]]+)\]'
)


@dataclass(frozen=True, slots=True)
class MarkedAct:
    """What a part of a message does, where it begins and ends, and `of` what, where its writer says so."""

    name: str
    of: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedFigure:
    """A figure of a message and its kind, such as "offer:price"."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedMessage:
    """A message without its marks, its writer, and the case it belongs to: role, issues, and the offers `before` it."""

    writer: str
    case: dict[str, Any]
    text: str
    acts: tuple[MarkedAct, ...]
    figures: tuple[MarkedFigure, ...]


def marked_messages(folder: Path = Path(__file__).parent) -> Iterator[MarkedMessage]:
    """The messages of all files; a ValueError names one whose marks do not match."""
    for file in sorted(folder.glob("*.toml")):
        for case in tomllib.loads(file.read_text("utf-8"))["cases"]:
            yield from (read_marks(said.strip(), case, file.stem) for said in case["messages"])


def read_marks(said: str, case: dict[str, Any], writer: str) -> MarkedMessage:
    """The message of a marked text."""
    acts, figures, opened = list[MarkedAct](), list[MarkedFigure](), list[tuple[str, str, int]]()
    text, at = "", 0
    for mark in _MARK.finditer(said):
        text += said[at : mark.start()]
        at = mark.end()
        if mark["said"] is not None:
            figures.append(MarkedFigure(mark["kind"], len(text), len(text) + len(mark["said"])))
            text += mark["said"]
        elif not mark["end"]:
            opened.append((mark["act"], mark["of"] or "", len(text)))
        else:
            place = max((n for n, (name, *_) in enumerate(opened) if name == mark["act"]), default=None)
            if place is None:
                raise ValueError(f"</{mark['act']}> closes nothing: {said}")
            name, of, start = opened.pop(place)
            acts.append(MarkedAct(name, of, start, len(text)))
    if opened:
        raise ValueError(f"<{opened[0][0]}> is not closed: {said}")
    return MarkedMessage(writer, case, text + said[at:], tuple(acts), tuple(figures))
