"""Who sees a collection: its owner, whoever has its link, everybody; and what comes of it for the tools."""

import asyncio

import httpx2
import pytest

from negotiator.base import values
from negotiator.compose import ownership
from negotiator.directory import catalogue_queries
from tests.conftest import Change
from tests.helpers.answer_checks import limited, refused
from tests.helpers.directory_agents import DirectoryAgent, JoinDirectory, add_tool
from tests.helpers.form_browser import BASE
from tests.helpers.sweep import sweep


def path_of(share_url: str) -> str:
    assert share_url.startswith(f"{BASE}/api/v1/shared/")
    return share_url.removeprefix(BASE)


@pytest.mark.asyncio
async def test_a_private_collection_is_nobody_else_s_in_any_way(
    agent: DirectoryAgent, new_directory_agent: JoinDirectory, change: Change
) -> None:
    tool = await add_tool(change, "Notion")
    path = f"/bookmarks/{(await agent.saved())['id']}"
    other = await new_directory_agent()
    for answer in (
        await other.get(path),
        await other.call("PUT", path, {"name": "mine"}, if_match="*"),
        await other.call("PATCH", path, {"visibility": "public"}, if_match="*"),
        await other.call("DELETE", path, if_match="*"),
        await other.call("PUT", f"{path}/items/{tool}", {}),
        await other.call("DELETE", f"{path}/items/{tool}"),
    ):
        refused(answer, 404, "not_found")
    assert (await other.get("/bookmarks")).json()["items"] == []
    assert (await agent.get(path)).json()["revision"] == 1


@pytest.mark.asyncio
async def test_another_s_cursor_opens_nothing(agent: DirectoryAgent, new_directory_agent: JoinDirectory) -> None:
    for _ in range(2):
        await agent.saved()
    cursor = (await agent.get("/bookmarks?limit=1")).json()["next_cursor"]
    other = await new_directory_agent()
    refused(await other.get(f"/bookmarks?limit=1&cursor={cursor}"), 400, "invalid_cursor")


@pytest.mark.asyncio
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


@pytest.mark.asyncio
async def test_a_public_collection_is_read_and_never_written_by_others(
    agent: DirectoryAgent, new_directory_agent: JoinDirectory
) -> None:
    view = await agent.saved(visibility="public")
    other, path = await new_directory_agent(), f"/bookmarks/{view['id']}"
    seen = (await other.get(path)).json()
    assert seen == {**view, "share_url": None}
    refused(await other.call("PATCH", path, {"name": "x"}, if_match="*"), 404, "not_found")
    refused(await other.call("DELETE", path, if_match="*"), 404, "not_found")


@pytest.mark.asyncio
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


@pytest.mark.asyncio
async def test_nobody_chooses_a_link(agent: DirectoryAgent) -> None:
    view = await agent.saved(visibility="unlisted")
    chosen = {"share_url": f"{BASE}/api/v1/shared/abc"}
    path = f"/bookmarks/{view['id']}"
    refused(await agent.call("PATCH", path, chosen, if_match="*"), 422, "validation_failed")
    refused(await agent.post("/bookmarks", {"name": "x", **chosen}), 422, "validation_failed")


@pytest.mark.asyncio
async def test_guessing_a_link_finds_nothing_and_is_charged(agent: DirectoryAgent, client: httpx2.AsyncClient) -> None:
    link = path_of((await agent.saved(visibility="unlisted"))["share_url"])
    head, _, token = link.rpartition("/")
    for guess in (link[:-1], link + "A", f"{head}/{token.swapcase()}", link[:-1] + "%", "/api/v1/shared/%25"):
        answer = await client.get(guess)
        refused(answer, 404, "not_found")
        limited(answer)


@pytest.mark.asyncio
async def test_many_at_once_stay_within_the_quota(agent: DirectoryAgent) -> None:
    answers = await asyncio.gather(*(agent.post("/bookmarks", {"name": f"n{place}"}) for place in range(40)))
    assert sorted(answer.status_code for answer in answers) == [201] * 20 + [409] * 20


@pytest.mark.asyncio
async def test_of_many_changes_to_one_revision_one_is_made(agent: DirectoryAgent) -> None:
    path = f"/bookmarks/{(await agent.saved())['id']}"
    answers = await asyncio.gather(
        *(agent.call("PATCH", path, {"name": f"n{place}"}, if_match='"1"') for place in range(20))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 19


@pytest.mark.asyncio
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


@pytest.mark.asyncio
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
