"""`negotiator demo --keep`: fills a database with the example cases, and serves it again whenever it is asked for."""

import json
import shlex
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import httpx2

from negotiator.agents.routes import REGISTER_PATH
from negotiator.base.scopes import TOOLS_READ, TOOLS_WRITE
from negotiator.cli.demo.example_cases import load_cases
from negotiator.cli.demo.server import DemoFailed, DemoServer, run_server
from negotiator.cli.output import command_name
from negotiator.directory.accounts_routes import ACCOUNT_REGISTER_PATH
from negotiator.directory.listing_routes import TOOLS_PATH
from negotiator.discovery.authorization_metadata import SERVER_PATH
from negotiator.memory.transfer_routes import MEMORY_IMPORT_PATH
from negotiator.teleprompter.session_routes import SESSIONS_PATH

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
        negotiations = load_cases(http)
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
            record.write_text(json.dumps(asdict(found)))
        yield site, ExampleDatabase(**json.loads(record.read_text()))


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


def _sent(http: httpx2.Client, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = http.request(method, path, json=body)
    if not answer.is_success:
        raise DemoFailed(f"{method} {path}: {answer.status_code}: {answer.text}")
    return answer.json()
