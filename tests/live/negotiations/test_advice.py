"""Plans, tactics, suggestions, leverage and the next move over what is kept, on both engines."""

from typing import Any

import pytest

from tests.helpers.negotiation_client import TACTIC, NegotiationClient
from tests.live.negotiations.conftest import ISSUES, PACKAGE, pages

pytestmark = pytest.mark.asyncio


async def _post(negotiation_client: NegotiationClient, path: str, body: Any, status: int = 200) -> dict[str, Any]:
    answer = await negotiation_client.post(path, body)
    assert answer.status_code == status, answer.text
    view: dict[str, Any] = answer.json()
    return view


async def test_plans_are_made_listed_printed_and_grow_stale(user: NegotiationClient) -> None:
    key = (await user.opened(issues=ISSUES, target={"package": PACKAGE}))["id"]
    path = f"/negotiations/{key}/battle-plans"
    made = [await _post(user, path, {}, 201) for _ in range(3)]
    assert [plan["version"] for plan in made] == [1, 2, 3]
    assert await user.state(key) == "planned"
    assert [plan["id"] for plan in await pages(user, path)] == [p["id"] for p in made[::-1]]
    one = f"{path}/{made[0]['id']}"
    assert (await user.get(one)).json() == made[0]
    printed = await user.get(one, accept="text/markdown")
    assert printed.headers["content-type"].startswith("text/markdown")
    assert printed.text.startswith("# ")
    await user.offered(key, "850")
    assert {plan["stale"] for plan in await pages(user, path)} == {True}
    assert (await user.get(f"{path}/pln_x")).status_code == 404


async def test_own_tactics_are_added_changed_and_deleted(user: NegotiationClient) -> None:
    first, second = [await _post(user, "/tactics", {**TACTIC, "name": name}, 201) for name in ("Tea", "Coffee")]
    own = await pages(user, "/tactics", owner="user")
    assert [view["id"] for view in own] == [second["id"], first["id"]]
    path, tag = f"/api/tactics/{first['id']}", {"if-match": f'"{first["revision"]}"'}
    change = {"name": "Green tea", "lines": None}
    edited = await user.client.patch(path, json=change, headers={**user.headers, **tag})
    assert (edited.status_code, edited.json()["revision"]) == (200, 2), edited.text
    stale = await user.client.patch(path, json=change, headers={**user.headers, **tag})
    assert stale.status_code == 412
    read = (await user.get(f"/tactics/{first['id']}")).json()
    assert (read["name"], read["lines"]) == ("Green tea", [])
    untouched = (await user.get(f"/tactics/{second['id']}")).json()
    assert untouched == second
    assert (await user.client.delete(path, headers=user.headers)).status_code == 204
    assert (await user.get(f"/tactics/{first['id']}")).status_code == 404
    assert [view["id"] for view in await pages(user, "/tactics", owner="user")] == [second["id"]]


async def test_advice_stands_on_what_is_kept(user: NegotiationClient) -> None:
    members = {"target": {"package": PACKAGE}, "batna": {"value": {"utility": 0.1}}, "max_rounds": 8}
    key = (await user.opened(issues=ISSUES, **members))["id"]
    await _post(user, "/tactics", TACTIC, 201)
    for by, price in (("me", "850"), ("them", "1150"), ("me", "880"), ("them", "1100")):
        body = {"by": by, "package": {**PACKAGE, "price": price}}
        await _post(user, f"/negotiations/{key}/offers", body, 201)
    leverage = await _post(user, f"/negotiations/{key}/leverage", {})
    assert 0 < leverage["power"]["alpha"] < 1
    move = await _post(user, f"/negotiations/{key}/next-move", {})
    assert move["my_utility"] >= move["floor"]
    said = {"utterance": "This is our final offer, take it or leave it.", "limit": 20}
    suggested = await _post(user, f"/negotiations/{key}/suggestions", said)
    assert suggested["items"]
    assert suggested["recognised"]
    described = await _post(user, "/tactics/suggest", {"utterance": said["utterance"]})
    assert described["items"]
