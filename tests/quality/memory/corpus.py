"""Memories and judged questions, made from the facts: every question has the memories that answer it.

Questions come by a number, by the name and the words of the memory, by the name and other words, and by neither.
Parties and lessons with an even number are for tuning, the others are held out.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from negotiator.base.search_terms import stemmed_terms

LESSONS: Final = tomllib.loads(Path(__file__).with_name("negotiation_lessons.toml").read_text())["lessons"]
_FACTS: Final = tomllib.loads(Path(__file__).with_name("party_facts.toml").read_text())
PARTIES: Final[list[list[str]]] = _FACTS["parties"]
ASPECTS: Final[list[dict[str, Any]]] = _FACTS["aspect"]
PLAIN: Final = len(ASPECTS) - 2
"""The last two aspects are numbers that things are asked for by."""
Part = Literal["tune", "held"]


@dataclass(frozen=True, slots=True)
class Noted:
    """One memory of the corpus."""

    id: str
    text: str
    kind: str
    counterparty: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, the memory that answers it, and whether it shares a telling word with it."""

    text: str
    answer: str
    shares: bool
    part: Part


def memories() -> list[Noted]:
    """All memories, in a fixed order."""
    noted = [
        Noted(_key(party, place), _text(party, place), aspect["kind"], PARTIES[party][0])
        for party in range(len(PARTIES))
        for place, aspect in enumerate(ASPECTS)
    ]
    lessons = [Noted(f"lesson-{number}", lesson["text"], "lesson", None) for number, lesson in enumerate(LESSONS)]
    return [*noted, *lessons]


def questions() -> list[Asked]:
    """All questions, in a fixed order."""
    texts = {one.id: one.text for one in memories()}
    return [
        Asked(asked, answer, bool({*stemmed_terms(asked)} & {*stemmed_terms(texts[answer])}), part)
        for asked, answer, part in (*_of_parties(), *_of_lessons())
    ]


def _of_parties() -> Iterator[tuple[str, str, Part]]:
    for party, (name, *descriptions) in enumerate(PARTIES):
        part: Part = "held" if party % 2 else "tune"
        places = [(party * 7 + step * 5) % PLAIN for step in range(5)]
        by_number = PLAIN + party // 2 % 2
        asked = ASPECTS[by_number]["asked"].format(v=_figure(party, by_number))
        yield asked, _key(party, by_number), part
        for step, place in enumerate(places):
            aspect, answer = ASPECTS[place], _key(party, place)
            if step == 0:
                yield aspect["asked"].format(n=name), answer, part
            elif step == 1:
                yield aspect["meant"][party // 2 % 2].format(t=name), answer, part
            else:
                described = descriptions[step // 2 % 2]
                yield aspect["meant"][step % 2].format(t=described), answer, part


def _of_lessons() -> Iterator[tuple[str, str, Part]]:
    for number, lesson in enumerate(LESSONS):
        yield lesson["asked"], f"lesson-{number}", "held" if number % 2 else "tune"


def _key(party: int, place: int) -> str:
    return f"party-{party}-{place}"


def _text(party: int, place: int) -> str:
    noted: str = ASPECTS[place]["noted"][(party + place) % 2]
    return noted.format(n=PARTIES[party][0], v=_figure(party, place))


def _figure(party: int, place: int) -> str:
    named: str | list[str] = ASPECTS[place]["figures"]
    figures: list[str] = _FACTS["figures"][named] if isinstance(named, str) else named
    return figures[(party * (1 if len(figures) >= len(PARTIES) else 5) + place) % len(figures)]
