"""MCP resources: documents of the caller, each read by one operation.

Their URIs have the scheme `negotiator`: an `https` URI would mean that a client can fetch it directly (MCP, Resources,
Common URI Schemes), which needs a token here.
"""

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

import orjson

from negotiator.http.operation import JSON, MARKDOWN, Answer, Operation, ServiceDescription
from negotiator.http.pipeline import Pipeline
from negotiator.mcp.tool_calls import CallContext, IncomingToolCall, run_operation


@dataclass(frozen=True, slots=True)
class ReadableResource:
    """A URI or URI template, and the operation that answers it.

    `latest` names the operation whose first list entry gives `{plan_id}`. With `index` the resource is a whole list,
    every page of it, of which each entry keeps these members.
    """

    uri: str
    operation: str
    title: str
    description: str
    media_type: str = JSON
    latest: str = ""
    index: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The programmatic name."""
        return self.title.lower().replace(" ", "-")

    def parameters(self, uri: str) -> dict[str, str] | None:
        """The values in a URI of this template; None if it does not match or a value contains NUL."""
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/?#]{1,200})", re.escape(self.uri))
        found = re.fullmatch(pattern, uri)
        values = {name: unquote(text) for name, text in found.groupdict().items()} if found else None
        return None if values and any("\0" in text for text in values.values()) else values


_ONE: Final = "negotiator://negotiations/{id}"
READABLE_RESOURCES: Final = (
    ReadableResource(
        "negotiator://tactics",
        "list_tactics",
        "Index of tactics",
        "Every tactic by id, name and family: your own, then the built-in ones. Read one as negotiator://tactics/{id}.",
        index=("id", "name", "family"),
    ),
    ReadableResource(
        "negotiator://tactics/{id}",
        "get_tactic",
        "Tactic",
        "One tactic: when it works, what to say, its risk, what counters it.",
    ),
    ReadableResource(
        _ONE,
        "get_negotiation",
        "Negotiation",
        "One of your negotiations: terms, state, outcome, what advice still lacks.",
    ),
    ReadableResource(f"{_ONE}/offers", "list_offers", "Ledger", "Every offer and answer of both sides, newest first."),
    ReadableResource(
        f"{_ONE}/events",
        "list_negotiation_events",
        "History",
        "What happened to a negotiation and who did it, newest first.",
    ),
    ReadableResource(
        f"{_ONE}/battle-plan",
        "get_battle_plan",
        "Latest battle plan",
        "The newest version of a negotiation's plan, printable.",
        MARKDOWN,
        "list_battle_plans",
    ),
    ReadableResource(
        f"{_ONE}/battle-plans/{{plan_id}}",
        "get_battle_plan",
        "Battle plan",
        "One version of a negotiation's plan, printable.",
        MARKDOWN,
    ),
)
_LARGEST_PAGE: Final = {"limit": 100}


@dataclass(frozen=True, slots=True)
class McpResources:
    """The resources whose operations this service offers."""

    service: ServiceDescription
    pipeline: Pipeline

    def entries(self, *, templates: bool) -> list[dict[str, Any]]:
        """The entries of `resources/list`, or of `resources/templates/list`."""
        member = "uriTemplate" if templates else "uri"
        return [
            {
                member: one.uri,
                "name": one.name,
                "title": one.title,
                "description": one.description,
                "mimeType": one.media_type,
            }
            for one in READABLE_RESOURCES
            if self.service.find(one.operation) and ("{" in one.uri) is templates
        ]

    async def read(self, context: CallContext, uri: str) -> dict[str, Any] | None:
        """The resource's contents; None when there is no such resource. Raises as its operation does."""
        for one in READABLE_RESOURCES:
            parameters, operation = one.parameters(uri), self.service.find(one.operation)
            if parameters is None or operation is None:
                continue
            if one.latest:
                first = await self._first_id(context, one.latest, parameters)
                if first is None:
                    return None
                parameters["plan_id"] = first
            if one.index:
                entries = await self._all_entries(context, operation, parameters)
                listed = [{name: entry[name] for name in one.index} for entry in entries]
                text = orjson.dumps({"items": listed}).decode()
                return {"uri": uri, "mimeType": one.media_type, "text": text}
            answer = await self._answer(context, operation, parameters, one.media_type)
            return {"uri": uri, "mimeType": one.media_type, "text": _text(answer)}
        return None

    async def _all_entries(
        self, context: CallContext, operation: Operation, parameters: dict[str, Any]
    ) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        while True:
            page = await self._page(context, operation, parameters)
            entries += page["items"]
            if not page["next_cursor"]:
                return entries
            parameters = {**parameters, "cursor": page["next_cursor"]}

    async def _first_id(self, context: CallContext, name: str, parameters: dict[str, str]) -> str | None:
        operation = self.service.find(name)
        if operation is None:
            return None
        page = await self._page(context, operation, {**parameters, "limit": 1})
        return page["items"][0]["id"] if page["items"] else None

    async def _page(self, context: CallContext, operation: Operation, parameters: dict[str, Any]) -> dict[str, Any]:
        answer = await self._answer(context, operation, parameters, JSON)
        return orjson.loads(orjson.dumps(answer.body))

    async def _answer(
        self, context: CallContext, operation: Operation, parameters: dict[str, Any], accept: str
    ) -> Answer:
        page = _LARGEST_PAGE if "limit" in operation.input.model_fields else {}
        arguments = {**page, **parameters}
        incoming = IncomingToolCall(operation, self.pipeline, context, arguments, accept)
        return await run_operation(incoming)


def _text(answer: Answer) -> str:
    body = answer.body
    return (body if isinstance(body, bytes) else orjson.dumps(body)).decode()
