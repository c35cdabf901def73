"""The wing of the AI tools directory."""

from dataclasses import replace
from typing import Final

from starlette.routing import Route

from negotiator.compose.component import Component, OperationSlice, offered_operations
from negotiator.compose.services import Services
from negotiator.directory import catalogue_pages
from negotiator.directory.accounts_maintenance import IdleAgentSweep, PublishedKeyRechecks
from negotiator.directory.accounts_registration import DirectoryRegistration
from negotiator.directory.accounts_routes import DIRECTORY_BASELINE_BUDGET, DirectoryAccounts
from negotiator.directory.catalogue_pages import TOOL_PAGE_PATH, TOOLS_PAGE_PATH, CataloguePages
from negotiator.directory.collections_routes import Collections
from negotiator.directory.exchange_routes import CatalogueExchange
from negotiator.directory.identity_keys import PublishedKeys
from negotiator.directory.identity_verification import CodeMailer, IdentityVerification
from negotiator.directory.listing_routes import CatalogueListing
from negotiator.directory.name_index import ToolNameIndex
from negotiator.directory.reports_routes import Reports
from negotiator.directory.sitemaps import PAGES_SITEMAP, TOOLS_SITEMAP, Sitemaps
from negotiator.directory.submissions_routes import Submissions
from negotiator.discovery.crawlers import SITEMAP_PATH as SITEMAP
from negotiator.discovery.site import SiteDescription
from negotiator.http.operation import Operation

DIRECTORY_PAGE_PATHS: Final = (
    TOOLS_PAGE_PATH,
    TOOL_PAGE_PATH,
    SITEMAP,
    PAGES_SITEMAP,
    TOOLS_SITEMAP,
    catalogue_pages.SOURCES_PATH,
)


def build_directory(ground: Services) -> Component:
    """Make the wing; the hottest slice first."""
    base, store, cursors = ground.settings.base_url, ground.store, ground.cursors
    following, keys = ground.following, PublishedKeys(ground.named_hosts)
    slices: list[OperationSlice] = [
        CatalogueListing(base, store, cursors, following),
        CatalogueExchange(base, store, cursors, following),
        _accounts(ground, keys),
        Collections(base, store, cursors),
        Submissions(base, store, cursors, ToolNameIndex(store)),
        Reports(store),
    ]

    def shown(site: SiteDescription) -> list[Route]:
        shelf = CataloguePages(store, cursors, following, ground.doorway, site)
        return [
            *shelf.routes(),
            *Sitemaps(store, site).routes(),
            catalogue_pages.sources_route(site),
        ]

    return Component(
        operations=tuple(_public(operation) for operation in offered_operations(slices)),
        shown=shown,
        addresses=DIRECTORY_PAGE_PATHS,
        chores=(
            following.warm,
            PublishedKeyRechecks(store, keys),
            IdleAgentSweep(store, ground.settings.key_unused_days),
        ),
        closes=(following.close,),
    )


def _public(operation: Operation) -> Operation:
    """Every public operation of the directory has its baseline, apart from the one that sign-in and tokens share."""
    return (
        replace(operation, baseline=DIRECTORY_BASELINE_BUDGET)
        if operation.access == "public"
        else operation
    )


def _accounts(ground: Services, keys: PublishedKeys) -> DirectoryAccounts:
    base, store = ground.settings.base_url, ground.store
    registration = DirectoryRegistration(ground.secret)
    return DirectoryAccounts(
        base=base,
        store=store,
        levels=ground.levels,
        registration=registration,
        verification=IdentityVerification(base, store, registration, keys),
        mailing=CodeMailer(base, ground.mailer),
        credentials=ground.credentials,
    )
