"""`/auth.md`: how an agent gets a token, as instructions with commands that it can run."""

from negotiator.base.scopes import ANONYMOUS
from negotiator.discovery.authorization_metadata import ID_JAG
from negotiator.discovery.page_frame import render_page
from negotiator.discovery.site import SiteDescription


def auth_md(site: SiteDescription) -> str:
    """The page as markdown: a section for each kind of registration that is offered, then the sections that are always
    there.
    """
    anonymous = ", ".join(f"`{scope}`" for scope in ANONYMOUS)
    return render_page(site, "auth.md", anonymous=anonymous, id_jag=ID_JAG)
