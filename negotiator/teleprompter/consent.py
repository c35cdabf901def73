"""On which basis words may be heard, the notice for the people on the call, and when a transcript is deleted.

Not legal advice: the rules fit the strict cases, in which all parties have to agree.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from negotiator.base.values import DAY
from negotiator.teleprompter.cues.catalogue import Speaker

ConsentBasis = Literal["all_parties", "one_party", "own_side_only", "test"]
Retention = Literal["none", "session", "30_days", "until_deleted"]

CONSENT_BASES: Final[tuple[ConsentBasis, ...]] = get_args(ConsentBasis)
RETENTIONS: Final[tuple[Retention, ...]] = get_args(Retention)
AFTER_SESSION_MS: Final = DAY
THIRTY_DAYS_MS: Final = 30 * DAY


def may_hear(basis: ConsentBasis, speaker: Speaker) -> bool:
    """Whether this side's words may be taken at all: of my own side only, theirs are not."""
    return speaker == "me" or basis != "own_side_only"


def notice_text(basis: ConsentBasis, language: str, engine_place: str) -> str:
    """The sentence to say or to paste into the chat; empty where nobody else is heard.

    `language` is a BCP 47 tag, of which English, German, French and Spanish are worded, others get English.
    `engine_place` names the third party that hears the sound; empty when it is recognised here.
    """
    if basis in {"own_side_only", "test"}:
        return ""
    notice = _notices().get(language.lower().split("-")[0]) or _notices()["en"]
    place = notice["away"].format(place=engine_place) if engine_place else notice["here"]
    ask = f" {notice['ask']}" if basis == "all_parties" else ""
    return f"{notice['told']} {place}{ask}"


@cache
def _notices() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(files("negotiator.teleprompter").joinpath("consent_notices.toml").read_text("utf-8"))


def transcript_expires_at(keep: Retention, *, created_at: int, ended_at: int | None) -> int | None:
    """When a transcript is to be gone, in milliseconds; None for never, or while the session still runs.

    A day after the end of the session, thirty days after it, at its end, or when its owner says so. An end before the
    beginning counts as the beginning.
    """
    if keep == "until_deleted" or ended_at is None:
        return None
    after: dict[Retention, int] = {"none": 0, "session": AFTER_SESSION_MS, "30_days": THIRTY_DAYS_MS}
    return max(created_at, ended_at) + after[keep]
