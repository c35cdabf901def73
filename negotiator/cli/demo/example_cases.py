"""The four example cases (`cases/*.toml`): each a negotiation with offers, memories and a closed deal.

Days in the files count from now (`in 21 days`, `41 days ago`), so that no deadline has passed when the cases are read.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from typing import Any, Final, cast

import httpx2

from negotiator.cli.demo.server import DemoFailed
from negotiator.memory.memories_routes import MEMORIES_PATH
from negotiator.memory.wins_routes import WINS_PATH
from negotiator.negotiations.routes import NEGOTIATIONS_PATH

CASES: Final = ("software_renewal", "salary", "freelance_rate", "used_car")
_DAYS: Final = re.compile(r"(?:in (\d+) days|(\d+) days ago)")
_MOMENTS: Final = frozenset({"deadline", "closed_at"})

Members = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExampleCase:
    """One case; each member is the body of an API call. The plan is made after `plan_after` of the offers, or never."""

    name: str
    negotiation: Members
    offers: tuple[Members, ...]
    memories: tuple[Members, ...]
    win: Members
    plan_after: int | None


def read_case(name: str, now: datetime) -> ExampleCase:
    """The case of this name, with days that count from `now`."""
    file = resources.files("negotiator.cli.demo") / "cases" / f"{name}.toml"
    found = cast(Members, _dated(tomllib.loads(file.read_text()), "", now))
    return ExampleCase(
        name,
        found["negotiation"],
        tuple(found["offers"]),
        tuple(found["memories"]),
        found["win"],
        found.get("plan_after"),
    )


def load_case(http: httpx2.Client, case: ExampleCase) -> str:
    """Store the case by the API; returns the negotiation's id. `http` has the base URL and a token of the owner's."""
    negotiation: str = _created(http, NEGOTIATIONS_PATH, case.negotiation)["id"]
    one = f"{NEGOTIATIONS_PATH}/{negotiation}"
    for number, offer in enumerate(case.offers):
        if number == case.plan_after:
            _created(http, f"{one}/battle-plans", {})
        _created(http, f"{one}/offers", offer)
    if case.plan_after == len(case.offers):
        _created(http, f"{one}/battle-plans", {})
    for memory in case.memories:
        _created(http, MEMORIES_PATH, {**memory, "negotiation_id": negotiation})
    _created(http, WINS_PATH, case.win)
    return negotiation


def load_cases(http: httpx2.Client, now: datetime | None = None) -> dict[str, str]:
    """Store all cases; returns the negotiations' ids by case."""
    at = now or datetime.now(UTC)
    return {name: load_case(http, read_case(name, at)) for name in CASES}


def _created(http: httpx2.Client, path: str, body: Mapping[str, Any]) -> Members:
    answer = http.post(path, json=body)
    if answer.status_code != 201:
        raise DemoFailed(f"POST {path}: expected 201, got {answer.status_code}: {answer.text}")
    return answer.json()


def _dated(value: Any, name: str, now: datetime) -> Any:
    """The value with each text that counts days from now as a date, or as a moment where the API asks for one."""
    if isinstance(value, dict):
        members = cast(Members, value)
        return {key: _dated(member, key, now) for key, member in members.items()}
    if isinstance(value, list):
        return [_dated(row, name, now) for row in cast("list[Any]", value)]
    if not isinstance(value, str) or (found := _DAYS.fullmatch(value)) is None:
        return value
    days = int(found[1]) if found[1] else -int(found[2])
    at = now.replace(hour=16, minute=0, second=0, microsecond=0) + timedelta(days=days)
    return at.isoformat() if name in _MOMENTS else at.date().isoformat()
