"""Collections: made, read, changed under their revision, listed, deleted; who sees them, and what comes of it."""

import asyncio
from typing import Any

import httpx2
import pytest

from negotiator.base import values
from negotiator.compose import ownership
from negotiator.directory import catalogue_queries
from tests.conftest import Change
from tests.contract.requirements import covers
from tests.helpers.answer_checks import limited, refused
from tests.helpers.directory_agents import DirectoryAgent, JoinDirectory, add_tool, tool
from tests.helpers.form_browser import BASE
from tests.helpers.sweep import sweep

pytestmark = pytest.mark.asyncio


async def test_a_collection_is_what_was_saved(agent: DirectoryAgent, change: Change) -> None:
    first, second = await add_tool(change, "Notion"), await add_tool(change, "Linear")
    body = {
        "name": "Work",
        "description": "For the team",
        "items": [{"tool_id": second, "note": "first choice"}, {"tool_id": first}],
    }
    answer = await agent.post("/bookmarks", body)
    view = answer.json()
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"{BASE}/api/v1/bookmarks/{view['id']}"
    assert answer.headers["etag"] == '"1"'
    assert [(item["tool_id"], item["note"], item["position"]) for item in view["items"]] == [
        (second, "first choice", 0),
        (first, "", 1),
    ]
    assert {item["status"] for item in view["items"]} == {"active"}
    assert (view["visibility"], view["share_url"], view["revision"]) == ("private", None, 1)
    again = await agent.get(f"/bookmarks/{view['id']}")
    assert again.json() == view
    unchanged = await agent.get(f"/bookmarks/{view['id']}", if_none_match='"1"')
    assert unchanged.status_code == 304


async def test_a_patch_changes_what_it_names(agent: DirectoryAgent, change: Change) -> None:
    tool = await add_tool(change, "Notion")
    view = await agent.saved(description="old", items=[{"tool_id": tool}])
    path = f"/bookmarks/{view['id']}"
    patched = await agent.call("PATCH", path, {"description": None}, if_match="*")
    assert patched.json()["description"] == ""
    assert patched.json()["items"] == view["items"]
    emptied = (await agent.call("PATCH", path, {"items": []}, if_match='"2"')).json()
    assert (emptied["items"], emptied["item_count"], emptied["revision"]) == ([], 0, 3)
    same = await agent.call("PATCH", path, {"items": []}, if_match='"3"')
    assert same.json() == emptied, "nothing changed, so nothing is newer"
    refused(await agent.call("PATCH", path, {"name": None}, if_match="*"), 422, "validation_failed")
    refused(await agent.call("PATCH", path, {"owner": "x"}, if_match="*"), 422, "validation_failed")


async def test_a_put_replaces_all_but_when_things_were_added(agent: DirectoryAgent, change: Change, clock: Any) -> None:
    first, second = await add_tool(change, "Notion"), await add_tool(change, "Linear")
    view = await agent.saved(description="old", items=[{"tool_id": first, "note": "n"}])
    clock.advance(60)
    body = {"name": "New", "items": [{"tool_id": second}, view["items"][0]]}
    after = (await agent.call("PUT", f"/bookmarks/{view['id']}", body, if_match='"1"')).json()
    assert (after["name"], after["description"]) == ("New", "")
    assert [item["tool_id"] for item in after["items"]] == [second, first]
    assert after["items"][1]["added_at"] == view["items"][0]["added_at"]
    assert after["items"][0]["added_at"] > after["items"][1]["added_at"]


async def test_a_put_makes_no_collection(agent: DirectoryAgent) -> None:
    answer = await agent.call("PUT", "/bookmarks/col_mine", {"name": "x"}, if_none_match="*")
    refused(answer, 428, "precondition_required")
    answer = await agent.call("PUT", "/bookmarks/col_mine", {"name": "x"}, if_match="*")
    refused(answer, 404, "not_found")


async def test_tools_are_put_moved_and_taken_out_again_and_again(agent: DirectoryAgent, change: Change) -> None:
    first, second = await add_tool(change, "Notion"), await add_tool(change, "Linear")
    view = await agent.saved(items=[{"tool_id": first}])
    path = f"/bookmarks/{view['id']}/items/{second}"
    put = await agent.call("PUT", path, {"note": "try", "position": 0})
    assert [item["tool_id"] for item in put.json()["items"]] == [second, first]
    assert (await agent.call("PUT", path)).json() == put.json(), "idempotent, and the note stays"
    dropped = await agent.call("DELETE", path)
    assert (dropped.status_code, dropped.headers["etag"]) == (204, '"3"')
    again = await agent.call("DELETE", path)
    assert (again.status_code, again.headers["etag"]) == (204, '"3"')
    stale = await agent.call("PUT", path, {}, if_match='"1"')
    refused(stale, 412, "precondition_failed")
    nowhere = await agent.call("PUT", f"/bookmarks/{view['id']}/items/tool_nothing", {})
    refused(nowhere, 404, "not_found")


