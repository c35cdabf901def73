"""The example sentences of tactics and of ordinary talk, by which a classifier learns to tell them apart."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, cast

from negotiator.advice.tactics.tactic import FAMILIES

ORDINARY: Final = ""
"""The label of talk that is no tactic."""


@cache
def built_in_examples() -> tuple[tuple[str, str], ...]:
    """Pairs of a sentence and its tactic id or `ORDINARY`, read once."""
    meant = [
        (text, tactic_id)
        for family in FAMILIES
        for tactic_id, texts in _read_examples(family).items()
        for text in texts
    ]
    ordinary = [text for texts in _read_examples("ordinary").values() for text in texts]
    return (*meant, *((text, ORDINARY) for text in ordinary))


def _read_examples(name: str) -> Mapping[str, list[str]]:
    folder = files(__package__ or __name__).joinpath("recognition_examples")
    return cast("Mapping[str, list[str]]", tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8")))
