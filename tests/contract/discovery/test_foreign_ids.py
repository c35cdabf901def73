"""What is somebody else's is not there: every operation, tool and page with the ids of a thing that another user has.

Two users have one of everything. What Ada has, Eve asks for in every way there is. She is told what she would be told
of an id that never was, no list of hers has it, and nothing of it changes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import httpx2
import pytest
from starlette.routing import Route

from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.console.page_router import DeferredPages
from negotiator.http.operation import Operation
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from negotiator.users import user_queries
from tests.conftest import bearer, connect
from tests.contract.requirements import covers
from tests.helpers.form_browser import PASSWORD, FormBrowser
from tests.helpers.generated_requests import SERVICE
from tests.helpers.mcp_client import NEWEST, OLDER, McpClient
from tests.helpers.request_bodies import CREATING
from tests.helpers.request_runner import CallerKind, RequestRunner

OWNED: Final = {"negotiations", "memories", "tactics", "wins", "sessions", "bookmarks", "submissions"}
PUBLIC: Final = {"tools", "servers", "shared"}
"""What everybody may read; who may change a tool is a matter of standing and has tests of its own."""
BODIES: Final[Mapping[str, dict[str, Any]]] = {
    **CREATING,
    "move_negotiation": {"to": "cancelled"},
    "record_offer": {"by": "me", "kind": "offer", "package": {"price": "5"}},
    "hear_utterance": {"utterance_id": "u1", "text": "Hello."},
    "judge_cue": {"action": "used"},
    "check_reply": {"draft": "I can do 5."},
    "replace_collection": CREATING["save_collection"],
    "appeal_submission": {"message": "Please look again."},
}
FIELDS: Final = {
    **{"name": "Mine", "text": "Mine.", "kind": "fact", "sure": "yes", "pinned": "yes", "revision": "1"},
    **{"to": "end", "do": "leave", "cue": "cue_1", "action": "used"},
}
PAGES: Final = {"negotiations": "negotiations", "live": "sessions", "memories": "memories", "agents": "agents"} | {
    "wins": "wins",
    "tactics": "tactics",
    "rehearsals": "rehearsals",
}
"""The first part of a page's path, and what its id is of."""


def _part(path: str) -> str:
    """The part of a path that its first parameter follows."""
    return next(before for before, part in pairwise(path.split("/")) if part.startswith("{"))


WALKED: Final = [each for each in SERVICE.operations if each.path_parameters and _part(each.path) in OWNED]


@dataclass
class Person:
    """A user with one of everything: the credentials, the ids by the part of a path before them, and a browser."""

    headers: dict[CallerKind, dict[str, str]]
    places: dict[str, str]
    browser: FormBrowser

    def fill(self, path: str) -> str:
        """This path with the user's ids."""
        parts = path.split("/")
        filled = [
            self.places.get(before, "none") if part[:1] == "{" else part for before, part in pairwise(["", *parts])
        ]
        return "/".join(filled)

    def ids(self, path: str) -> dict[str, str]:
        """The user's id for each parameter of the path."""
        return {
            name[1:-1]: one
            for name, one in zip(path.split("/"), self.fill(path).split("/"), strict=True)
            if name != one
        }

    def asks(self, operation: Operation) -> dict[str, str]:
        """The credential of the kind that the operation is for."""
        return self.headers["directory" if operation.path.startswith("/api/v1") else "bound"]


