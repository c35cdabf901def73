"""`/tools`: a search over the directory with counted filters, in place or as a plain form."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Refusal
from negotiator.console.open_pages import OpenPages, Reader
from negotiator.console.tools import tools_view
from negotiator.directory.catalogue_pages import TOOLS_PAGE_PATH
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.http.input import parse_query

_PAGE: Final = 24
_LISTS: Final = frozenset(tools_view.FILTERS) - tools_view.SINGLE
REFUSED: Final = "This page cannot be shown"


@dataclass(frozen=True, slots=True)
class ToolsPage:
    """The search page, for everyone."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        return [self.pages.route(TOOLS_PAGE_PATH, self.show)]

    async def show(self, request: Request, reader: Reader) -> Response:
        try:
            chosen = _chosen(request)
            found = await self.pages.run(request, reader, "list_tools", _members(chosen))
        except Refusal as refusal:
            return self.pages.refused(refusal, REFUSED, reader)
        return self._page(request, reader, chosen, found)

    def _page(self, request: Request, reader: Reader, chosen: dict[str, list[str]], found: dict[str, Any]) -> Response:
        cursor, text = found["next_cursor"], "".join(chosen.get("query", ()))
        sort = "".join(chosen.get("sort", ()))
        listed = {name: values for name, values in chosen.items() if name != "cursor"}
        categories = chosen.get("category", [])
        here = tools_view.query_of(chosen)
        return self.pages.render(
            request,
            reader,
            "tools.html",
            headers={"hx-push-url": f"{self.pages.site.root}{TOOLS_PAGE_PATH}{here}"},
            here="tools",
            text=text,
            sort=sort,
            sorts=tools_view.SORTS,
            category=TAXONOMY[categories[0]] if len(categories) == 1 else None,
            count=tools_view.count_text(found["total"]),
            corrected=found["query"]["corrected"] if found["query"] else [],
            filters=tools_view.counted_filters(found["facets"], chosen),
            picked=tools_view.chosen_filters(listed),
            without_filters=tools_view.query_of({"query": [text] if text else []}),
            tools=[tools_view.found_tool(tool, sort) for tool in found["items"]],
            next_query=tools_view.query_of({**listed, "cursor": [cursor]}) if cursor else "",
            first_query=tools_view.query_of(listed) if "cursor" in chosen else "",
            indexed=set(listed) <= {"category"} and "cursor" not in chosen,
        )


def _chosen(request: Request) -> dict[str, list[str]]:
    """The parameters of the address that are not empty."""
    given: dict[str, str | list[str]] = parse_query(request.scope["query_string"], _LISTS)
    return {name: [value] if isinstance(value, str) else value for name, value in given.items() if value}


def _members(chosen: dict[str, list[str]]) -> dict[str, Any]:
    members: dict[str, Any] = {name: tuple(values) if name in _LISTS else values[0] for name, values in chosen.items()}
    for name in tools_view.SINGLE:
        if members.get(name) in ("true", "false"):
            members[name] = members[name] == "true"
    if not members.get("query"):
        members.setdefault("sort", "proven")
    return {**members, "facets": tuple(tools_view.FILTERS), "limit": _PAGE}
