"""`negotiator demo --keep`: a database with the four example cases (`cases/*.toml`), served whenever it is asked for.

Days in the cases count from now (`in 21 days`, `41 days ago`), so that no deadline has passed when they are read.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast

import httpx2

from negotiator.agents.routes import REGISTER_PATH
from negotiator.base.scopes import TOOLS_READ, TOOLS_WRITE
from negotiator.cli.demo.server import DemoFailed, DemoServer, run_server
from negotiator.cli.output import command_name
from negotiator.directory.schemas_accounts import ACCOUNT_REGISTER_PATH
from negotiator.directory.schemas_listing import TOOLS_PATH
from negotiator.discovery.authorization_metadata import SERVER_PATH
from negotiator.memory.schemas_memories import MEMORIES_PATH, MEMORY_IMPORT_PATH
from negotiator.memory.schemas_wins import WINS_PATH
from negotiator.negotiations.routes import NEGOTIATIONS_PATH
from negotiator.teleprompter.session_view import SESSIONS_PATH

CASES: Final = ("software_renewal", "salary", "freelance_rate", "used_car")
_DAYS: Final = re.compile(r"(?:in (\d+) days|(\d+) days ago)")
_MOMENTS: Final = frozenset({"deadline", "closed_at"})

Members = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExampleCase:
    """One case; each member is the body of an API call. The plan is made after `plan_after` of the offers, or never."""

    negotiation: Members
    offers: list[Members]
    memories: list[Members]
    win: Members
    plan_after: int | None = None


def read_case(name: str, now: datetime) -> ExampleCase:
    """The case of this name, with days that count from `now`."""
    file = resources.files("negotiator.cli.demo") / "cases" / f"{name}.toml"
    return ExampleCase(**_dated(tomllib.loads(file.read_text("utf-8")), "", now))


def _load_case(http: httpx2.Client, case: ExampleCase) -> str:
    """Store the case by the API; returns the negotiation's id. `http` has the base URL and a token of the owner's."""
    negotiation: str = _sent(http, "POST", NEGOTIATIONS_PATH, case.negotiation)["id"]
    one = f"{NEGOTIATIONS_PATH}/{negotiation}"
    for number, offer in enumerate([*case.offers, None]):
        if number == case.plan_after:
            _sent(http, "POST", f"{one}/battle-plans", {})
        if offer:
            _sent(http, "POST", f"{one}/offers", offer)
    for memory in case.memories:
        _sent(http, "POST", MEMORIES_PATH, {**memory, "negotiation_id": negotiation})
    _sent(http, "POST", WINS_PATH, case.win)
    return negotiation


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


EMAIL: Final = "ada@example.com"
NAME: Final = "Ada"
PASSWORD: Final = "a long enough password"  # noqa: S105  of an example account on loopback
AGENT_NAME: Final = "Purchasing assistant"
_RECORD: Final = "examples.json"
_TIMEOUT: Final = 60.0
_TOOL: Final = {
    "name": "Contract Lantern",
    "summary": "Reads a supplier's contract and lists its renewal dates, notice periods and price clauses.",
    "kind": "app",
    "category": "finance-commerce",
    "homepage_url": "https://contract-lantern.example",
}
_NOTE: Final = {
    "text": "Somebody said that Relatio gives twenty percent to whoever asks twice.",
    "kind": "counterparty",
    "counterparty": "Relatio",
}
"""Imported, so that the user has something to look over."""
_SAID: Final = (
    ("me", "Thank you for taking the time. We would like to renew, at a price that fits."),
    ("them", "Honestly, that is way over what I can give away myself."),
    ("me", "What would your manager need to see?"),
    ("them", "If you sign this week we could do forty nine euros per seat."),
)


@dataclass(frozen=True, slots=True)
class ExampleDatabase:
    """What was stored: a user's sign-in, their agent with its token, negotiations by case, a call, a submission."""

    email: str
    password: str
    agent: str
    token: str
    negotiations: dict[str, str]
    call: str
    submission: str


