"""The wing of the AI tools directory."""

from negotiator.directory.bookmarks.routes import Bookmarks
from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Slice, Wing, offered


def directory(ground: Ground) -> Wing:
    """Make the wing."""
    base, store, cursors = ground.settings.base_url, ground.store, ground.cursors
    slices: list[Slice] = [Bookmarks(base, store, cursors)]
    return Wing(operations=offered(slices))
