"""The wing of the AI tools directory."""

from negotiator.directory.exchange.routes import Exchange
from negotiator.directory.listing.following import Following
from negotiator.directory.listing.routes import Listing
from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Slice, Wing, offered


def directory(ground: Ground) -> Wing:
    """Make the wing; the hottest slice first."""
    base, store, cursors = ground.settings.base_url, ground.store, ground.cursors
    following = Following(store)
    slices: list[Slice] = [
        Listing(base, store, cursors, following),
        Exchange(base, store, cursors, following),
    ]
    return Wing(operations=offered(slices), closes=(following.close,))
