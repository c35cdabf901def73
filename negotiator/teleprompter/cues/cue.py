"""A cue as a value: what is heard, and the one question that answers it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from negotiator.negotiations.tactics.tactic import Role

Kind = Literal["objection", "manoeuvre", "coaching"]
Speaker = Literal["them", "me"]

NEUTRAL: Final = ""
"""The label of ordinary talk."""
KINDS: tuple[Kind, ...] = get_args(Kind)
SPEAKERS: tuple[Speaker, ...] = get_args(Speaker)


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing that is said in negotiations, and its card.

    `say` is one question of at most fifteen words, `why` the one reason for it. `tactic_id` is the answer on the shelf,
    `move_id` the move of theirs that is heard, if the shelf has it. `must_hear` are short cores for recognisers that
    spot words; `rules` and `unless` are patterns in the language of `negotiations.tactics.cues`.
    """

    id: str
    family: str
    kind: Kind
    title: str
    say: str
    why: str
    tactic_id: str
    move_id: str = ""
    roles: tuple[Role, ...] = ("party",)
    must_hear: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    phrasings: tuple[str, ...] = ()

    @property
    def speaker(self) -> Speaker:
        """Whose words raise it: coaching answers my own, everything else theirs."""
        return "me" if self.kind == "coaching" else "them"

    def suits(self, role: Role | None) -> bool:
        """Whether somebody in this role is shown it; an unknown role sees only what suits all."""
        return "party" in self.roles or (role is not None and role in self.roles)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All cues by their id, and what each speaker says without meaning any of them."""

    cues: Mapping[str, Cue]
    neutral: Mapping[Speaker, tuple[str, ...]]

    def of(self, speaker: Speaker) -> tuple[Cue, ...]:
        """The cues this speaker's words can raise, in the order of the files."""
        return tuple(cue for cue in self.cues.values() if cue.speaker == speaker)

    def examples(self, speaker: Speaker) -> tuple[tuple[str, str], ...]:
        """(text, cue id) for every phrasing of this speaker, and (text, "") for ordinary talk."""
        meant = [(text, cue.id) for cue in self.of(speaker) for text in cue.phrasings]
        return (*meant, *((text, "") for text in self.neutral[speaker]))
