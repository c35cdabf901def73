"""`/auth.md`: how an agent gets a token here, as instructions with commands that it can run."""

from negotiator.discovery.authorization_metadata import ID_JAG
from negotiator.discovery.page_frame import render_page
from negotiator.discovery.site import SiteDescription
from negotiator.scopes import ANONYMOUS


def auth_md(site: SiteDescription) -> str:
    """The page as markdown: a part for each kind of registration that is offered, then what holds for all."""
    anonymous = ", ".join(f"`{scope}`" for scope in ANONYMOUS)
    return render_page(site, "auth.md", anonymous=anonymous, id_jag=ID_JAG)
