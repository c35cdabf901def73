"""The wing of the AI tools directory."""

from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Slice, Wing, offered


def directory(ground: Ground) -> Wing:
    """Make the wing."""
    del ground
    slices: list[Slice] = []
    return Wing(operations=offered(slices))
