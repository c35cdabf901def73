"""Runs operations of the API for a page, through the pipeline of HTTP and MCP; and pages that anyone may read.

A page reads and changes data in no other way, so guard, rate limits, validation, the walk-away check and the history
hold for people as they hold for agents.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.caller import Caller, CallerRate, anonymous_caller
from negotiator.base.errors import NotFound, Refusal
from negotiator.base.scopes import ordered
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import PageRouter
from negotiator.discovery.documents import HTML, document_response
from negotiator.discovery.page_frame import site_links
from negotiator.discovery.site import SiteDescription
from negotiator.http import input as reading
from negotiator.http.operation import JSON, Operation, ServiceDescription
from negotiator.http.pipeline import ParsedInput, Pipeline, ResponseContext, run

Members = dict[str, Any]
RATE: Final = CallerRate(requests_per_minute=600, burst=600)
"""Of a signed-in user: a page makes several calls, and a person opens a page every few seconds at most."""


@dataclass(frozen=True, slots=True)
class PageCalls:
    """The operations that this process offers, as the signed-in user may call them."""

    service: ServiceDescription
    pipeline: Pipeline

    async def run(
        self,
        session: SignedInSession,
        name: str,
        members: Mapping[str, Any] | None = None,
        *,
        revision: int | None = None,
        key: str | None = None,
    ) -> Members:
        """The JSON object that the operation `name` answers; {} where it has no body. Raises its refusals.

        `members` are path parameters and the members of the query or body; `revision` is what `If-Match` would name,
        `key` an idempotency key, so that a form that is sent twice creates once.
        """
        caller = self._user(session)
        return _object(await self._answer(caller, name, members, revision=revision, key=key))

    async def every(
        self, session: SignedInSession, name: str, members: Mapping[str, Any] | None = None
    ) -> list[Members]:
        """The items of all pages of a list."""
        asked: Members = {**(members or {}), "limit": 100}
        items: list[Members] = []
        while True:
            found = await self.run(session, name, asked)
            items += found["items"]
            if found["next_cursor"] is None:
                return items
            asked["cursor"] = found["next_cursor"]

    async def agent_names(self, session: SignedInSession) -> dict[str, str]:
        """The names of the user's agents by id."""
        return (await self.run(session, "name_agents"))["names"]

    async def run_publicly(self, address: str, name: str, members: Mapping[str, Any] | None = None) -> Members:
        """The JSON object of a public operation for a reader at this address who is not signed in."""
        return _object(await self._answer(anonymous_caller(address), name, members))

    async def text(self, session: SignedInSession, name: str, members: Mapping[str, Any], *, accept: str) -> str:
        """The text that the operation answers in the media type `accept`."""
        return (await self._answer(self._user(session), name, members, accept=accept)).decode()

    def offers(self, name: str) -> bool:
        """Whether this process offers the operation."""
        return self.service.find(name) is not None

    def _user(self, session: SignedInSession) -> Caller:
        return Caller(
            "user",
            session.user_id,
            session.session_id,
            frozenset(ordered(self.service.scopes)),
            user_id=session.user_id,
            rate=RATE,
        )

    async def _answer(
        self,
        caller: Caller,
        name: str,
        members: Mapping[str, Any] | None,
        *,
        revision: int | None = None,
        key: str | None = None,
        accept: str = JSON,
    ) -> bytes:
        operation = self.service.find(name)
        if operation is None:
            raise NotFound("This server does not offer that.")
        call = _IncomingPageCall(operation, caller, dict(members or {}), revision, accept, key)
        answer = await run(operation, self.pipeline, call, ResponseContext())
        if answer.body is None:
            return b""
        return answer.body if isinstance(answer.body, bytes) else orjson.dumps(answer.body)


def _object(body: bytes) -> Members:
    return orjson.loads(body) if body else {}


@dataclass(frozen=True, slots=True)
class _IncomingPageCall:
    operation: Operation
    caller: Caller
    members: Members
    revision: int | None
    accept: str
    idempotency_key: str | None
    address: str = field(init=False, default="")

    @property
    def headers(self) -> Mapping[str, str]:
        condition = {} if self.revision is None else {"if-match": f'"{self.revision}"'}
        return {"accept": self.accept, **condition}

    async def identify(self, operation: Operation) -> Caller:
        del operation
        return self.caller

    async def read(self) -> ParsedInput:
        body = orjson.dumps(self.members, option=orjson.OPT_SORT_KEYS)
        return ParsedInput(reading.validate(self.operation.input, self.members), body)

    def expected(self) -> int | None:
        return self.revision

    def key(self) -> str | None:
        return self.idempotency_key


Reader = SignedInSession | None
OpenHandler = Callable[[Request, Reader], Awaitable[Response]]
VARIES: Final = "Accept, Cookie"
_CACHED: Final = {"cache-control": "public, max-age=60", "vary": VARIES}


@dataclass(frozen=True, slots=True)
class OpenPages:
    """Makes routes for such pages, runs their operations and renders them."""

    router: PageRouter
    calls: PageCalls
    site: SiteDescription

    def route(self, path: str, show: OpenHandler) -> Route:
        """A page for every reader; `show` gets None for one who is not signed in."""

        async def personal(request: Request, session: Any) -> Response:
            return await show(request, session if isinstance(session, SignedInSession) else None)

        page = self.router.open_page(path, personal)

        async def answer(request: Request) -> Response:
            if "cookie" in request.headers and await self.router.browser_sessions.find(request):
                return await page.endpoint(request)
            try:
                if any("\0" in str(value) for value in request.path_params.values()):
                    raise NotFound("There is nothing at this path.")
                return await show(request, None)
            except Refusal as refusal:
                return self.refused(refusal)

        return Route(path, answer, methods=["GET"])

    async def run(self, request: Request, reader: Reader, name: str, members: Members | None = None) -> Members:
        """What an operation answers to this reader."""
        if reader is not None:
            return await self.calls.run(reader, name, members)
        return await self.calls.run_publicly(self.router.address(request), name, members)

    def render(
        self, request: Request, reader: Reader, template: str, *, headers: dict[str, str] | None = None, **context: Any
    ) -> Response:
        """The page: cacheable with an ETag for a reader who is not signed in."""
        rendered = self.router.render(template, reader, headers=headers, site_links=site_links(self.site), **context)
        if reader is not None:
            return rendered
        policy = rendered.headers["content-security-policy"]
        told = {**_CACHED, **(headers or {}), "content-security-policy": policy}
        return document_response(request, HTML, bytes(rendered.body), told)

    def refused(self, refusal: Refusal, heading: str = "", reader: Reader = None) -> Response:
        """The page of a refusal; `heading` stands for the usual one."""
        return self.router.refused(refusal, reader, heading=heading, site_links=site_links(self.site))
