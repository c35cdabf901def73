"""Requests made up from /openapi.json, good and bad, by callers of every kind: every answer is one it describes.

Two sources: the corners of each schema, and a generator. `NEGOTIATOR_FUZZ=300` sends every corner and 300 made-up
requests to each operation; without it both are sampled, the same in every run. The quick lane takes a part that is
the same all day.
"""

import os
from itertools import islice
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.contract.requirements import covers
from tests.helpers import generated_requests, lane
from tests.helpers.generated_requests import OPERATIONS, SERVICE
from tests.helpers.request_runner import CALLER_KINDS, CallerKind, RequestMaterial, RequestRunner

LONG: Final = int(os.environ.get("NEGOTIATOR_FUZZ", "0"))
EXAMPLES: Final = LONG or (1 if lane.is_quick() else 4)
CORNERS: Final = None if LONG else 24


class Session:
    """Generated requests to one operation, one after the other."""

    def __init__(self, request_runner: RequestRunner) -> None:
        self.request_runner = request_runner
        self.material: RequestMaterial = request_runner.run(request_runner.make_material())
        self.sent = 0

    def send(self, case: Any, who: CallerKind, *, there: bool) -> None:
        """Send one request and hold the answer; `there` puts what exists into the path, and any revision will do.

        A good cursor only the service can make, and a key names one request: made-up ones are not sent.
        """
        if generated_requests.is_positive(case) and "cursor" in (case.query or {}):
            del case.query["cursor"]
        if generated_requests.is_positive(case) and "Idempotency-Key" in (case.headers or {}):
            self.sent += 1
            case.headers["Idempotency-Key"] = f"key-{self.sent}"
        if there and case.path_parameters and not generated_requests.keeps_its_path(case):
            case.path_parameters = self.material.fill(case.path, case.path_parameters)
        if there and "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = "*"
        headers = self.material.headers[who]
        asked = self.request_runner.client.request(**generated_requests.prepared(case, headers))
        answer = self.request_runner.run(asked)
        generated_requests.hold(case, answer, headers)
        if case.method == "DELETE" and answer.is_success:
            self.material = self.request_runner.run(self.request_runner.make_material())


def owner(name: str) -> CallerKind:
    """The kind of caller that an operation is for."""
    operation = SERVICE.find(name)
    assert operation is not None
    told = operation.path.startswith(("/api/v1", "/api/auth", "/v0.1"))
    return "directory" if told else "bound"


@pytest.mark.parametrize("name", lane.part([*OPERATIONS]))
@covers("1.3:never-500", "1.13:openapi")
def test_every_corner_of_an_operation_is_answered_as_described(request_runner: RequestRunner, name: str) -> None:
    session = Session(request_runner)
    corners = generated_requests.corners(name)
    assert corners
    step = 1 if CORNERS is None else max(1, len(corners) // CORNERS)
    for place, case in enumerate(lane.part([*islice(corners, 0, None, step)], parts=4)):
        who = owner(name) if place % 4 else CALLER_KINDS[place // 4 % len(CALLER_KINDS)]
        session.send(case, who, there=place % 5 != 4)


@pytest.mark.parametrize("name", lane.part([*OPERATIONS]))
@covers("1.3:never-500", "1.13:openapi")
def test_whatever_is_sent_is_answered_as_described(request_runner: RequestRunner, name: str) -> None:
    session = Session(request_runner)
    callers = st.sampled_from([*([owner(name)] * len(CALLER_KINDS)), *CALLER_KINDS])

    @seed(lane.DAY if lane.is_quick() else 0)
    @given(case=generated_requests.anything(name), who=callers, there=st.integers(0, 3).map(bool))
    @settings(
        max_examples=EXAMPLES,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        deadline=None,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    )
    def ask(case: Any, who: CallerKind, there: bool) -> None:
        session.send(case, who, there=there)

    ask()
