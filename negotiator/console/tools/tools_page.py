"""`/tools`: a search over the directory with counted filters, in place or as a plain form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Refusal
from negotiator.console.open_pages import OpenPages, Reader
from negotiator.console.page_calls import Members
from negotiator.console.tools import tool_view
from negotiator.directory.catalogue_pages import TOOLS_PAGE_PATH
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.http.input import parse_query

Chosen = Mapping[str, Sequence[str]]
"""The values of each parameter of the page's address."""


@dataclass(frozen=True, slots=True)
class FilterName:
    """A filter: its heading, and the words of its values; without words a value is shown as it is.

    Of a `single` filter one value is chosen at a time; one that is `open` is unfolded before a value is chosen.
    """

    heading: str
    words: Mapping[str, str]
    single: bool = False
    open: bool = False


FILTERS: Final[Mapping[str, FilterName]] = {
    "category": FilterName("Category", tool_view.CATEGORIES, open=True),
    "kind": FilterName("Kind", tool_view.KINDS, open=True),
    "auth": FilterName("Sign-in", tool_view.SIGN_IN),
    "pricing": FilterName("Price", tool_view.PRICES),
    "licence": FilterName("Licence", {}),
    "open_source": FilterName("Source code", {"true": "Open", "false": "Closed"}, single=True, open=True),
    "verified": FilterName("Publisher", {"true": "Verified", "false": "Not verified"}, single=True),
}


def counted_filters(facets: Members, chosen: Chosen) -> dict[str, dict[str, int]]:
    """How many tools each value of each filter has; a chosen value stays to be seen when no tool has it.

    A filter with one value would narrow nothing and is left out.
    """
    made: dict[str, dict[str, int]] = {}
    for name, filter_name in FILTERS.items():
        picked = chosen.get(name, ())
        found = {line["value"]: int(line["count"]) for line in facets.get(name, ())}
        every = {**found, **{value: 0 for value in picked if value not in found}}
        counted = {value: n for value, n in every.items() if not filter_name.words or value in filter_name.words}
        if len(counted) > 1 or picked:
            made[name] = counted
    return made


def chosen_filters(chosen: Chosen) -> list[tuple[str, str]]:
    """Each chosen value in words, and the query of the page without it."""
    return [
        (
            f"{FILTERS[name].heading}: {_word(name, value)}",
            query_of({**chosen, name: [one for one in values if one != value]}),
        )
        for name, values in chosen.items()
        if name in FILTERS
        for value in values
    ]


def query_of(chosen: Chosen) -> str:
    """The query of the page's address, with its question mark; empty when nothing is chosen."""
    text = urlencode(chosen, doseq=True)
    return f"?{text}" if text else ""


def _word(name: str, value: str) -> str:
    return FILTERS[name].words.get(value, value)


_PAGE: Final = 24
_LISTS: Final = frozenset(name for name, each in FILTERS.items() if not each.single)
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

    def _page(self, request: Request, reader: Reader, chosen: dict[str, list[str]], found: Members) -> Response:
        cursor, text = found["next_cursor"], "".join(chosen.get("query", ()))
        sort = "".join(chosen.get("sort", ()))
        listed = {name: values for name, values in chosen.items() if name != "cursor"}
        categories = chosen.get("category", [])
        here = query_of(chosen)
        return self.pages.render(
            request,
            reader,
            "tools.html",
            headers={"hx-push-url": f"{self.pages.site.root}{TOOLS_PAGE_PATH}{here}"},
            here="tools",
            text=text,
            sort=sort,
            category=TAXONOMY[categories[0]] if len(categories) == 1 else None,
            total=found["total"],
            corrected=found["query"]["corrected"] if found["query"] else [],
            filters=counted_filters(found["facets"], chosen),
            names=FILTERS,
            chosen=chosen,
            picked=chosen_filters(listed),
            without_filters=query_of({"query": [text] if text else []}),
            tools=found["items"],
            words=tool_view,
            next_query=query_of({**listed, "cursor": [cursor]}) if cursor else "",
            first_query=query_of(listed) if "cursor" in chosen else "",
            indexed=set(listed) <= {"category"} and "cursor" not in chosen,
        )


def _chosen(request: Request) -> dict[str, list[str]]:
    """The parameters of the address that are not empty."""
    given: dict[str, str | list[str]] = parse_query(request.scope["query_string"], _LISTS)
    return {name: [value] if isinstance(value, str) else value for name, value in given.items() if value}


def _members(chosen: dict[str, list[str]]) -> Members:
    members: Members = {name: tuple(values) if name in _LISTS else values[0] for name, values in chosen.items()}
    for name in FILTERS.keys() - _LISTS:
        if members.get(name) in ("true", "false"):
            members[name] = members[name] == "true"
    if not members.get("query"):
        members.setdefault("sort", "proven")
    return {**members, "facets": tuple(FILTERS), "limit": _PAGE}