async def test_a_tool_that_is_gone_stays_in_its_place(agent: DirectoryAgent, change: Change) -> None:
    first, second = await add_tool(change, "Notion"), await add_tool(change, "Linear")
    view = await agent.saved(items=[{"tool_id": first}, {"tool_id": second}])
    await change(lambda tx: catalogue_queries.withdraw(tx, first, "deleted", message="", actor="operator"))
    path = f"/bookmarks/{view['id']}"
    found = (await agent.get(path)).json()["items"]
    assert [(item["tool_id"], item["status"]) for item in found] == [(first, "deleted"), (second, "active")]
    body = {"name": "Tools", "items": list(reversed(found))}
    kept = await agent.call("PUT", path, body, if_match="*")
    assert kept.status_code == 200, "what was in it may stay"
    await agent.call("DELETE", f"{path}/items/{first}")
    refused(await agent.call("PUT", f"{path}/items/{first}", {}), 404, "not_found")


async def test_tools_that_do_not_exist_or_come_twice_are_named(agent: DirectoryAgent, change: Change) -> None:
    tool = await add_tool(change, "Notion")
    items = [{"tool_id": tool}, {"tool_id": "tool_x"}, {"tool_id": tool}]
    body = refused(await agent.post("/bookmarks", {"name": "x", "items": items}), 422, "validation_failed")
    assert [entry["pointer"] for entry in body["errors"]] == ["/items/1/tool_id", "/items/2/tool_id"]


async def test_the_list_has_the_newest_first_and_goes_on_by_cursor(agent: DirectoryAgent) -> None:
    made = [(await agent.saved(name=f"n{place}"))["id"] for place in range(5)]
    page = (await agent.get("/bookmarks?limit=3")).json()
    assert [each["id"] for each in page["items"]] == made[:1:-1]
    assert "items" not in page["items"][0]
    rest = (await agent.get(f"/bookmarks?limit=3&cursor={page['next_cursor']}")).json()
    assert [each["id"] for each in rest["items"]] == made[1::-1]
    assert rest["next_cursor"] is None
    refused(await agent.get("/bookmarks?cursor=abc"), 400, "invalid_cursor")


@pytest.mark.parametrize(("level", "most"), [(1, 20), (2, 100)])
async def test_a_level_has_so_many_collections(new_directory_agent: JoinDirectory, level: int, most: int) -> None:
    agent = await new_directory_agent(level=level)
    for _ in range(most):
        await agent.saved()
    refused(await agent.post("/bookmarks", {"name": "more"}), 409, "too_many_collections")


async def test_a_collection_has_so_many_tools(agent: DirectoryAgent, change: Change) -> None:
    keys = [await add_tool(change, f"Tool {place}") for place in range(501)]
    view = await agent.saved(items=[{"tool_id": key} for key in keys[:500]])
    assert view["item_count"] == 500
    more = await agent.call("PUT", f"/bookmarks/{view['id']}/items/{keys[500]}", {})
    refused(more, 409, "collection_full")
    over = {"name": "x", "items": [{"tool_id": key} for key in keys]}
    refused(await agent.post("/bookmarks", over), 422, "validation_failed")
    long = {"name": "x", "items": [{"tool_id": key, "note": "n" * 600} for key in keys[:500]]}
    refused(await agent.post("/bookmarks", long), 413, "invalid_request")


async def test_text_is_plain(agent: DirectoryAgent) -> None:
    view = await agent.saved(name="\u202eev\u200bil\u2066 na\x07me", description="a\r\nb")
    assert (view["name"], view["description"]) == ("evil name", "a\nb")
    refused(await agent.post("/bookmarks", {"name": "\u200b"}), 422, "validation_failed")


def path_of(share_url: str) -> str:
    assert share_url.startswith(f"{BASE}/api/v1/shared/")
    return share_url.removeprefix(BASE)


async def test_another_s_cursor_opens_nothing(agent: DirectoryAgent, new_directory_agent: JoinDirectory) -> None:
    for place in range(2):
        await agent.saved()
        await agent.post("/tools", tool(f"T{place}", f"t{place}.example"))
    other = await new_directory_agent()
    for path in ("/bookmarks", "/submissions"):
        cursor = (await agent.get(f"{path}?limit=1")).json()["next_cursor"]
        refused(await other.get(f"{path}?limit=1&cursor={cursor}"), 400, "invalid_cursor")


