"""Which of several representations a request prefers (RFC 9110 §12.5.1)."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_MAX_LENGTH: Final = 2048
"""The greatest length of an `Accept` header that is read; a longer one is ignored, as RFC 9110 §12.5.1 allows."""
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"?|[^",]+|,', re.DOTALL)
"""Each alternative consumes the character it begins with, so a scan takes linear time."""
_RANGE = re.compile(r"([!#$%&'*+.^_`|~\w-]+/[!#$%&'*+.^_`|~\w-]+)\s*(?:;(.*))?", re.DOTALL)
_WEIGHT = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")


def media_ranges(accept: str) -> list[tuple[str, float]]:
    """The media ranges of the header in their order, each with its weight from 0 (not acceptable) to 1.

    Elements that are not media ranges are left out.
    """
    found: list[tuple[str, float]] = []
    for part in _split(accept[: _MAX_LENGTH + 1]):
        matched = _RANGE.fullmatch(part.strip())
        weight = _weight(matched[2] or "") if matched else None
        if matched and weight is not None:
            found.append((matched[1].lower(), weight))
    return found


def _split(accept: str) -> Iterator[str]:
    """The elements between commas outside of quoted strings; none for a header that is too long."""
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
    """The offered media type that the header prefers; the first one when it accepts none or is empty.

    For each media type the most specific range decides. Of equal weights, a type that is named precedes one that a
    wildcard covers; then the order of the header counts, since a program that writes `text/markdown, text/html, */*`
    prefers markdown.
    """
    asked = media_ranges(accept)
    best, best_rank = offered[0], (0.0, False, 0)
    for media_type in offered:
        covering = ("*/*", f"{media_type.partition('/')[0]}/*", media_type)
        matching = [(covering.index(each), -n, weight) for n, (each, weight) in enumerate(asked) if each in covering]
        specific, place, weight = max(matching, default=(0, 0, 0.0))
        if weight and (weight, specific == 2, place) > best_rank:
            best, best_rank = media_type, (weight, specific == 2, place)
    return best


def _weight(parameters: str) -> float | None:
    """The weight `q` among a range's parameters; 1 without one, None for a malformed one."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            return float(value) if _WEIGHT.fullmatch(value.strip()) else None
    return 1.0
