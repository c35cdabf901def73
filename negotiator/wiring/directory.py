"""The wing of the AI tools directory."""

from dataclasses import replace
from typing import Final

from starlette.routing import Route

from negotiator.directory.accounts.proving.mailing import Mailing
from negotiator.directory.accounts.registration import Registration
from negotiator.directory.accounts.routes import BASELINE, Accounts
from negotiator.directory.accounts.signing.published import PublishedKeys
from negotiator.directory.accounts.upkeep.idle import Idle
from negotiator.directory.accounts.upkeep.rechecks import Rechecks
from negotiator.directory.accounts.verification import Verification
from negotiator.directory.bookmarks.routes import Bookmarks
from negotiator.directory.exchange.routes import Exchange
from negotiator.directory.listing.routes import Listing
from negotiator.directory.pages import sources
from negotiator.directory.pages.shelf import PATH, TOOL, Shelf
from negotiator.directory.pages.sitemaps import PAGES, TOOLS, Sitemaps
from negotiator.directory.reports.routes import Reports
from negotiator.directory.submissions.proposing.naming import Naming
from negotiator.directory.submissions.routes import Submissions
from negotiator.discovery.agents.sitemap import PATH as SITEMAP
from negotiator.discovery.site import Site
from negotiator.edge.operation import Operation
from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Slice, Wing, offered

ADDRESSES: Final = (PATH, TOOL, SITEMAP, PAGES, TOOLS, sources.PATH)


def directory(ground: Ground) -> Wing:
    """Make the wing; the hottest slice first."""
    base, store, cursors = ground.settings.base_url, ground.store, ground.cursors
    following, keys = ground.following, PublishedKeys(ground.named_hosts)
    slices: list[Slice] = [
        Listing(base, store, cursors, following),
        Exchange(base, store, cursors, following),
        _accounts(ground, keys),
        Bookmarks(base, store, cursors),
        Submissions(base, store, cursors, Naming(store)),
        Reports(store),
    ]

    def shown(site: Site) -> list[Route]:
        shelf = Shelf(store, cursors, following, ground.doorway, site)
        return [*shelf.routes(), *Sitemaps(store, site).routes(), sources.route(site)]

    return Wing(
        operations=tuple(_public(operation) for operation in offered(slices)),
        shown=shown,
        addresses=ADDRESSES,
        chores=(
            following.warm,
            Rechecks(store, keys),
            Idle(store, ground.settings.key_unused_days),
        ),
        closes=(following.close,),
    )


def _public(operation: Operation) -> Operation:
    """Every public operation of the directory has its baseline, apart from the one that sign-in and tokens share."""
    return replace(operation, baseline=BASELINE) if operation.access == "public" else operation


def _accounts(ground: Ground, keys: PublishedKeys) -> Accounts:
    base, store = ground.settings.base_url, ground.store
    registration = Registration(ground.secret)
    return Accounts(
        base=base,
        store=store,
        levels=ground.levels,
        registration=registration,
        verification=Verification(base, store, registration, keys),
        mailing=Mailing(base, ground.mailer),
        credentials=ground.credentials,
    )
