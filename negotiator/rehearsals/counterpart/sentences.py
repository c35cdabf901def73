"""What the simulated counterpart says: a sentence for each moment of the talk, by its manner and its part in the deal.

The sentences are in `sentences.toml`. The offer and the issue in them are the caller's words; none has a figure.
"""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final

from negotiator.advice.plans.case_template import choose_template
from negotiator.rehearsals.counterpart.person import MOMENTS, Moment, Style
from negotiator.terms.plain_text import noun_phrase
from negotiator.terms.terms import Terms

OWN_SHARE: Final = 0.5
"""How often a sentence of the kind of counterpart is preferred to one for everybody."""
_SLOT: Final = re.compile(r"\{(offer|issue)\}")


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """One sentence, around its slot where it has one. `whom` is empty for everybody, `style` None for every style."""

    before: str
    slot: str | None
    after: str
    style: Style | None
    whom: frozenset[str]

    def fits(self, style: Style | None, case: str) -> bool:
        """Whether such a person would say it; without a style, whether any of this kind would."""
        return (not self.whom or case in self.whom) and (style is None or self.style is None or self.style == style)

    def was_said(self, said: Collection[str]) -> bool:
        """Whether one of these sentences is this one, with whatever stood in its slot."""
        if self.slot is None:
            return any(text.startswith(self.before) for text in said)
        return any(self.before in text and text.endswith(self.after) for text in said)

    def say(self, slots: Mapping[str, str]) -> str:
        """The sentence with its slot filled; the filling is not read."""
        return self.before + ("" if self.slot is None else slots[self.slot]) + self.after


def case_kind(terms: Terms) -> str:
    """What the other side of this negotiation is, as one of `counterparts.toml`."""
    return counterparts()["counterparts"][choose_template(terms).name]


@cache
def counterparts() -> Mapping[str, Mapping[str, Any]]:
    """The kinds of counterpart by case template (`counterparts`), and lists of kinds by group (`groups`)."""
    return tomllib.loads(files(__package__ or __name__).joinpath("counterparts.toml").read_text("utf-8"))


def sentence(
    moment: Moment,
    *,
    style: Style,
    case: str,
    draw: Random | str,
    slots: Mapping[str, str],
    avoid: Collection[str] = (),
) -> str:
    """What the person says at this moment; the same draw gives the same sentence.

    `slots` has `offer`, the package in words, for the moments that name one, and `issue`, the name of an issue, for the
    moments about one. Sentences in `avoid` were said and are not said again while the moment has others, at last those
    of other styles. Raises ValueError where a slot is missing.
    """
    rng = Random(draw) if isinstance(draw, str) else draw  # noqa: S311  words, not secrets
    filled = {name: text for name, text in slots.items() if text}
    if "issue" in filled:
        filled["issue"] = noun_phrase(filled["issue"])
    lines = [line for line in spoken_lines()[moment] if line.slot is None or line.slot in filled]
    usual = [line for line in lines if line.fits(style, case)]
    if not usual:
        raise ValueError(f"{moment} lacks a slot; there are {sorted(filled)}")
    fresh = (
        [line for line in usual if not line.was_said(avoid)]
        or [line for line in lines if line.fits(None, case) and not line.was_said(avoid)]
        or usual
    )
    own = [line for line in fresh if line.whom]
    common = [line for line in fresh if not line.whom]
    prefers_own = rng.random() < OWN_SHARE
    pool = (own or common) if prefers_own else (common or own)
    return pool[rng.randrange(len(pool))].say(filled)


@cache
def spoken_lines() -> Mapping[Moment, tuple[SpokenLine, ...]]:
    file = files(__package__ or __name__).joinpath("sentences.toml")
    content: dict[str, list[dict[str, Any]]] = tomllib.loads(file.read_text("utf-8"))
    return {moment: tuple(line for group in content[moment] for line in _group(group)) for moment in MOMENTS}


def _group(group: Mapping[str, Any]) -> tuple[SpokenLine, ...]:
    groups = counterparts()["groups"]
    whom = frozenset(kind for name in group.get("whom", ()) for kind in groups.get(name, (name,)))
    return tuple(_line(text, group.get("style"), whom) for text in group["say"])


def _line(text: str, style: Style | None, whom: frozenset[str]) -> SpokenLine:
    before, *rest = _SLOT.split(text)
    slot, after = rest or (None, "")
    return SpokenLine(before, slot, after, style, whom)
