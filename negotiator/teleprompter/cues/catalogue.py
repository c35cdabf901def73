"""A cue as a value: what is heard, and the one question that answers it.

Reads the shipped cues and refuses what would embarrass a user in the middle of a call.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast, get_args

from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.advice.tactics.tactic import ROLES, NegotiationRole

CueKind = Literal["objection", "manoeuvre", "coaching"]
Speaker = Literal["them", "me"]

NEUTRAL: Final = ""
"""The label of talk that means no cue."""
CUE_KINDS: tuple[CueKind, ...] = get_args(CueKind)
SPEAKERS: tuple[Speaker, ...] = get_args(Speaker)


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing that is said in negotiations, and its card.

    `say` is one question of at most fifteen words, `why` the one reason for it; `say_to` is another question for a
    listener of that role. `roles` are the listener's. `tactic_id` is the answer on the shelf, `move_id` the move of
    theirs that is heard, if the shelf has it. `must_hear` are short cores for recognisers that spot words. `rules`,
    `unless` and `replies` are patterns in the language of `advice.tactics.phrases`; `replies` count only at the
    beginning of an answer to a request or an offer of the user. A cue without phrasings is raised by time alone.
    """

    id: str
    family: str
    kind: CueKind
    title: str
    say: str
    why: str
    tactic_id: str
    move_id: str = ""
    roles: tuple[NegotiationRole, ...] = ("party",)
    must_hear: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    phrasings: tuple[str, ...] = ()
    say_to: Mapping[NegotiationRole, str] = field(default_factory=dict[NegotiationRole, str])

    @property
    def speaker(self) -> Speaker:
        """The speaker whose words raise the cue: `me` for coaching, `them` for the other kinds."""
        return "me" if self.kind == "coaching" else "them"

    def suits(self, role: NegotiationRole | None) -> bool:
        """Whether the cue suits a listener of this role; an unknown role and `party` get every cue."""
        return role in {None, "party"} or "party" in self.roles or role in self.roles

    def question(self, role: NegotiationRole | None) -> str:
        """The question for a listener of this role."""
        return self.say if role is None else self.say_to.get(role, self.say)


@dataclass(frozen=True, slots=True)
class CueCatalogue:
    """All cues by id, and by speaker example sentences that mean none of them."""

    cues: Mapping[str, Cue]
    neutral: Mapping[Speaker, tuple[str, ...]]

    def of(self, speaker: Speaker) -> tuple[Cue, ...]:
        """The cues this speaker's words can raise, in the order of the files."""
        return tuple(cue for cue in self.cues.values() if cue.speaker == speaker)

    def examples(self, speaker: Speaker) -> tuple[tuple[str, str], ...]:
        """(text, cue id) for every phrasing of this speaker, and (text, "") for ordinary talk."""
        meant = [(text, cue.id) for cue in self.of(speaker) for text in cue.phrasings]
        return (*meant, *((text, "") for text in self.neutral[speaker]))


SPOKEN_WORDS: Final = 15
REASON_WORDS: Final = 20
CORE_WORDS: Final = 5
FEWEST_PHRASINGS: Final = 25
MOST_PHRASINGS: Final = 120
_LISTS: Final = ("roles", "must_hear", "rules", "unless", "replies", "phrasings")
_KEYS: Final = frozenset(field.name for field in fields(Cue))
_Raw = Mapping[str, Any]


@cache
def cue_catalogue() -> CueCatalogue:
    """The shipped cues, read once; ValueError names the cue and what is wrong with it."""
    folder = files(__package__ or __name__)
    families = sorted(
        (file for file in folder.joinpath("families").iterdir() if file.name.endswith(".toml")),
        key=lambda file: file.name,
    )
    rows = [cast("_Raw", row) for file in families for row in tomllib.loads(file.read_text("utf-8"))["cue"]]
    said = tomllib.loads(folder.joinpath("neutral.toml").read_text("utf-8"))
    return build_catalogue(rows, cast("Mapping[str, list[str]]", said))


def build_catalogue(rows: Iterable[_Raw], neutral: Mapping[str, list[str]]) -> CueCatalogue:
    """The checked catalogue of these rows; `neutral` has `both`, `them` and `me`."""
    cues = [_cue(row) for row in rows]
    _once([cue.id for cue in cues], "cue ids")
    _once([text for cue in cues for text in cue.phrasings], "phrasings")
    both = neutral["both"]
    ordinary: dict[Speaker, tuple[str, ...]] = {"them": (*both, *neutral["them"]), "me": (*both, *neutral["me"])}
    _once([text for texts in neutral.values() for text in texts], "neutral sentences")
    return CueCatalogue({cue.id: cue for cue in cues}, ordinary)


def _cue(row: _Raw) -> Cue:
    name = str(row.get("id", row))
    if unknown := row.keys() - _KEYS:
        raise ValueError(f"cue {name}: unknown {sorted(unknown)}")
    values: dict[str, Any] = {key: tuple(value) if key in _LISTS else value for key, value in row.items()}
    cue = Cue(**values)
    says = (cue.say, *cue.say_to.values())
    known = {tactic.id for tactic in built_in_catalogue().tactics}
    problems = {
        "has an unknown kind": cue.kind not in CUE_KINDS,
        "has an unknown role": not {*cue.roles, *cue.say_to} <= set(ROLES),
        "names a tactic that is not on the shelf": not {cue.tactic_id, cue.move_id} <= {*known, ""},
        "says too much": any(len(say.split()) > SPOKEN_WORDS for say in says),
        "does not end in its one question": any(say.count("?") != 1 or not say.endswith("?") for say in says),
        "has no short reason": not 0 < len(cue.why.split()) <= REASON_WORDS,
        "has a core that is no short phrase": any(not 0 < len(core.split()) <= CORE_WORDS for core in cue.must_hear),
        "has too few or too many phrasings": bool(cue.phrasings)
        and not FEWEST_PHRASINGS <= len(cue.phrasings) <= MOST_PHRASINGS,
        "is raised by time and has patterns": not cue.phrasings and bool(cue.rules),
    }
    if wrong := [problem for problem, is_so in problems.items() if is_so]:
        raise ValueError(f"cue {name}: {'; '.join(wrong)}")
    return cue


def _once(texts: list[str], what: str) -> None:
    if twice := [text for text, times in Counter(texts).items() if times > 1]:
        raise ValueError(f"{what} used twice: {twice}")
