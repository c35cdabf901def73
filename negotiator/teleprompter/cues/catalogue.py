"""A cue as a value: what is heard, and the one question that answers it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast, get_args

from negotiator.advice.tactics.tactic import NegotiationRole

CueKind = Literal["objection", "manoeuvre", "coaching"]
Speaker = Literal["them", "me"]

NEUTRAL: Final = ""
"""The label of talk that means no cue."""
SPEAKERS: tuple[Speaker, ...] = get_args(Speaker)


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing that is said in negotiations, and its card.

    `say` is one question of at most fifteen words, `why` the one reason for it; `say_to` is another question for a
    listener of that role. `roles` are the listener's. `tactic_id` is the answer on the shelf, `move_id` the move of
    theirs that is heard, if the shelf has it. `rules`, `unless` and `replies` are patterns in the language of
    `advice.tactics.phrases`; `replies` count only at the beginning of an answer to a request or an offer of the user. A
    cue without phrasings is raised by time alone.
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


@cache
def cue_catalogue() -> CueCatalogue:
    folder = files(__package__ or __name__)
    families = sorted(file.name for file in folder.joinpath("families").iterdir() if file.name.endswith(".toml"))
    pages: list[dict[str, list[dict[str, Any]]]] = [
        tomllib.loads(folder.joinpath("families", name).read_text("utf-8")) for name in families
    ]
    cues = [Cue(**{name: _fixed(value) for name, value in row.items()}) for page in pages for row in page["cue"]]
    said: dict[str, list[str]] = tomllib.loads(folder.joinpath("neutral.toml").read_text("utf-8"))
    neutral: dict[Speaker, tuple[str, ...]] = {speaker: (*said["both"], *said[speaker]) for speaker in SPEAKERS}
    return CueCatalogue({cue.id: cue for cue in cues}, neutral)


def _fixed(value: Any) -> Any:
    return tuple(cast("list[str]", value)) if isinstance(value, list) else value
