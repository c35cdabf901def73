"""Finds an operation's endpoint in one dictionary look-up, however many operations there are.

Starlette's own routing is linear: the 26th route costs half a request more (docs/decisions/0003-edge.md). An
endpoint renders its own refusals, so it needs none of the layers that Starlette puts around a route.
"""

from collections.abc import Iterable, Mapping, Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from negotiator.caller import nobody
from negotiator.edge.endpoint import Endpoint, instead_of_upgrade, read_headers, respond
from negotiator.edge.middleware import API
from negotiator.edge.operation import Answer
from negotiator.edge.steps import Doorway
from negotiator.errors import Refusal
from negotiator.limits.budgets import refuse

Methods = dict[str, Endpoint]


class Operations:
    """All the operations of a service, in front of the application that has its pages and documents.

    `doors` are other ways in to them, by path; `sockets` answer who asks an operation's path for a WebSocket.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        endpoints: Iterable[Endpoint],
        doorway: Doorway,
        doors: Mapping[str, ASGIApp] | None = None,
        sockets: Mapping[str, ASGIApp] | None = None,
    ) -> None:
        self._app = app
        self._sockets = [(path.split("/"), socket) for path, socket in (sockets or {}).items()]
        self._doors = doors or {}
        self._doorway = doorway
        self._literal: dict[str, Methods] = {}
        self._templates: dict[int, list[tuple[list[str], Methods]]] = {}
        for endpoint in endpoints:
            for path in (endpoint.operation.path, *endpoint.operation.aliases):
                self._add(endpoint, path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._upgrade(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        methods = self._literal.get(path)
        if methods is None:
            methods, scope["path_params"] = self._find(path.split("/"))
        if methods is not None:
            await self._choose(methods, scope["method"])(scope, receive, send)
        elif path in self._doors:
            await self._doors[path](scope, receive, send)
        elif path.startswith(API):
            await self._away(self._doorway.refusals.not_found())(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _upgrade(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts = scope["path"].split("/")
        for template, socket in self._sockets:
            parameters = _match(template, parts)
            if parameters is not None:
                scope["path_params"] = parameters
                await socket(scope, receive, send)
                return
        refusing = instead_of_upgrade(scope, send)
        await self._away(self._doorway.refusals.not_found())(scope, receive, refusing)

    def _add(self, endpoint: Endpoint, path: str) -> None:
        operation = endpoint.operation
        if not operation.path_parameters:
            self._literal.setdefault(path, {})[operation.method] = endpoint
            return
        parts = path.split("/")
        templates = self._templates.setdefault(len(parts), [])
        methods: Methods | None = next(
            (found for other, found in templates if other == parts), None
        )
        if methods is None:
            methods = {}
            templates.append((parts, methods))
            templates.sort(key=lambda entry: [part.startswith("{") for part in entry[0]])
        methods[operation.method] = endpoint

    def _find(self, parts: list[str]) -> tuple[Methods | None, dict[str, str]]:
        for template, methods in self._templates.get(len(parts), ()):
            parameters = _match(template, parts)
            if parameters is not None:
                return methods, parameters
        return None, {}

    def _choose(self, methods: Methods, method: str) -> ASGIApp:
        endpoint = methods.get("GET" if method == "HEAD" else method)
        if endpoint is not None:
            return endpoint
        allowed = sorted(methods) + (["HEAD"] if "GET" in methods else [])
        return self._away(self._doorway.refusals.method_not_allowed(allowed))

    def _away(self, answer: Answer) -> ASGIApp:
        """Turns away what no operation answers, charged to the credential if it stands, else to the address."""
        door = self._doorway

        async def turn_away(scope: Scope, _receive: Receive, send: Send) -> None:
            headers = read_headers(scope)
            address = door.guard.address(scope, headers)
            sent = (scope.get("method", "GET"), scope["path"])
            try:
                caller = await door.guard.identify(headers, address, sent=sent)
            except Refusal:
                caller = nobody(address)
            taken = await door.limits.charge(caller, public=True)
            said = answer if taken.taken else door.refusals.answer(refuse(taken))
            await respond(send, said, taken.headers())

        return turn_away


def _match(template: Sequence[str], parts: Sequence[str]) -> dict[str, str] | None:
    """The parameters of a path that has this form; None for any other."""
    if len(template) != len(parts):
        return None
    parameters: dict[str, str] = {}
    for wanted, part in zip(template, parts, strict=True):
        if wanted.startswith("{") and part:
            parameters[wanted[1:-1]] = part
        elif wanted != part:
            return None
    return parameters