@covers("9.8:shared")
async def test_an_unlisted_collection_opens_by_its_link_alone(
    agent: DirectoryAgent, new_directory_agent: JoinDirectory, client: httpx2.AsyncClient
) -> None:
    view = await agent.saved(visibility="unlisted")
    link = path_of(view["share_url"])
    assert len(link.rpartition("/")[2]) == 22, "128 bits"
    read = await client.get(link)
    assert (read.status_code, read.json()) == (200, view)
    refused(await (await new_directory_agent()).get(f"/bookmarks/{view['id']}"), 404, "not_found")
    for method in ("PUT", "PATCH", "DELETE"):
        refused(await client.request(method, link), 405, "method_not_allowed")


async def test_a_public_collection_is_read_and_never_written_by_others(
    agent: DirectoryAgent, new_directory_agent: JoinDirectory
) -> None:
    view = await agent.saved(visibility="public")
    other, path = await new_directory_agent(), f"/bookmarks/{view['id']}"
    seen = (await other.get(path)).json()
    assert seen == {**view, "share_url": None}
    refused(await other.call("PATCH", path, {"name": "x"}, if_match="*"), 404, "not_found")
    refused(await other.call("DELETE", path, if_match="*"), 404, "not_found")


async def test_a_link_ends_with_null_with_privacy_and_with_the_collection(
    agent: DirectoryAgent, client: httpx2.AsyncClient
) -> None:
    view = await agent.saved(visibility="unlisted")
    path, dead = f"/bookmarks/{view['id']}", [view["share_url"]]

    async def patched(**members: object) -> str | None:
        answer = await agent.call("PATCH", path, members, if_match="*")
        assert answer.status_code == 200, answer.text
        link: str | None = answer.json()["share_url"]
        return link

    assert await patched(share_url=None) is None
    assert await patched(name="other") is None, "a link that was ended stays so"
    dead.append(await patched(visibility="unlisted"))
    assert await patched(visibility="private") is None
    dead.append(await patched(visibility="public"))
    assert len(set(dead)) == 3
    assert (await client.get(path_of(dead[2]))).status_code == 200
    await agent.call("DELETE", path, if_match="*")
    for link in dead:
        refused(await client.get(path_of(link)), 404, "not_found")
    forged = await agent.call("PATCH", path, {"share_url": dead[0]}, if_match="*")
    refused(forged, 404, "not_found")


async def test_nobody_chooses_a_link(agent: DirectoryAgent) -> None:
    view = await agent.saved(visibility="unlisted")
    chosen = {"share_url": f"{BASE}/api/v1/shared/abc"}
    path = f"/bookmarks/{view['id']}"
    refused(await agent.call("PATCH", path, chosen, if_match="*"), 422, "validation_failed")
    refused(await agent.post("/bookmarks", {"name": "x", **chosen}), 422, "validation_failed")


async def test_guessing_a_link_finds_nothing_and_is_charged(agent: DirectoryAgent, client: httpx2.AsyncClient) -> None:
    link = path_of((await agent.saved(visibility="unlisted"))["share_url"])
    head, _, token = link.rpartition("/")
    for guess in (link[:-1], link + "A", f"{head}/{token.swapcase()}", link[:-1] + "%", "/api/v1/shared/%25"):
        answer = await client.get(guess)
        refused(answer, 404, "not_found")
        limited(answer)


async def test_of_many_changes_to_one_revision_one_is_made(agent: DirectoryAgent) -> None:
    path = f"/bookmarks/{(await agent.saved())['id']}"
    answers = await asyncio.gather(
        *(agent.call("PATCH", path, {"name": f"n{place}"}, if_match='"1"') for place in range(20))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 19


async def test_a_save_counts_once_for_each_proven_owner(
    agent: DirectoryAgent, new_directory_agent: JoinDirectory, change: Change
) -> None:
    tool = await add_tool(change, "Notion")
    proven = await new_directory_agent(level=2)
    items = [{"tool_id": tool}]
    for owner in (agent, proven, proven, await new_directory_agent(level=2)):
        view = await owner.saved(items=items)

    async def saves() -> int:
        await change(lambda tx: sweep(tx, values.now()))
        found: catalogue_queries.CatalogueTool = await change(lambda tx: catalogue_queries.find(tx, tool))
        return found.saves

    assert await saves() == 2
    await owner.call("DELETE", f"/bookmarks/{view['id']}", if_match="*")
    assert await saves() == 1


async def test_claiming_moves_collections_and_erasing_leaves_none(
    agent: DirectoryAgent, change: Change, client: httpx2.AsyncClient
) -> None:
    view = await agent.saved(visibility="unlisted")
    await change(lambda tx: ownership.claim(tx, agent.id, "usr_1"))
    assert (await agent.get("/bookmarks")).json()["items"] == []
    link = path_of(view["share_url"])
    assert (await client.get(link)).status_code == 200
    await change(lambda tx: ownership.erase(tx, "usr_1"))
    refused(await client.get(link), 404, "not_found")
