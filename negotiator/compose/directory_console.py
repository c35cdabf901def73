"""The pages of the directory in the console: for everyone, for signed-in users, and for administrators."""

from starlette.routing import Route

from negotiator.compose.services import Services
from negotiator.console.admin.admin_router import AdminRouter
from negotiator.console.admin.admin_submissions import AdminSubmissions
from negotiator.console.open_pages import OpenPages
from negotiator.console.tools.collections_page import CollectionPages
from negotiator.console.tools.submission_pages import ClaimToolPage, SubmissionPages, SubmitToolPages
from negotiator.console.tools.tool_page import ToolPage
from negotiator.console.tools.tools_page import ToolsPage


def build_directory_pages(services: Services, pages: OpenPages) -> tuple[Route, ...]:
    """The routes; none where the directory does not run."""
    if "directory" not in services.settings.services:
        return ()
    return (
        *ToolsPage(pages).routes(),
        *SubmitToolPages(pages).routes(),
        *SubmissionPages(pages).routes(),
        *ClaimToolPage(pages).routes(),
        *ToolPage(pages).routes(),
        *CollectionPages(pages).routes(),
        *AdminSubmissions(AdminRouter(services.page_router), services.settings.base_url).routes(),
    )
