"""`/llms.txt`, a short map of the origin for language models (llmstxt.org), and `/llms-full.txt`, all in one file."""

from typing import Final

from negotiator.base.scopes import ordered
from negotiator.discovery.mcp_card import CARD_PATH
from negotiator.discovery.operation_examples import curl_command
from negotiator.discovery.page_frame import render_page
from negotiator.discovery.public_pages import MANUAL_PATH, PUBLISH_GUIDE_PATH
from negotiator.discovery.site import SiteDescription
from negotiator.discovery.skills import offered_skills

LLMS_PATH: Final = "/llms.txt"
LLMS_FULL_PATH: Final = "/llms-full.txt"


def llms_txt(site: SiteDescription) -> str:
    """The map: a heading, a summary, and sections of links; every link works."""
    return render_page(
        site,
        "llms.md",
        skills=offered_skills(site.service),
        ordered=ordered,
        card=CARD_PATH,
        manual=MANUAL_PATH,
        publish_guide=PUBLISH_GUIDE_PATH,
    )


def llms_full_txt(site: SiteDescription, auth_md: str) -> str:
    """Everything an agent needs in one file: `auth_md`, the skills, and every operation with an example."""
    known = {"skills": offered_skills(site.service), "ordered": ordered, "curl_command": curl_command}
    return render_page(site, "llms-full.md", auth_md=auth_md, **known)