async def _person(runner: RequestRunner) -> Person:
    material = await runner.make_material()
    owner, client, places = material.headers["bound"], runner.client, material.places
    for path, part, body in (
        ("/api/teleprompter/sessions", "sessions", CREATING["open_teleprompter_session"]),
        (f"/api/negotiations/{places['negotiations']}/rehearsals", "rehearsals", CREATING["start_rehearsal"]),
        ("/api/memories", "memories", CREATING["remember"]),
        ("/api/wins", "wins", CREATING["record_win"]),
    ):
        answer = await client.post(path, json=body, headers=owner)
        assert answer.status_code in {200, 201}, answer.text
        places[part] = answer.json()["id"]
    email = f"ada{runner.made}@example.com"
    hashed = user_queries.hash_password(PASSWORD)

    def known(tx: Any) -> str:
        user = user_queries.by_email(tx, email)
        assert user
        user_queries.set_password(tx, user.id, hashed, actor="operator")
        return user.id

    await runner.change(known)
    browser = FormBrowser(connect(runner.application))
    assert (await browser.sign_in(email)).status_code == 303
    (places["agents"],) = set(re.findall(r"/agents/(agt_\w{26})", (await browser.open("/agents")).text))
    return Person(material.headers, places, browser)


@pytest.fixture(scope="session")
def ada(request_runner: RequestRunner) -> Person:
    """Whose things they are."""
    return request_runner.run(_person(request_runner))


@pytest.fixture(scope="session")
def eve(request_runner: RequestRunner) -> Person:
    """Who asks for them."""
    return request_runner.run(_person(request_runner))


@pytest.fixture(scope="session")
def program(request_runner: RequestRunner) -> dict[str, str]:
    """The credential of a program with every scope, which acts for itself."""
    new = NewClient("full", clients.USERLESS_GRANTS, (*ASSISTANT, *DIRECTORY))

    async def added() -> tuple[str, str]:
        pair: tuple[str, str] = await request_runner.change(lambda tx: clients.add(tx, new))
        return pair

    key, secret = request_runner.run(added())
    form = {"grant_type": "client_credentials", "client_id": key, "client_secret": secret}
    return bearer(request_runner.run(request_runner.client.post("/oauth/token", data=form)).json())


def never(path: str) -> str:
    """The same path with ids that never were."""
    return re.sub(r"(?<=/[a-z]{3}_)[0-9a-z]{26}", "0" * 26, path)


def told(answer: httpx2.Response) -> dict[str, Any]:
    """The refusal, without the request's id."""
    return {**answer.json(), "request_id": ""}


def test_everything_that_an_id_leads_to_is_walked_or_public() -> None:
    assert {_part(each.path) for each in SERVICE.operations if each.path_parameters} == OWNED | PUBLIC


@pytest.mark.parametrize("operation", WALKED, ids=lambda each: each.name)
@covers("1.3:404", "1.9:ownership", "8.1:owner")
def test_an_operation_finds_nothing_of_another_user(
    request_runner: RequestRunner, ada: Person, eve: Person, program: dict[str, str], operation: Operation
) -> None:
    body = None if operation.reads_query else BODIES.get(operation.name, {})

    def ask(path: str, headers: dict[str, str]) -> httpx2.Response:
        kind = {"content-type": "application/json", "if-match": "*"}
        return request_runner.run(
            request_runner.client.request(operation.method, path, json=body, headers={**kind, **headers})
        )

    path = ada.fill(operation.path)
    strangers = [eve.asks(operation), eve.headers["anonymous"], eve.headers["directory"], eve.headers["bound"], program]
    for headers in strangers:
        theirs, nothing = ask(path, headers), ask(never(path), headers)
        assert told(theirs) == told(nothing)
        if headers is strangers[0]:
            assert (theirs.status_code, theirs.json()["error"]) == (404, "not_found")
        else:
            assert theirs.status_code in {403, 404}
    if operation.path_parameters[-1] in {"plan_id", "rehearsal_id"}:
        crossed = f"/api/negotiations/{eve.places['negotiations']}/{path.split('/', 4)[4]}"
        assert ask(crossed, strangers[0]).status_code == 404, "below a thing of Eve's own"
    if operation.method == "GET" and operation.name not in {"get_debrief", "stream_session"}:
        assert ask(path, ada.asks(operation)).status_code == 200, "it is there"