def fill_database(site: DemoServer) -> ExampleDatabase:
    """Make the user Ada, an administrator, and their agent, which stores everything by the API.

    Raises `DemoFailed` where the database has a user of this address already.
    """
    site.operate(*("users", "add", EMAIL, "--name", NAME, "--admin", "--password-stdin"), text=f"{PASSWORD}\n")
    made = site.operate("delegations", "create", "--user", EMAIL, "--label", AGENT_NAME)
    with httpx2.Client(base_url=site.url, timeout=_TIMEOUT, trust_env=False) as http:
        claim = _sent(http, "GET", SERVER_PATH)["agent_auth"]["claim_uri"]
        body = {"agent_name": AGENT_NAME, "identity_type": "anonymous"}
        agent = _sent(http, "POST", REGISTER_PATH, body)
        http.headers["Authorization"] = f"Bearer {agent['access_token']}"
        bound = _sent(http, "POST", claim, {"claim_token": made["code"]})
        http.headers["Authorization"] = f"Bearer {bound['access_token']}"
        now = datetime.now(UTC)
        negotiations = {name: _load_case(http, read_case(name, now)) for name in CASES}
        _sent(http, "POST", MEMORY_IMPORT_PATH, {"lines": [_NOTE]})
        call = _begin_call(http, negotiations["software_renewal"])
        submission = _submit_tool(http)
    return ExampleDatabase(
        email=EMAIL,
        password=PASSWORD,
        agent=agent["client_id"],
        token=bound["access_token"],
        negotiations=negotiations,
        call=call,
        submission=submission,
    )


@contextmanager
def run_examples(folder: Path, port: int = 0) -> Generator[tuple[DemoServer, ExampleDatabase]]:
    """A server over the example database in `folder`, which is filled the first time."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    record = folder / _RECORD
    with run_server(folder.absolute(), port) as site:
        if not record.exists():
            found = fill_database(site)
            record.touch(0o600)
            record.write_text(json.dumps(asdict(found)), "utf-8")
        yield site, ExampleDatabase(**json.loads(record.read_text("utf-8")))


def describe(site: DemoServer, stored: ExampleDatabase) -> str:
    """What a reader of the terminal has to know."""
    again = f"{command_name()} demo --keep {shlex.quote(str(site.folder))}"
    return f"""Negotiator with example data: {site.url}

    Sign in as  {stored.email}
    Password    {stored.password}

Four negotiations, what was learned in them, what earlier ones brought, an approval that waits, a tool that waits.
The data is in {site.folder}; delete the folder to begin anew. Ctrl-C ends the server; this starts it again:

    {again}
"""


def _begin_call(http: httpx2.Client, negotiation: str) -> str:
    """A call about the negotiation that goes on, with its first sentences; its id."""
    consent = {"basis": "all_parties", "confirmed_by": NAME}
    call = _sent(http, "POST", SESSIONS_PATH, {"negotiation_id": negotiation, "consent": consent})
    for number, (speaker, text) in enumerate(_SAID):
        body = {"utterance_id": f"u{number}", "speaker": speaker, "text": text}
        _sent(http, "POST", f"{SESSIONS_PATH}/{call['id']}/utterances", body)
    return call["id"]


def _submit_tool(http: httpx2.Client) -> str:
    """A submission that waits for the administrator; its id."""
    body = {
        "agent_name": AGENT_NAME,
        "identity_type": "agent_id",
        "identity_value": "purchasing-assistant",
        "requested_scopes": [TOOLS_READ, TOOLS_WRITE],
    }
    key = _sent(http, "POST", ACCOUNT_REGISTER_PATH, body)["api_key"]
    http.headers["Authorization"] = f"Bearer {key}"
    return _sent(http, "POST", TOOLS_PATH, _TOOL)["id"]


def _sent(http: httpx2.Client, method: str, path: str, body: Mapping[str, Any] | None = None) -> Members:
    answer = http.request(method, path, json=body)
    if not answer.is_success:
        raise DemoFailed(f"{method} {path}: {answer.status_code}: {answer.text}")
    return answer.json()
