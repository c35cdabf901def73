"""The wing of the AI tools directory."""

from typing import Final

from starlette.routing import Route

from negotiator.directory.listing.following import Following
from negotiator.directory.listing.routes import Listing
from negotiator.directory.pages import sources
from negotiator.directory.pages.shelf import PATH, TOOL, Shelf
from negotiator.directory.pages.sitemaps import PAGES, TOOLS, Sitemaps
from negotiator.discovery.agents.sitemap import PATH as SITEMAP
from negotiator.discovery.site import Site
from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Slice, Wing, offered

ADDRESSES: Final = (PATH, TOOL, SITEMAP, PAGES, TOOLS, sources.PATH)


def directory(ground: Ground) -> Wing:
    """Make the wing; the hottest slice first."""
    base, store, cursors = ground.settings.base_url, ground.store, ground.cursors
    following = Following(store)
    slices: list[Slice] = [Listing(base, store, cursors, following)]

    def shown(site: Site) -> list[Route]:
        shelf = Shelf(store, cursors, following, ground.doorway, site)
        return [*shelf.routes(), *Sitemaps(store, site).routes(), sources.route(site)]

    return Wing(
        operations=offered(slices),
        shown=shown,
        addresses=ADDRESSES,
        closes=(following.close,),
    )
