"""`/tools`: a search over the directory with counted filters; `/tools/{slug}`: one tool with its evidence.

`/collections`: a user's collections of tools, one with its order and notes, and the page behind a share link.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.base.errors import Gone, NotFound, PreconditionFailed, Refusal
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_calls import Members, OpenPages, Reader
from negotiator.console.page_router import NO_FORM, FormFields, RefusedForm, read_whole, said_with_labels
from negotiator.console.tools import tool_view
from negotiator.directory.catalogue_pages import TOOL_PAGE_PATH, TOOLS_PAGE_PATH, tool_markdown
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.discovery.documents import HTML, negotiated_response
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


MOST_COLLECTIONS: Final = 100
NEW: Final = "new"
"""The choice of a collection that is made for the tool."""
_GONE: Final = {404: "There is no such tool", 410: "This tool was removed"}


@dataclass(frozen=True, slots=True)
class ToolPage:
    """The page of one tool, for everyone, and the forms of signed-in users."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        form = self.pages.router.form
        return [
            self.pages.route(TOOL_PAGE_PATH, self.show),
            form(f"{TOOL_PAGE_PATH}/save", self.save, again=self.again, back=TOOLS_PAGE_PATH),
            form(f"{TOOL_PAGE_PATH}/report", self.report, again=self.again, back=TOOLS_PAGE_PATH),
        ]

    async def show(self, request: Request, reader: Reader) -> Response:
        key: str = request.path_params["slug"]
        try:
            tool = await self.pages.run(request, reader, "get_tool", {"id": key})
        except (NotFound, Gone) as refusal:
            return self._gone(refusal, reader)
        if key != tool["slug"]:
            place = f"{self.pages.site.root}{TOOLS_PAGE_PATH}/{tool['slug']}"
            return RedirectResponse(place, 301)
        page = await self._page(request, reader, tool)
        if reader is not None:
            return page
        markdown = tool_markdown(self.pages.site, tool)
        told = {name: value for name, value in page.headers.items() if name in _KEPT}
        if page.status_code == 200 and page.headers["content-type"] == HTML:
            return negotiated_response(request, bytes(page.body), markdown.encode(), told)
        return page

    async def save(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Put the tool into a collection, or into a new one."""
        tool, collection = await self._tool(request, session), form.get("collection", "")
        run = self.pages.calls.run
        if collection in ("", NEW):
            collection = (await run(session, "save_collection", {"name": form.get("name", "").strip()}))["id"]
        members = {"id": collection, "tool_id": tool["id"]}
        if form.get("note", "").strip():
            members["note"] = form["note"].strip()
        await run(session, "put_in_collection", members)
        place = f"{TOOLS_PAGE_PATH}/{tool['slug']}?saved={collection}#save"
        return self.pages.router.pages.see(place)

    async def report(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Report a problem with the tool."""
        tool = await self._tool(request, session)
        members = {"id": tool["id"], "reason": form.get("reason", ""), "details": form.get("details", "").strip()}
        await self.pages.calls.run(session, "report_tool", members)
        return self.pages.router.pages.see(f"{TOOLS_PAGE_PATH}/{tool['slug']}?reported=1#report")

    async def _tool(self, request: Request, session: SignedInSession) -> Members:
        return await self.pages.calls.run(session, "get_tool", {"id": request.path_params["slug"]})

    async def again(self, request: Request, session: SignedInSession, form: RefusedForm) -> Response:
        """The page with what was typed and the refusal at its form."""
        return await self._page(request, session, await self._tool(request, session), form)

    async def _page(self, request: Request, reader: Reader, tool: Members, form: RefusedForm = NO_FORM) -> Response:
        others = await self.pages.run(request, reader, "list_alternatives", {"id": tool["id"]})
        collections: list[Members] = []
        if reader is not None:
            limit = {"limit": MOST_COLLECTIONS}
            collections = (await self.pages.calls.run(reader, "list_collections", limit))["items"]
        query = request.query_params
        return self.pages.render(
            request,
            reader,
            "tool.html",
            status=form.status,
            here="tools",
            tool=tool,
            words=tool_view,
            evidence={line["field"]: line for line in tool["evidence"]},
            facts=tool_view.tool_facts(tool),
            installs=tool_view.install_texts(tool),
            install_basis=tool_view.install_basis(tool),
            others=others["items"],
            collections=collections,
            saved=next((each for each in collections if each["id"] == query.get("saved")), None),
            reported="reported" in query,
            typed=form.typed,
            faults={form.name: said_with_labels(form, _FIELDS)},
        )

    def _gone(self, refusal: Refusal, reader: Reader) -> Response:
        return self.pages.refused(refusal, _GONE[refusal.status], reader)


_KEPT: Final = frozenset({"content-security-policy", "cache-control", "vary"})
_FIELDS: Final = {"/name": "The name: ", "/reason": "The reason: ", "/details": "What is wrong: "}


COLLECTIONS_PAGE_PATH: Final = "/collections"
COLLECTION_PAGE_PATH: Final = "/collections/{id}"
SHARED_PAGE_PATH: Final = "/shared/{token}"
MOST: Final = 100
_AT_ONCE: Final = 100
_LABELS: Final = {"/name": "The name: ", "/description": "What it is for: ", "/note": "The note: "}
_CHANGED: Final = "It was changed elsewhere meanwhile. Look at it below and send your change again."


@dataclass(frozen=True, slots=True)
class CollectionPages:
    """The pages of collections and their forms."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        page, form = self.pages.router.page, self.pages.router.form
        one, item = COLLECTION_PAGE_PATH, f"{COLLECTION_PAGE_PATH}/items/{{tool}}"
        return [
            page(COLLECTIONS_PAGE_PATH, self.show_all),
            form(COLLECTIONS_PAGE_PATH, self.make, again=self.show_all),
            page(one, self.show),
            form(one, self.edit, again=self.show, back=COLLECTIONS_PAGE_PATH),
            form(f"{one}/share", self.share, again=self.show, back=COLLECTIONS_PAGE_PATH),
            form(f"{one}/delete", self.delete, again=self.show, back=COLLECTIONS_PAGE_PATH),
            form(item, self.change_item, again=self.show, back=COLLECTIONS_PAGE_PATH),
            form(f"{item}/remove", self.remove_item, back=COLLECTIONS_PAGE_PATH),
            self.pages.route(SHARED_PAGE_PATH, self.show_shared),
        ]

    async def make(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Make an empty collection."""
        return self._see((await self.pages.calls.run(session, "save_collection", _named(form)))["id"])

    async def edit(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Change the name and the description."""
        return await self._act(request, session, form, "edit_collection", _named(form))

    async def share(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Make a link for everyone, or end it."""
        wanted = "unlisted" if form.get("share") == "yes" else "private"
        return await self._act(request, session, form, "edit_collection", {"visibility": wanted})

    async def delete(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        return await self._act(request, session, form, "delete_collection", {}, back=COLLECTIONS_PAGE_PATH)

    async def change_item(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Move a tool or change its note."""
        members: Members = {"tool_id": request.path_params["tool"]}
        position = form.get("position", "")
        if position.isascii() and position.isdecimal() and len(position) < 5:
            members["position"] = int(position)
        if "note" in form:
            members["note"] = _text(form, "note")
        return await self._act(request, session, form, "put_in_collection", members, if_unchanged=False)

    async def remove_item(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        key, tool = request.path_params["id"], request.path_params["tool"]
        await self.pages.calls.run(session, "drop_from_collection", {"id": key, "tool_id": tool})
        return self._see(key)

    async def show_shared(self, request: Request, reader: Reader) -> Response:
        """The collection of a share link, for everyone who has it."""
        token: str = request.path_params["token"]
        try:
            found = await self.pages.run(request, reader, "get_shared_collection", {"token": token})
        except Refusal as refusal:
            return self.pages.refused(refusal, "This link leads nowhere any more", reader)
        return self.pages.render(
            request,
            reader,
            "shared_collection.html",
            headers={"cache-control": "no-store", "referrer-policy": "no-referrer"},
            here="tools",
            collection=found,
            words=tool_view,
            tools=await self._tools(request, reader, found["items"]),
        )

    async def _act(
        self,
        request: Request,
        session: SignedInSession,
        form: FormFields,
        operation: str,
        members: Members,
        *,
        back: str = "",
        if_unchanged: bool = True,
    ) -> Response:
        """Run an operation on the collection, then show it, or the page at `back`.

        With `if_unchanged` only on the revision that the form showed.
        """
        key: str = request.path_params["id"]
        revision = read_whole(form.get("revision", "")) if if_unchanged else None
        await self.pages.calls.run(session, operation, {"id": key, **members}, revision=revision)
        return self.pages.router.pages.see(back) if back else self._see(key)

    async def show_all(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        found = (await self.pages.calls.run(session, "list_collections", {"limit": MOST}))["items"]
        return self.pages.render(
            request,
            session,
            "collections.html",
            status=form.status,
            here="tools",
            collections=found,
            typed=form.typed,
            said=said_with_labels(form, _LABELS),
        )

    async def show(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        found = await self.pages.calls.run(session, "get_collection", {"id": request.path_params["id"]})
        link: str = found["share_url"] or ""
        token = link.rpartition("/")[2]
        return self.pages.render(
            request,
            session,
            "collection.html",
            status=form.status,
            here="tools",
            collection=found,
            owned=await self._is_own(session, found),
            words=tool_view,
            share_link=f"{self.pages.site.base}{SHARED_PAGE_PATH.format(token=token)}" if token else "",
            tools=await self._tools(request, session, found["items"]),
            typed=form.typed,
            said=_CHANGED if isinstance(form.refusal, PreconditionFailed) else said_with_labels(form, _LABELS),
        )

    async def _is_own(self, session: SignedInSession, found: Members) -> bool:
        """Whether a collection is the user's: of others only public ones are shown, without their link."""
        if found["visibility"] != "public" or found["share_url"]:
            return True
        own = await self.pages.calls.run(session, "list_collections", {"limit": MOST})
        return any(each["id"] == found["id"] for each in own["items"])

    async def _tools(self, request: Request, reader: Reader, items: list[Members]) -> dict[str, Members]:
        """The tools of these items by id; without those that were removed."""
        known: dict[str, Members] = {}
        ids = [item["tool_id"] for item in items if item["status"] != "deleted"]
        for start in range(0, len(ids), _AT_ONCE):
            answer = await self.pages.run(request, reader, "get_tools", {"ids": ids[start : start + _AT_ONCE]})
            known |= {tool["id"]: tool for tool in answer["items"]}
        return known

    def _see(self, key: str) -> Response:
        return self.pages.router.pages.see(COLLECTION_PAGE_PATH.format(id=key))


def _text(form: FormFields, name: str) -> str:
    return form.get(name, "").replace("\r\n", "\n").strip()


def _named(form: FormFields) -> Members:
    return {"name": form.get("name", "").strip(), "description": _text(form, "description")}
