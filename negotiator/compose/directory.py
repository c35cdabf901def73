"""The component of the AI tools directory."""

from dataclasses import replace
from typing import Final

from starlette.routing import Route

from negotiator.compose.services import Component, OperationSlice, Services, offered_operations
from negotiator.directory import catalogue_pages
from negotiator.directory.accounts_registration import DirectoryRegistration, IdleAgentSweep, PublishedKeyRechecks
from negotiator.directory.accounts_routes import DIRECTORY_BASELINE_BUDGET, DirectoryAccounts
from negotiator.directory.address_reader import AddressReader
from negotiator.directory.catalogue_index import ToolVectors
from negotiator.directory.catalogue_pages import PAGES_SITEMAP, TOOL_PAGE_PATH, TOOLS_PAGE_PATH, TOOLS_SITEMAP, Sitemaps
from negotiator.directory.claims import ClaimFiles
from negotiator.directory.claims_routes import PublisherClaims
from negotiator.directory.collections_routes import Collections
from negotiator.directory.draft_checks import ToolNameIndex
from negotiator.directory.exchange_routes import CatalogueExchange
from negotiator.directory.identity_proof import PublishedKeys
from negotiator.directory.listing_routes import CatalogueListing
from negotiator.directory.submissions_routes import Submissions
from negotiator.discovery.crawlers import SITEMAP_PATH as SITEMAP
from negotiator.discovery.site import SiteDescription
from negotiator.http.operation import Operation
from negotiator.memory.embedding.minilm_embedder import choose_embedder

DIRECTORY_PAGE_PATHS: Final = (
    TOOLS_PAGE_PATH,
    TOOL_PAGE_PATH,
    SITEMAP,
    PAGES_SITEMAP,
    TOOLS_SITEMAP,
    catalogue_pages.SOURCES_PATH,
)


def build_directory(services: Services) -> Component:
    """Build the component."""
    base, store, cursors = services.settings.base_url, services.store, services.cursors
    catalogue_index, keys = services.catalogue_index, PublishedKeys(services.client_urls)
    # Always the local model: what people look for in the directory goes to no other host.
    models = services.settings.models_folder
    embedder = choose_embedder("", key="", model="", models=models)
    if not embedder.lesser:
        catalogue_index.vectors = ToolVectors(embedder, models)
    names, files = ToolNameIndex(store), ClaimFiles(services.secret, services.client_urls)
    slices: list[OperationSlice] = [
        CatalogueListing(base, store, cursors, catalogue_index),
        CatalogueExchange(base, store, cursors, catalogue_index),
        _accounts(services, keys),
        Collections(base, store, cursors),
        Submissions(base, store, cursors, names, AddressReader(services.client_urls)),
        PublisherClaims(base, store, files, names),
    ]

    def public_pages(site: SiteDescription) -> list[Route]:
        return [*Sitemaps(services.store, site).routes(), catalogue_pages.sources_route(site)]

    return Component(
        operations=tuple(_public(operation) for operation in offered_operations(slices)),
        public_pages=public_pages,
        page_paths=DIRECTORY_PAGE_PATHS,
        checks={"search": catalogue_index.state},
        periodic_tasks=(catalogue_index.warm, PublishedKeyRechecks(store, keys), IdleAgentSweep(store)),
        closes=(embedder.close,),
    )


def _public(operation: Operation) -> Operation:
    """The operation with the directory's own baseline budget, which sign-in and token requests do not use up."""
    return replace(operation, baseline=DIRECTORY_BASELINE_BUDGET) if operation.access == "public" else operation


def _accounts(services: Services, keys: PublishedKeys) -> DirectoryAccounts:
    base, store = services.settings.base_url, services.store
    return DirectoryAccounts(
        base=base,
        store=store,
        levels=services.rate_levels,
        registration=DirectoryRegistration(base, store, services.secret, services.mails, keys),
        credentials=services.credentials,
    )
