"""Every header, query parameter and path parameter that is read costs time in proportion to its length."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.types import Message

import negotiator
from tests.conftest import Register, bearer
from tests.helpers import lane
from tests.helpers.linear_time import filled, is_linear_async
from tests.helpers.openapi_transport import operations_of

Headers = list[tuple[bytes, bytes]]
UNITS: Final = ('"', '\\"', "a,", "a;", "a=b;", "1", "a.", "127.0.0.1,", "a/b;q=", "%41")
READ: Final = {
    *(
        "accept",
        "accept-encoding",
        "accept-language",
        "authorization",
        "content-length",
        "content-type",
        "cookie",
        "dpop",
    ),
    *("idempotency-key", "if-match", "if-modified-since", "if-none-match", "last-event-id", "origin"),
    *("sec-fetch-site", "user-agent", "x-forwarded-for", "x-request-id", "access-control-request-method", "host"),
}
"""The headers that the package reads of a request; a test compares them with its source."""
PROTOCOLS: Final = {"mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"}
"""Headers that libraries read."""
ANSWERS: Final = {
    "cache-control",
    "content-encoding",
    "content-security-policy",
    "content-location",
    "link",
    "etag",
    "last-modified",
    "location",
    "retry-after",
    "www-authenticate",
}
"""Headers that the package reads of answers: of others' servers, or of its own."""
PLACES: Final = (
    ("GET", "/"),
    ("GET", "/tools"),
    ("GET", "/sign-in"),
    ("GET", "/agents"),
    ("POST", "/sign-in"),
    ("GET", "/oauth/authorize"),
    ("POST", "/oauth/token"),
    ("GET", "/openapi.json"),
    ("GET", "/api/negotiations"),
    ("POST", "/api/negotiations"),
    ("POST", "/api/agent/register"),
    ("GET", "/api/v1/tools"),
    ("GET", "/api/v1/export.ndjson"),
    ("POST", "/mcp"),
)  # fmt: skip


class Caller:
    """Calls the application as a server would, without any client's own parsing in the measured time."""

    def __init__(self, application: Starlette, token: str) -> None:
        self._application = application
        self._token = (b"authorization", f"Bearer {token}".encode())

    async def call(self, method: str, path: str, query: str = "", headers: Headers | None = None) -> int:
        """The status; a fault of the service is a failure of the test."""
        statuses: list[int] = []
        body = b"{}"

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        given = headers or []
        named = {name for name, _ in given}
        usual = [self._token, (b"content-type", b"application/json"), (b"host", b"negotiator.test")]
        await self._application(
            {
                "type": "http",
                "method": method,
                "path": path,
                "raw_path": path.encode(),
                "query_string": query.encode(),
                "root_path": "",
                "scheme": "http",
                "server": ("127.0.0.1", 80),
                "client": ("127.0.0.1", 5000),
                "http_version": "1.1",
                "state": {},
                "headers": [*(each for each in usual if each[0] not in named), *given],
            },
            receive,
            send,
        )
        assert len(statuses) == 1
        assert statuses[0] < 500 or statuses[0] == 503, f"{method} {path}"
        return statuses[0]


@pytest_asyncio.fixture
async def caller(application: Starlette, register: Register) -> Caller:
    """A caller with an anonymous agent's token."""
    result = await register()
    return Caller(application, bearer(result)["Authorization"].removeprefix("Bearer "))


def test_the_headers_timed_here_are_those_that_the_package_reads() -> None:
    found: set[str] = set()
    for path in Path(negotiator.__path__[0]).rglob("*.py"):
        if "cli" not in path.parts:
            text = path.read_text()
            found |= set(re.findall(r'headers\.(?:get|getlist)\(\s*"([a-z-]+)"', text))
            found |= set(re.findall(r'headers\["([a-z-]+)"\]', text))
            found |= set(re.findall(r'name == b"([a-z-]+)"', text))
            found |= set(re.findall(r'"([a-z-]+)" in headers', text))
    assert found - ANSWERS == READ


@pytest.mark.asyncio
@pytest.mark.parametrize("name", sorted(READ | PROTOCOLS))
async def test_a_header_costs_time_in_proportion(caller: Caller, name: str) -> None:
    slow = [
        (place, unit)
        for place in PLACES
        for unit in lane.part(UNITS)
        if not await is_linear_async(_with_header(caller, *place, name, unit))
    ]
    assert slow == []


@pytest.mark.asyncio
async def test_a_hundred_equal_headers_cost_time_in_proportion(caller: Caller) -> None:
    for name in sorted(READ):

        async def call(size: int, name: str = name) -> int:
            headers = [(name.encode(), b"a" * (size // 100 + 1))] * 100
            return await caller.call("GET", "/api/negotiations", "", headers)

        assert await is_linear_async(call), name


@pytest.mark.asyncio
async def test_query_and_path_parameters_cost_time_in_proportion(caller: Caller, application: Starlette) -> None:
    slow: list[tuple[str, str, str]] = []
    for operation in operations_of(application):
        fields = list(operation.input.model_fields) if operation.reads_query else []
        places = [*operation.path_parameters, *(name for name in fields if f"{{{name}}}" not in operation.path)]
        for name in (*places, "unknown"):
            for unit in lane.part(("a-", '"', "1", " ,", "a:")):

                async def call(size: int, name: str = name, unit: str = unit, operation: Any = operation) -> int:
                    text = filled(unit, size)
                    path = operation.path.replace(f"{{{name}}}", text.replace("/", "-"))
                    path = re.sub(r"\{\w+\}", "x", path)
                    query = "" if f"{{{name}}}" in operation.path else f"{name}={quote(text, safe='')}"
                    return await caller.call(operation.method, path, query)

                if not await is_linear_async(call):
                    slow.append((operation.name, name, unit))
    assert slow == []


@pytest.mark.asyncio
async def test_paths_and_queries_of_pages_cost_time_in_proportion(caller: Caller) -> None:
    slow = [path for path, call in _pages(caller) if not await is_linear_async(call)]
    assert slow == []


def _with_header(caller: Caller, method: str, path: str, name: str, unit: str) -> Any:
    async def call(size: int) -> int:
        text = filled(unit, size)
        if name == "authorization":
            text = f"Bearer {text}"
        if name == "cookie":
            text = f"negotiator-session={text}"
        return await caller.call(method, path, "", [(name.encode(), text.encode())])

    return call


def _pages(caller: Caller) -> Iterator[tuple[str, Any]]:
    pages = ("/tools/{}", "/approve/{}", "/first-user/{}", "/{}", "/api/{}", "/docs/{}", "/.well-known/{}")
    queries = (
        *("/sign-in?next={}", "/tools?query={}", "/tools?cursor={}", "/?a={}"),
        *(f"/oauth/authorize?{name}={{}}" for name in ("client_id", "redirect_uri", "scope", "state")),
    )
    for template in (*pages, *queries):
        for unit in lane.part(("a-", '"', "/", "%", "1.")):

            async def call(size: int, template: str = template, unit: str = unit) -> int:
                text = filled(unit, size)
                path, _, query = template.partition("?")
                return await caller.call("GET", path.format(text), query.format(quote(text, safe="")))

            yield template, call
