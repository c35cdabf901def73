"""The part "Plan" of a negotiation's page: the newest battle plan as HTML."""

from typing import Any

from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.markdown_html import render_markdown
from negotiator.console.page_calls import PageCalls
from negotiator.errors import NotFound


async def plan_part(
    calls: PageCalls, session: SignedInSession, view: dict[str, Any]
) -> dict[str, Any]:
    """What the template of the part reads."""
    return {"plan": await _newest(calls, session, view["id"])}


async def _newest(
    calls: PageCalls, session: SignedInSession, negotiation: str
) -> dict[str, Any] | None:
    """The newest plan as HTML, with its version and whether the negotiation has moved on; None without one."""
    named = {"id": negotiation}
    newest = await calls.run(session, "list_battle_plans", {**named, "limit": 1})
    if not newest["items"]:
        return None
    plan = newest["items"][0]
    members = {**named, "plan_id": plan["id"]}
    try:
        text = await calls.text(session, "get_battle_plan", members, accept="text/markdown")
    except NotFound:
        return None
    return {**plan, "html": render_markdown(_below_the_page(text))}


def _below_the_page(text: str) -> str:
    """The plan's markdown with its headings one level down and without its title, which the page has."""
    lines = text.split("\n")
    return "\n".join(f"#{line}" if line.startswith("##") else line for line in lines[1:])
