"""Which of several representations a request prefers (RFC 9110 §12.5.1)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_MAX_LENGTH: Final = 2048
"""Characters of an `Accept` header that is read; a longer one says nothing, as RFC 9110 §12.5.1 allows."""
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"?|[^",]+|,', re.DOTALL)
"""Each alternative consumes what it begins with, so a scan takes one step a character."""
_RANGE = re.compile(r"([!#$%&'*+.^_`|~\w-]+)/([!#$%&'*+.^_`|~\w-]+)\s*(?:;(.*))?", re.DOTALL)
_WEIGHT = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")


@dataclass(frozen=True, slots=True)
class MediaRange:
    """One media range of an `Accept` header: `weight` from 0, never, to 1."""

    kind: str
    subtype: str
    weight: float

    def specificity(self, media_type: str) -> int:
        """How exactly this names the media type: 3 by name, 2 by its kind, 1 as anything, 0 not at all."""
        kind, _, subtype = media_type.partition("/")
        if (self.kind, self.subtype) == (kind, subtype):
            return 3
        if self.subtype != "*":
            return 0
        return 2 if self.kind == kind else int(self.kind == "*")


def media_ranges(accept: str) -> list[MediaRange]:
    """The media ranges of the header in their order; what is no media range is left out."""
    found: list[MediaRange] = []
    for part in _split(accept[: _MAX_LENGTH + 1]):
        matched = _RANGE.fullmatch(part.strip())
        if not matched:
            continue
        weight = _weight(matched[3] or "")
        if weight is not None:
            found.append(MediaRange(matched[1].lower(), matched[2].lower(), weight))
    return found


def _split(accept: str) -> Iterator[str]:
    """The elements between commas that are not in a quoted string; none of a header that is too long."""
    if len(accept) > _MAX_LENGTH:
        return
    element: list[str] = []
    for part in _PARTS.findall(accept):
        if part == ",":
            yield "".join(element)
            element.clear()
        else:
            element.append(part)
    yield "".join(element)


def preferred_media_type(accept: str, offered: Sequence[str]) -> str:
    """The offered media type that the header likes best; the first one when it likes none or says nothing.

    The most specific range decides for each. Of equal weights, what is named goes before what a wildcard covers,
    and then the order of the header counts: a program that writes `text/markdown, text/html, */*` means it.
    """
    asked = media_ranges(accept)
    best, best_rank = offered[0], (0.0, 0, 0)
    for media_type in offered:
        matching = [
            (each.specificity(media_type), -place, each.weight) for place, each in enumerate(asked)
        ]
        specific, place, weight = max(matching, default=(0, 0, 0.0))
        if specific and weight and (weight, specific == 3, place) > best_rank:
            best, best_rank = media_type, (weight, specific == 3, place)
    return best


def _weight(parameters: str) -> float | None:
    """The `q` among a range's parameters, 1 without; None for one that is no weight."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            return float(value) if _WEIGHT.fullmatch(value.strip()) else None
    return 1.0
