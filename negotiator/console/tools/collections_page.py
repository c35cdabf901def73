"""`/collections`: a user's collections of tools, one with its order and notes, and the page behind a share link."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import NotFound, Refusal, ValidationFailed
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.open_pages import OpenPages, Reader
from negotiator.console.page_calls import Members
from negotiator.console.page_router import FormFields, read_whole
from negotiator.console.tools import tool_view

COLLECTIONS_PAGE_PATH: Final = "/collections"
COLLECTION_PAGE_PATH: Final = "/collections/{id}"
SHARED_PAGE_PATH: Final = "/shared/{token}"
MOST: Final = 100
_AT_ONCE: Final = 100
_LABELS: Final = {"/name": "The name: ", "/description": "What it is for: ", "/note": "The note: "}


@dataclass(frozen=True, slots=True)
class CollectionPages:
    """The pages of collections and their forms."""

    pages: OpenPages

    def routes(self) -> list[Route]:
        page, form = self.pages.router.page, self.pages.router.form
        one, item = COLLECTION_PAGE_PATH, f"{COLLECTION_PAGE_PATH}/items/{{tool}}"
        return [
            page(COLLECTIONS_PAGE_PATH, self.show_all),
            form(COLLECTIONS_PAGE_PATH, self.make),
            page(one, self.show),
            form(one, self.edit, back=COLLECTIONS_PAGE_PATH),
            form(f"{one}/share", self.share, back=COLLECTIONS_PAGE_PATH),
            form(f"{one}/delete", self.delete, back=COLLECTIONS_PAGE_PATH),
            form(item, self.change_item, back=COLLECTIONS_PAGE_PATH),
            form(f"{item}/remove", self.remove_item, back=COLLECTIONS_PAGE_PATH),
            self.pages.route(SHARED_PAGE_PATH, self.show_shared),
        ]

    async def show_all(self, request: Request, session: SignedInSession) -> Response:
        return await self._list(request, session)

    async def make(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Make an empty collection."""
        members = {"name": form.get("name", "").strip(), "description": _text(form, "description")}
        try:
            made = await self.pages.calls.run(session, "save_collection", members)
        except Refusal as refusal:
            return await self._list(request, session, typed=form, refusal=refusal)
        return self._see(made["id"])

    async def show(self, request: Request, session: SignedInSession) -> Response:
        return await self._one(request, session)

    async def edit(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Change the name and the description."""
        members = {"name": form.get("name", "").strip(), "description": _text(form, "description")}
        return await self._act(request, session, form, "edit_collection", members)

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

    async def remove_item(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        del form
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
        """Run an operation on the collection, then show it, or the page at `back`; a refusal is said on its page.

        With `if_unchanged` only on the revision that the form showed.
        """
        key: str = request.path_params["id"]
        revision = read_whole(form.get("revision", "")) if if_unchanged else None
        try:
            await self.pages.calls.run(session, operation, {"id": key, **members}, revision=revision)
        except NotFound:
            raise
        except Refusal as refusal:
            return await self._one(request, session, typed=form, refusal=refusal)
        return self.pages.router.pages.see(back) if back else self._see(key)

    async def _list(
        self,
        request: Request,
        session: SignedInSession,
        *,
        typed: FormFields | None = None,
        refusal: Refusal | None = None,
    ) -> Response:
        found = (await self.pages.calls.run(session, "list_collections", {"limit": MOST}))["items"]
        return self.pages.render(
            request,
            session,
            "collections.html",
            status=refusal.status if refusal else 200,
            here="tools",
            collections=found,
            typed=typed or {},
            said=_said(refusal),
        )

    async def _one(
        self,
        request: Request,
        session: SignedInSession,
        *,
        typed: FormFields | None = None,
        refusal: Refusal | None = None,
    ) -> Response:
        found = await self.pages.calls.run(session, "get_collection", {"id": request.path_params["id"]})
        link: str = found["share_url"] or ""
        token = link.rpartition("/")[2]
        return self.pages.render(
            request,
            session,
            "collection.html",
            status=refusal.status if refusal else 200,
            here="tools",
            collection=found,
            owned=await self._is_own(session, found),
            words=tool_view,
            share_link=f"{self.pages.site.base}{SHARED_PAGE_PATH.format(token=token)}" if token else "",
            tools=await self._tools(request, session, found["items"]),
            typed=typed or {},
            said=_said(refusal),
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


def _said(refusal: Refusal | None) -> str:
    """What a refusal says, with the names of fields."""
    if isinstance(refusal, ValidationFailed):
        return " ".join(f"{_LABELS.get(each.pointer, '')}{each.description}" for each in refusal.errors)
    if refusal is not None and refusal.status == _CHANGED:
        return "It was changed elsewhere meanwhile. Look at it below and send your change again."
    return refusal.description if refusal else ""


_CHANGED: Final = 412
