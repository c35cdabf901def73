"""Submissions, reports and collections over HTTP (docs/contract 9.6 to 9.8)."""

from typing import Any, Final

import httpx2
import pytest

from negotiator.base.scopes import DIRECTORY
from negotiator.directory import submissions_transitions
from tests.conftest import Change
from tests.contract.requirements import covers
from tests.helpers.answer_checks import is_instant, limited, refused
from tests.helpers.directory_agents import DirectoryAgent, add_tool, join_directory
from tests.helpers.form_browser import BASE

pytestmark = pytest.mark.asyncio

TOOL: Final[dict[str, Any]] = {
    "name": "Quiet Search",
    "summary": "Full-text search over your notes",
    "kind": "app",
    "category": "search-web",
    "homepage_url": "https://quiet-search.example",
}
SAVED: Final = {"name": "To try"}
GUARDED: Final[dict[str, list[tuple[str, str, Any]]]] = {
    "tools:write": [
        ("POST", "/tools", TOOL),
        ("PATCH", "/tools/{tool}", {"tags": ["x"]}),
        ("GET", "/submissions", None),
        ("DELETE", "/tools/{tool}", None),
    ],
    "bookmarks:read": [("GET", "/bookmarks", None), ("GET", "/collections", None)],
    "bookmarks:write": [("POST", "/bookmarks", SAVED), ("POST", "/collections", SAVED)],
    "tools:read": [("POST", "/tools/{tool}/reports", {"reason": "broken_link"})],
}


@covers(
    "9.6:submitting",
    "9.8:collections",
    "1.14:scope-tools-write",
    "1.14:scope-bookmarks-read",
    "1.14:scope-bookmarks-write",
    "9.7:reports",
    "9.6:takedown",
)
@pytest.mark.parametrize("scope", GUARDED)
async def test_a_scope_opens_what_it_says_and_no_other_does(
    client: httpx2.AsyncClient, change: Change, scope: str
) -> None:
    key = await add_tool(change, "Acme")
    having = await join_directory(client, change, level=2, scopes=[scope])
    lacking = await join_directory(client, change, scopes=[name for name in DIRECTORY if name != scope])
    for method, place, body in GUARDED[scope]:
        path = place.format(tool=key)
        closed = await lacking.call(method, path, body, if_match="*")
        refused(closed, 403, "insufficient_scope")
        assert f'scope="{scope}"' in closed.headers["www-authenticate"]
        opened = await having.call(method, path, body, if_match="*")
        if method == "DELETE":
            refused(opened, 403, "not_owner")
        else:
            assert opened.is_success, opened.text
        limited(opened)
    for other, calls in GUARDED.items():
        if other != scope:
            for method, place, body in calls:
                answer = await having.call(method, place.format(tool=key), body, if_match="*")
                refused(answer, 403, "insufficient_scope")


@covers("9.6:submission", "9.6:states", "9.6:own")
async def test_a_submission_goes_its_way_in_sight_of_its_submitter(client: httpx2.AsyncClient, change: Change) -> None:
    agent, other = await join_directory(client, change), await join_directory(client, change)
    answer = await agent.post("/tools", TOOL)
    view = answer.json()
    assert answer.status_code == 202
    assert answer.headers["location"] == f"{BASE}/api/v1/submissions/{view['id']}"
    assert set(view) >= {"id", "type", "status", "checks", "tool", "revision", "created_at"}
    assert view["id"].startswith("sub_")
    assert (view["type"], view["status"], view["tool"]) == ("create", "pending", None)
    assert is_instant(view["created_at"])
    path = f"/submissions/{view['id']}"
    refused(await other.get(path), 404, "not_found")
    refused(await other.call("DELETE", path), 404, "not_found")
    await change(lambda tx: submissions_transitions.send_back(tx, view["id"], note="More, please."))
    assert (await agent.get(path)).json()["status"] == "changes_requested"
    await agent.call("PATCH", path, {"tags": ["notes"]}, if_match="*")
    assert (await agent.get(path)).json()["status"] == "pending"
    await change(lambda tx: submissions_transitions.approve(tx, view["id"]))
    approved = (await agent.get(path)).json()
    assert (approved["status"], approved["tool"]["slug"]) == ("approved", "quiet-search")
    refused(await agent.call("DELETE", path), 409, "illegal_transition")
    twice = refused(await other.post("/tools", TOOL), 409, "duplicate")
    assert twice["existing"]["id"] == approved["tool"]["id"]
    third = {**TOOL, "name": "Other", "homepage_url": "https://third.example"}
    second = (await agent.post("/tools", third)).json()
    assert (await agent.call("DELETE", f"/submissions/{second['id']}")).status_code == 204
    assert (await agent.get(f"/submissions/{second['id']}")).json()["status"] == "withdrawn"


@covers("9.6:update")
async def test_an_update_is_asked_for_under_the_tool_s_revision(client: httpx2.AsyncClient, change: Change) -> None:
    agent, key = await join_directory(client, change), await add_tool(change, "Acme")
    path, patch = f"/tools/{key}", {"tags": ["notes"]}
    refused(await agent.call("PATCH", path, patch), 428, "precondition_required")
    refused(await agent.call("PATCH", path, patch, if_match='"9"'), 412, "precondition_failed")
    answer = await agent.call("PATCH", path, patch, if_match='"1"')
    assert answer.status_code == 202
    assert (answer.json()["type"], answer.json()["status"]) == ("update", "pending")
    reason = {"reason": "spam"}
    assert (await agent.post(f"{path}/reports", reason)).status_code == 201
    refused(await agent.post(f"{path}/reports", reason), 409, "already_reported")


@covers("9.8:bookmarks", "9.8:conditions", "9.8:collections-alias")
async def test_a_collection_is_kept_under_its_revision(client: httpx2.AsyncClient, change: Change) -> None:
    agent, key = await join_directory(client, change), await add_tool(change, "Acme")
    made = await agent.post("/bookmarks", {**SAVED, "items": [{"tool_id": key}]})
    view = made.json()
    assert (made.status_code, made.headers["etag"]) == (201, '"1"')
    assert view["id"].startswith("col_")
    path = f"/collections/{view['id']}"
    assert (await agent.get(path)).json() == view
    assert (await agent.get("/collections")).json() == (await agent.get("/bookmarks")).json()
    await _changed(agent, path, key)
    refused(await agent.get(path), 404, "not_found")


async def _changed(agent: DirectoryAgent, path: str, key: str) -> None:
    for method in ("PUT", "PATCH", "DELETE"):
        body = None if method == "DELETE" else SAVED
        refused(await agent.call(method, path, body), 428, "precondition_required")
        stale = await agent.call(method, path, body, if_match='"7"')
        assert refused(stale, 412, "precondition_failed")["revision"] == 1
        assert stale.headers["etag"] == '"1"'
    assert (await agent.call("DELETE", f"{path}/items/{key}")).status_code == 204
    put = await agent.call("PUT", f"{path}/items/{key}", {"note": "n"})
    assert put.json()["items"][0]["note"] == "n"
    assert (await agent.call("PUT", path, SAVED, if_match='"3"')).json()["items"] == []
    renamed = await agent.call("PATCH", path, {"name": "Tried"}, if_match='"4"')
    assert renamed.json()["name"] == "Tried"
    assert (await agent.call("DELETE", path, if_match='"5"')).status_code == 204
