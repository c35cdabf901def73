"""The console: the pages on which users prepare, follow and steer their negotiations."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.compose.services import Services
from negotiator.console.admin.admin_router import AdminRouter
from negotiator.console.admin.admin_submissions import AdminSubmissions
from negotiator.console.browser_sessions import AnySession, SignedInSession
from negotiator.console.docs_pages import DocsPages, ReferenceGroup, reference_groups
from negotiator.console.guides_content import all_guides
from negotiator.console.home_page import GoPage, HomePage, NegotiationsPage
from negotiator.console.live.live_page import LiveCallPage, LivePage
from negotiator.console.live.rehearsals_page import RehearsalsPage
from negotiator.console.owned.memories_page import MemoriesPage
from negotiator.console.owned.tactics_page import TacticsPage
from negotiator.console.owned.wins_page import WinsPage
from negotiator.console.page_calls import OpenPages, PageCalls
from negotiator.console.people.agents_page import AgentPage
from negotiator.console.talk.prepare_page import PreparePage
from negotiator.console.talk.workspace_page import WorkspacePage
from negotiator.console.tools.submission_pages import ClaimToolPage, SubmissionPages
from negotiator.console.tools.tools_page import CollectionPages, ToolPage, ToolsPage
from negotiator.discovery.documents import PublicDocument, serve_document
from negotiator.discovery.site import SiteDescription
from negotiator.http.operation import ServiceDescription
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.tokens.refresh_tokens import RefreshTokens


def build_console(
    services: Services, service: ServiceDescription, public_home: PublicDocument, site: SiteDescription
) -> tuple[Route, ...]:
    """The routes of the pages that call operations.

    `public_home` is what `/` answers to programs and to people who are not signed in.
    """
    router, calls = services.page_router, PageCalls(service, services.pipeline)
    pages = OpenPages(router, calls, site)
    docs = DocsPages(pages, BuiltOnce(lambda: _documentation(site)))
    everywhere = (*docs.routes(), *GoPage(router, calls).routes(), *build_directory_pages(services, pages))
    if "assistant" not in services.settings.services:
        return everywhere
    home = HomePage(router, calls)

    async def show_home(request: Request, session: AnySession) -> Response:
        if isinstance(session, SignedInSession):
            return await home.show(request, session)
        return serve_document(public_home, request)

    return (
        router.open_page(public_home.path, show_home),
        *home.routes(),
        *everywhere,
        *PreparePage(router, calls).routes(),
        *WorkspacePage(router, calls).routes(),
        *RehearsalsPage(router, calls).routes(),
        *LivePage(router, calls).routes(),
        *LiveCallPage(router, calls).routes(),
        *NegotiationsPage(router, calls).routes(),
        *MemoriesPage(router, calls).routes(),
        *_agent_page(services, calls).routes(),
        *WinsPage(router, calls).routes(),
        *TacticsPage(router, calls).routes(),
    )


def _agent_page(services: Services, calls: PageCalls) -> AgentPage:
    settings = services.settings
    refreshing = RefreshTokens(services.secret, settings.refresh_ttl)
    return AgentPage(services.page_router, calls, services.agent_calls, refreshing)


def _documentation(site: SiteDescription) -> tuple[ReferenceGroup, ...]:
    """The reference; the guides beside it are read too."""
    all_guides()
    return reference_groups(site)


def build_directory_pages(services: Services, pages: OpenPages) -> tuple[Route, ...]:
    """The routes; none where the directory does not run."""
    if "directory" not in services.settings.services:
        return ()
    return (
        *ToolsPage(pages).routes(),
        *SubmissionPages(pages).routes(),
        *ClaimToolPage(pages).routes(),
        *ToolPage(pages).routes(),
        *CollectionPages(pages).routes(),
        *AdminSubmissions(AdminRouter(services.page_router), services.settings.base_url).routes(),
    )
