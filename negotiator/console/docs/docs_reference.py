"""The reference of `/docs/api`: every operation with its needs, a command and an answer, grouped as in the OpenAPI."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from negotiator.base.scopes import ordered
from negotiator.console.guides_content import term_weights
from negotiator.discovery import openapi, operation_examples
from negotiator.discovery.public_pages import REFERENCE_PATH
from negotiator.discovery.site import SiteDescription
from negotiator.http.operation import Operation

_NEEDS: Final = {"open": "No credential", "public": "Works without a credential", "bearer": "Bearer token"}


@dataclass(frozen=True, slots=True)
class ReferenceOperation:
    """One operation as a page shows it; `terms` has the weight of each term that finds it."""

    operation: Operation
    needs: str
    scopes: list[str]
    hint: str
    command: str
    answer: str
    terms: Mapping[str, float]

    @property
    def address(self) -> str:
        return f"{REFERENCE_PATH}/{self.operation.tag}#{self.operation.name}"


@dataclass(frozen=True, slots=True)
class ReferenceGroup:
    """The operations of one tag: those of one page."""

    name: str
    about: str
    operations: tuple[ReferenceOperation, ...]

    @property
    def title(self) -> str:
        return self.name.capitalize()

    @property
    def address(self) -> str:
        return f"{REFERENCE_PATH}/{self.name}"


def reference_groups(site: SiteDescription) -> tuple[ReferenceGroup, ...]:
    """All operations of the service in the order of its description; making their examples takes half a second."""
    grouped: dict[str, list[Operation]] = {}
    for operation in site.api:
        grouped.setdefault(operation.tag, []).append(operation)
    return tuple(
        ReferenceGroup(tag, openapi.TAGS[tag], tuple(_described(operations, site.base)))
        for tag, operations in grouped.items()
    )


def _described(operations: Iterable[Operation], base: str) -> Iterable[ReferenceOperation]:
    for operation in operations:
        hint = operation.tool.hint if operation.tool else ""
        answer = operation_examples.example_answer(operation)
        name = operation.name.replace("_", " ")
        yield ReferenceOperation(
            operation,
            _NEEDS[operation.access],
            ordered(operation.scopes),
            hint,
            operation_examples.curl_command(operation, base),
            "" if answer is None else json.dumps(answer, indent=2, ensure_ascii=False),
            term_weights(f"{operation.path} {hint}", operation.summary, f"{name} {operation.tag}"),
        )
