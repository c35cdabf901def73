"""Made-up calls of the service: every operation, `/mcp`, documents and pages, as requests that HTTP can carry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode

from negotiator.base.schema_examples import example_input
from negotiator.http.operation import FORM, JSON, LINES, MERGE, Operation, ServiceDescription
from negotiator.mcp.endpoint import MCP_PATH
from tests.helpers import forged_assertions as forged
from tests.helpers.mcp_client import NEWEST, OLDER, McpClient
from tests.helpers.request_bodies import CREATING
from tests.helpers.request_runner import CALLER_KINDS, CallerKind, RequestMaterial
from tests.live.fuzz.mutations import STRANGE_TEXTS, Mutator
from tests.live.fuzz.parsers import as_object, flattened

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_MCP_METHODS: Final = ("tools/call", "tools/list", "initialize", "resources/list", "resources/read", "prompts/list",
                       "prompts/get", "ping", "notifications/initialized", "server/discover")  # fmt: skip
_PAGES: Final = (
    *("/", "/sign-in", "/sign-up", "/account", "/agents", "/negotiations", "/memories", "/wins", "/tactics", "/live"),
    *("/tools", "/docs", "/robots.txt", "/sitemap.xml", "/llms.txt", "/openapi.json", "/.well-known/mcp.json", "/go/x"),
    *("/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp", "/metrics"),
    "/oauth/authorize",
)  # fmt: skip
_STRANGE_HEADERS: Final[Sequence[tuple[str, Sequence[str]]]] = (
    ("if-match", ('"1"', "*", 'W/"1"', "1", '"x"', '"99999999999999999999999"', '"-1"', '"1", "2"', "")),
    ("if-none-match", ('"1"', "*", 'W/"1"', "a,b,,", '"')),
    ("if-modified-since", ("Sun, 22 Nov 2026 00:00:00 GMT", "Sun, 22 Nov 9999999999 00:00:00 GMT", "0", "x" * 300)),
    ("idempotency-key", ("k1", "k2", "", "k" * 255, "k" * 256, "\x7f", "é")),
    ("accept", ("text/html", "text/markdown;q=0", "text/event-stream", "*/*;q=x", ";;;", "application/json;q=1.0001")),
    ("accept-encoding", ("gzip", "br;q=1, gzip;q=0", "identity;q=0, *;q=0", "x")),
    ("authorization", ("Bearer", "Bearer x", "Bearer eyJ.eyJ.x", "Basic eDp5", "Basic !", "DPoP x", "\xff")),
    ("dpop", ("x", "a.b.c", "")),
    ("content-type", (JSON, MERGE, FORM, LINES, "application/json; charset=utf-16", "text/plain", "", "x/y")),
    ("content-length", ("0", "-1", "99999999999999999999", "x", "³")),
    ("cookie", ("__Host-negotiator-session=x", "a", "=", "a=b;" * 200, '"', "__Host-negotiator-csrf=\xff")),
    ("origin", ("https://evil.example", "null", "https://negotiator.example", "x")),
    ("host", ("evil.example", "negotiator.example:99999", "[::1", "", "a b")),
    ("x-request-id", ("abcdefgh", "é" * 9, "x" * 65, "\x01" * 9)),
    ("x-forwarded-for", ("1.2.3.4", "::1", "x, 1.2.3.4", ",,,", "1.2.3.4%eth0", "[::1]:80")),
    ("last-event-id", ("1", "-1", "x", "9" * 30, "")),
    ("range", ("bytes=0-1", "bytes=-1", "x")),
    ("mcp-protocol-version", (NEWEST, *OLDER, "1999-01-01", "x", "")),
    ("mcp-method", ("tools/call", "ping", "x")),
    ("accept-language", ("de", "en;q=0", "*", "x-" * 200)),
    ("sec-fetch-site", ("cross-site", "same-origin", "none", "x")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MadeCall:
    """One request: its target is what stands in the request line, its headers are latin-1."""

    name: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    credential: CallerKind = "nobody"
    described: bool = False
    """Whether the answer has to be one that the operation describes."""


@dataclass(slots=True)
class CallMaker:
    """Makes calls of a service from a mutator; `material` is what exists there."""

    service: ServiceDescription
    material: RequestMaterial
    seen: dict[str, str] = field(default_factory=dict[str, str])
    """The last id that was answered, by its prefix."""
    _operations: Sequence[tuple[Operation, dict[str, Any], dict[str, Any]]] = ()

    def __post_init__(self) -> None:
        self._operations = [
            (each, {**example_input(each.input), **CREATING.get(each.name, {})}, each.input.model_json_schema())
            for each in self.service.operations
        ]  # fmt: skip

    def make(self, mutator: Mutator) -> MadeCall:
        """A call: mostly of an operation."""
        match mutator.random.randrange(10):
            case 0:
                return self._mcp(mutator)
            case 1 if mutator.happens(0.5):
                return self._page(mutator)
            case _:
                return self._operation(mutator)

    def _operation(self, mutator: Mutator) -> MadeCall:
        operation, example, schema = mutator.any_of(self._operations)
        body = self._input(mutator, operation, example, schema)
        path = operation.path_parameters
        values = {name: self._place(mutator, operation, name) for name in path}
        target = "/".join(
            quote(values[part[1:-1]], safe="", errors="surrogatepass") if part.startswith("{") else part
            for part in operation.path.split("/")
        )  # fmt: skip
        who: CallerKind = mutator.any_of((*(_owner(operation),) * 12, *CALLER_KINDS))
        headers = dict(self.material.headers[who])
        members = as_object(body)
        for name in path:
            members.pop(name, None)
        if operation.reads_query:
            flat = flattened(members)
            query = urlencode(flat, errors="surrogatepass")
            if mutator.happens(0.1):
                query = quote(mutator.data(query.encode()), safe="%&=+")
            sent = b""
            target += f"?{query}" if query else ""
        else:
            headers["content-type"] = mutator.any_of(operation.takes)
            sent = self._body(mutator, operation, members if operation.path_parameters else body, headers)
        headers = self._headers(mutator, headers)
        method: str = mutator.any_of(_METHODS) if mutator.happens(0.03) else operation.method
        return MadeCall(
            operation.name, method, target, tuple(headers.items()), sent, who, method == operation.method
        )  # fmt: skip

    def _input(self, mutator: Mutator, operation: Operation, example: dict[str, Any], schema: dict[str, Any]) -> Any:
        good = mutator.described(schema, schema.get("$defs", {})) if mutator.happens(0.4) else example
        made = good if mutator.happens(0.35) else mutator.value(good, [example])
        if operation.name in {"register_agent", "register_identity", "issue_token"}:
            claims = mutator.value(forged.claims(iss=forged.IDP))
            signed = forged.sign(forged.header(), mutator.json(claims))
            made = {**as_object(made), "assertion": signed}
        return self._with_ids(mutator, made)

    def _with_ids(self, mutator: Mutator, value: Any) -> Any:
        """Ids that an example names are now and then those of something that exists."""
        if isinstance(value, str):
            known = self.seen.get(value.partition("_")[0]) if "_" in value[:6] else None
            return known if known and mutator.happens(0.6) else value
        if isinstance(value, list):
            return [self._with_ids(mutator, each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict):
            return {name: self._with_ids(mutator, each) for name, each in as_object(value).items()}
        return value

    def _place(self, mutator: Mutator, operation: Operation, name: str) -> str:
        if mutator.happens(0.1):
            return mutator.text(mutator.any_of(("neg_01k5w3z8q4h6r2t9v7x1y0abcd", "x", *STRANGE_TEXTS))) or "x"
        filled = self.material.fill(operation.path, {name: ""})[name]
        before = operation.path.partition(f"/{{{name}}}")[0].rpartition("/")[2]
        return self.seen.get(before) or filled or self.seen.get(name) or "neg_01k5w3z8q4h6r2t9v7x1y0abcd"

    def _body(self, mutator: Mutator, operation: Operation, body: Any, headers: Mapping[str, str]) -> bytes:
        match headers["content-type"]:
            case kind if kind == FORM:
                flat = {name: str(value) for name, value in as_object(body).items()}
                sent = urlencode(flat, errors="surrogatepass").encode()
                return mutator.data(sent) if mutator.happens(0.1) else sent
            case kind if kind == LINES:
                return b"\n".join(mutator.json(mutator.value(CREATING["remember"])) for _ in range(3))
            case kind if kind in (JSON, MERGE):
                return mutator.json(body)
            case _:
                claims = forged.claims(events={}, exp=forged.ABSENT)
                header = forged.header(typ="secevent+jwt")
                return forged.sign(header, mutator.json(mutator.value(claims))).encode()

    def _headers(self, mutator: Mutator, headers: dict[str, str]) -> dict[str, str]:
        if mutator.happens(0.25):
            name, values = mutator.any_of(_STRANGE_HEADERS)
            headers[name] = mutator.any_of(values)
        elif mutator.happens(0.5):
            headers["if-match"] = "*"
        return headers

    def _mcp(self, mutator: Mutator) -> MadeCall:
        tools = [each for each in self._operations if each[0].tool]
        operation, example, schema = mutator.any_of(tools)
        arguments = self._input(mutator, operation, example, schema)
        if isinstance(arguments, dict):
            places = operation.path_parameters
            known = {name: self._place(mutator, operation, name) for name in places}
            arguments = {**as_object(arguments), **known}
        method = mutator.any_of(("tools/call",) * 12 + _MCP_METHODS)
        params: dict[str, Any] = {"name": getattr(operation.tool, "name", "") or operation.name, "arguments": arguments}
        if method != "tools/call" and mutator.happens(0.7):
            params = {"uri": "negotiator://guides/agents", "name": "prepare", "cursor": "x"}
        client = McpClient(client=None, version=mutator.any_of((NEWEST, *OLDER)))  # pyright: ignore[reportArgumentType]
        message, more = client.message(method, params)
        if mutator.happens(0.3):
            message = mutator.value(message)
        who: CallerKind = mutator.any_of((*(_owner(operation),) * 12, *CALLER_KINDS))
        headers = {"content-type": JSON, "accept": f"{JSON}, text/event-stream", **more, **self.material.headers[who]}
        sent = self._headers(mutator, headers)
        return MadeCall("mcp", "POST", MCP_PATH, tuple(sent.items()), mutator.json(message), who)

    def _page(self, mutator: Mutator) -> MadeCall:
        path = mutator.any_of(_PAGES)
        if mutator.happens(0.4):
            path += "/" + quote(mutator.text("neg_x"), safe="/", errors="surrogatepass")
        if mutator.happens(0.5):
            path += "?" + quote(mutator.data(b"query=vector&page=2&next=/x&kind=app"), safe="%&=+")
        method: str = mutator.any_of(("GET", "HEAD", "POST"))
        form = mutator.data(b"csrf=x&email=a%40b.example&title=x")
        sent = form if method == "POST" else b""
        headers = {"accept": "text/html", **({"content-type": FORM} if sent else {})}
        return MadeCall("page", method, path, tuple(self._headers(mutator, headers).items()), sent)


def _owner(operation: Operation) -> CallerKind:
    told = operation.path.startswith(("/api/v1", "/api/auth", "/v0.1"))
    return "directory" if told else "bound"
