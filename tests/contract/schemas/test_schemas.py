"""Requests made up from /openapi.json, good and bad, by callers of every kind: every answer is one it describes.

Two sources, both the same in every run: schemathesis' coverage of each schema's corners, and its generator. A run before
a release: `NEGOTIATOR_FUZZ=300 pytest tests/contract/schemas`, which sends every corner and so many made-up requests.

Not asked, and why: `positive_data_acceptance`, since a schema cannot say what holds between members and between a request
and what it is about (422, 409); `ignored_auth`, which tests/house asks of every operation; `use_after_free` and
`ensure_resource_availability`, which need a recorded sequence and have their own tests in tests/api.
"""

import os
from itertools import islice
from typing import Any, Final

import httpx2
import orjson
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.generation.case import Case
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    missing_required_header,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from docs.generate import service
from negotiator.discovery.openapi import document
from negotiator.edge.operation import LINES
from tests.browser import BASE
from tests.contract.requirements import covers
from tests.contract.schemas.stage import WHO, Furniture, Stage, Who

CHECKS: Final[list[CheckFunction]] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    negative_data_rejection,
    missing_required_header,
    unsupported_method,
    allow_header_conformance,
]
LONG: Final = int(os.environ.get("NEGOTIATOR_FUZZ", "0"))
EXAMPLES: Final = LONG or 4
CORNERS: Final = None if LONG else 24
MODES: Final = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
SERVICE: Final = service()
REJECTIONS: Final = [*"400 401 403 404 405 406 409 410 412 413 415 422 428 429 503".split()]
CONFIG: Final = SchemathesisConfig.from_dict(
    {
        "checks": {
            "negative_data_rejection": {"expected-statuses": REJECTIONS},
            "missing_required_header": {"expected-statuses": REJECTIONS},
        }
    }
)
SCHEMA: Final = schemathesis.openapi.from_dict(document(SERVICE, "0"), config=CONFIG)
OPERATIONS: Final[dict[str, Any]] = {
    found.ok().definition.raw["operationId"]: found.ok() for found in SCHEMA.get_all_operations()
}


@schemathesis.serializer(LINES)
def as_lines(_context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Lines as they are sent; what is no text goes as JSON would."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else orjson.dumps(value)


class Session:
    """Generated requests to one operation, one after the other."""

    def __init__(self, stage: Stage, operation: APIOperation[Any, Any, Any, Any]) -> None:
        self.stage = stage
        self.operation = operation
        self.furniture: Furniture = stage.run(stage.furnish())

    def send(self, case: Case, who: Who, *, there: bool) -> None:
        """Send one request and hold the answer against the schema; `there` puts what exists into the path."""
        negative = case.meta is not None and case.meta.is_negative_at(ParameterLocation.PATH)
        if there and case.path_parameters and not negative:
            case.path_parameters = self.furniture.fill(case.path, case.path_parameters)
        if there and "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = "*"
        sent = {**self.furniture.headers[who]}
        plan = case.as_transport_kwargs(base_url=BASE, headers=sent)
        prepared = requests.Request(**plan).prepare()
        headers = [
            (name.encode("latin-1"), value if isinstance(value, bytes) else value.encode("latin-1"))
            for name, value in prepared.headers.items()
        ]
        answer = self.stage.run(
            self.stage.client.request(
                prepared.method or "", prepared.url or "", content=prepared.body, headers=headers
            )
        )
        assert isinstance(answer, httpx2.Response)
        # Any text is lines; which of them are good is said line by line, in a 200.
        excluded = [negative_data_rejection] if case.media_type == LINES else []
        case.validate_response(answer, checks=CHECKS, excluded_checks=excluded, headers=sent)
        if case.method == "DELETE" and answer.is_success:
            self.furniture = self.stage.run(self.stage.furnish())


def owner(name: str) -> Who:
    """The kind of caller that an operation is for."""
    operation = SERVICE.find(name)
    assert operation is not None
    told = operation.path.startswith(("/api/v1", "/api/auth", "/v0.1"))
    return "directory" if told else "bound"


@pytest.mark.parametrize("name", OPERATIONS)
@covers("contract:0:never-500", "contract:0:openapi")
def test_every_corner_of_an_operation_is_answered_as_described(stage: Stage, name: str) -> None:
    operation = OPERATIONS[name]
    session = Session(stage, operation)
    generation = SCHEMA.config.generation_for(operation=operation)
    corners = list(
        SCHEMA.iter_coverage_cases(operation, generation_modes=MODES, generation_config=generation)
    )
    assert corners
    step = 1 if CORNERS is None else max(1, len(corners) // CORNERS)
    for place, case in enumerate(islice(corners, 0, None, step)):
        who = owner(name) if place % 4 else WHO[place // 4 % len(WHO)]
        session.send(case, who, there=place % 5 != 4)


@pytest.mark.parametrize("name", OPERATIONS)
@covers("contract:0:never-500", "contract:0:openapi")
def test_whatever_is_sent_is_answered_as_described(stage: Stage, name: str) -> None:
    operation = OPERATIONS[name]
    session = Session(stage, operation)
    cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in MODES))
    callers = st.sampled_from([owner(name)] * len(WHO) + list(WHO))

    @given(case=cases, who=callers, there=st.integers(0, 3).map(bool))
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Case, who: Who, there: bool) -> None:
        session.send(case, who, there=there)

    ask()
