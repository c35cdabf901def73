"""Every answer of an operation, held against what /openapi.json says of it: status, media type, schema, headers."""

import re
from collections.abc import Iterable
from typing import Any, Final

import httpx2
import orjson
from jsonschema_rs import Draft202012Validator
from starlette.applications import Starlette

from negotiator.discovery.openapi import openapi_document
from negotiator.http.endpoint import OperationRouter
from negotiator.http.operation import Operation, ServiceDescription
from tests.helpers.form_browser import BASE

_BODILESS: Final = frozenset({204, 304})
_said: Final[dict[str, "DescribedOperation"]] = {}


class DescribedOperation:
    """What the document says of one operation; validators are made once, when they are first needed."""

    def __init__(self, operation: Operation) -> None:
        whole = openapi_document(ServiceDescription(BASE, {}, (operation,)), "0")
        method = operation.method.lower()
        self.name = operation.name
        self.responses: dict[str, Any] = whole["paths"][operation.path][method]["responses"]
        self._components: dict[str, Any] = whole["components"]
        self._validators: dict[tuple[str, str], Any] = {}

    def hold(self, answer: httpx2.Response) -> None:
        """Fail for an answer that the document does not describe."""
        status = str(answer.status_code)
        told = f"{self.name}: {status} {answer.text[:2000]}"
        assert status in self.responses, f"undocumented status: {told}"
        content: dict[str, Any] = self.responses[status].get("content", {})
        if not content or answer.request.method == "HEAD" or answer.status_code in _BODILESS:
            assert not answer.content, f"a body where none is described: {told}"
            return
        media = answer.headers.get("content-type", "").partition(";")[0]
        assert media in content, f"{media!r} is not described: {told}"
        if media == "application/json":
            faults = [
                f"{'/'.join(map(str, fault.instance_path))}: {fault.message[:300]}"
                for fault in self._validator(status, media).iter_errors(orjson.loads(answer.content))
            ]
            assert not faults, f"{faults[:5]} in {told}"

    def _validator(self, status: str, media: str) -> Any:
        made = self._validators.get((status, media))
        if made is None:
            schema = self.responses[status]["content"][media].get("schema", {})
            made = Draft202012Validator({**schema, "components": self._components})
            self._validators[status, media] = made
        return made


class OpenApiCheckingTransport(httpx2.ASGITransport):
    """The way to an application, on which each response of its operations is held against their description."""

    def __init__(self, application: Starlette, client: tuple[str, int]) -> None:
        super().__init__(application, client=client)
        self._places = [
            (each.method, _pattern(path), each)
            for each in sorted(operations_of(application), key=lambda each: "{" in each.path)
            for path in (each.path, *each.aliases)
        ]
        self._literal = {each.path for _, _, each in self._places if "{" not in each.path}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, as it came."""
        answer = await super().handle_async_request(request)
        operation = self._find(request)
        if operation is None:
            return answer
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        raw = b"".join([chunk async for chunk in answer.stream])
        status, headers = answer.status_code, answer.headers
        if operation.name not in _said:
            _said[operation.name] = DescribedOperation(operation)
        read = httpx2.Response(status, headers=headers, content=raw, request=request)
        _said[operation.name].hold(read)
        return httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(raw))

    def _find(self, request: httpx2.Request) -> Operation | None:
        method = "GET" if request.method == "HEAD" else request.method
        path = request.url.path
        # A path that is spelled out belongs to who spells it out, whatever the method, as in the routing.
        spelled = path in self._literal
        for wanted, pattern, operation in self._places:
            if spelled and operation.path != path:
                continue
            if wanted == method and pattern.fullmatch(path):
                return operation
        return None


def operations_of(application: Starlette) -> Iterable[Operation]:
    """The operations that the application offers."""
    layers = (each for each in application.user_middleware if each.cls is OperationRouter)
    endpoints: Any = next(layers).kwargs["endpoints"]
    return [endpoint.operation for endpoint in endpoints]


def _pattern(template: str) -> re.Pattern[str]:
    parts = template.split("/")
    return re.compile("/".join("[^/]+" if part[:1] == "{" else re.escape(part) for part in parts))
