"""Offers that were heard on a call as a person reads them: each once, at its place, with its words; pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

DETECTED: Final = "detected_in_speech"


def offers_as_said(offers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The offers, newest first, in the order in which they were said.

    An offer that was heard and its confirmation are one: the confirmation, at the place and the moment of the other.
    """
    heard = {one["id"]: one for one in offers if one["source"] == DETECTED}
    confirmed = {one["confirms"] for one in offers if one["confirms"]}
    said: list[dict[str, Any]] = []
    for one in offers:
        if one["id"] in confirmed:
            continue
        first = heard.get(one["confirms"] or "")
        if first is not None:
            members = ("seq", "at", "source")
            words = one["rationale"] or first["rationale"]
            one = {**one, **{name: first[name] for name in members}, "rationale": words}
        said.append(one)
    return sorted(said, key=lambda one: one["seq"], reverse=True)


def heard_words(offer: Mapping[str, Any]) -> str:
    """The words around a figure; the rationale of a detected offer has them in quotation marks."""
    rationale = str(offer["rationale"] or "")
    start, end = rationale.find("“"), rationale.rfind("”")
    return rationale[start : end + 1] if 0 <= start < end else ""
