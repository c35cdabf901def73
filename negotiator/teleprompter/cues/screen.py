"""The screen between two utterances: as JSON, so that any worker can take it up."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from negotiator.teleprompter.cues.policy import Card, Screen


def dump(screen: Screen) -> dict[str, Any]:
    """The screen as a JSON value; `restore` gives it back."""
    return asdict(screen)


def restore(kept: Mapping[str, Any]) -> Screen:
    """The screen of a dumped one; an empty mapping is an empty screen."""
    return Screen(
        cards=tuple(_card(card) for card in kept.get("cards", ())),
        families={name: _card(card) for name, card in kept.get("families", {}).items()},
        rising={name: (cue, times) for name, (cue, times) in kept.get("rising", {}).items()},
    )


def _card(kept: dict[str, Any]) -> Card:
    listed: dict[str, Any] = {**kept, "memory_ids": tuple(kept["memory_ids"])}
    return Card(**listed)