@pytest.mark.parametrize(
    "operation",
    [each for each in SERVICE.operations if each.method == "GET" and each.scopes and not each.path_parameters],
    ids=lambda each: each.name,
)
def test_no_list_has_anything_of_another_user(
    request_runner: RequestRunner, ada: Person, eve: Person, operation: Operation
) -> None:
    answer = request_runner.run(request_runner.client.get(operation.path, headers=eve.asks(operation)))
    owned = {ada.places[part] for part in OWNED}
    assert not [each for each in owned if each in answer.text]


@pytest.mark.parametrize("version", [NEWEST, OLDER[0]])
def test_a_tool_finds_nothing_of_another_user(
    request_runner: RequestRunner, ada: Person, eve: Person, version: str
) -> None:
    stranger = McpClient(request_runner.client, eve.headers["bound"], version)
    tools = [each for each in WALKED if each.tool and not each.path.startswith("/api/v1")]
    assert len(tools) > 10
    for operation in tools:
        parts = ada.ids(operation.path)
        body = BODIES.get(operation.name, {})
        theirs = request_runner.run(stranger.call(operation.name, **body, **parts))
        absent = {name: never(f"/{value}")[1:] for name, value in parts.items()}
        nothing = request_runner.run(stranger.call(operation.name, **body, **absent))
        assert '"not_found"' in theirs.text.replace("\\", ""), operation.name
        assert re.sub("req_[0-9a-z]+", "", theirs.text) == re.sub("req_[0-9a-z]+", "", nothing.text), operation.name


def _pages(runner: RequestRunner) -> list[tuple[str, str]]:
    """The method and path of each page and form that is about one thing of a user's."""
    (deferred,) = [each for each in runner.application.routes if isinstance(each, DeferredPages)]
    later: Any = vars(deferred)["_routes"]
    routes = [*runner.application.routes, *runner.run(later.get())]
    found = [each for each in routes if isinstance(each, Route) and re.match(r"/(\w+)/\{", each.path)]
    return [
        (method, each.path)
        for each in found
        if _part(each.path) in PAGES
        for method in sorted((each.methods or set()) - {"HEAD"})
    ]


def test_no_page_and_no_form_finds_anything_of_another_user(
    request_runner: RequestRunner, ada: Person, eve: Person
) -> None:
    run, hers = request_runner.run, eve.browser
    ids = {part: ada.places[place] for part, place in PAGES.items()}
    walked = _pages(request_runner)
    assert {path.split("/")[1] for _, path in walked} == PAGES.keys() - {"rehearsals"}
    owned = Person(ada.headers, ids, ada.browser)
    token = run(hers.token("/account"))
    for method, path in walked:
        asked = owned.fill(path)
        if method == "GET":
            assert run(ada.browser.open(asked)).status_code in {200, 303}, asked
            assert run(hers.open(asked)).status_code == 404, asked
            continue
        answers = [run(hers.client.post(each, data={**FIELDS, "csrf": token})) for each in (asked, never(asked))]
        assert [each.status_code for each in answers] == [404, 404], path


def test_and_all_of_it_is_as_it_was(request_runner: RequestRunner, ada: Person) -> None:
    kinds: dict[str, CallerKind] = {"bookmarks": "directory", "submissions": "directory"}
    seen = {
        part: request_runner.run(
            request_runner.client.get(f"{path}/{ada.places[part]}", headers=ada.headers[kinds.get(part, "bound")])
        )
        for part, path in (
            *((part, f"/api/{part}") for part in ("negotiations", "memories", "tactics", "wins")),
            ("sessions", "/api/teleprompter/sessions"),
            ("bookmarks", "/api/v1/bookmarks"),
            ("submissions", "/api/v1/submissions"),
        )
    }
    assert {part: answer.status_code for part, answer in seen.items()} == dict.fromkeys(seen, 200)
    assert seen["negotiations"].json()["state"] == "active"
    assert seen["sessions"].json()["state"] == "ready"
    assert seen["memories"].json()["text"] == CREATING["remember"]["text"]
    assert seen["tactics"].json()["name"] == CREATING["add_tactic"]["name"]
