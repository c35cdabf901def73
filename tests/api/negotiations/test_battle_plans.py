"""Battle plans through the doors."""

from typing import Any

import pytest
from starlette.applications import Starlette

from tests.conftest import Mint, bearer
from tests.contract.requirements import covers
from tests.helpers.negotiation_client import PRICE, TERM, NegotiationClient, negotiation_client, new_negotiation_client

__all__ = ["negotiation_client", "new_negotiation_client"]


async def planned(negotiation_client: NegotiationClient, key: str, **headers: str) -> dict[str, Any]:
    """A plan that had to be made."""
    answer = await negotiation_client.post(f"/negotiations/{key}/battle-plans", {}, **headers)
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


@pytest.mark.asyncio
async def test_making_a_plan_moves_a_draft_to_planned_and_the_plan_is_current(
    negotiation_client: NegotiationClient,
) -> None:
    talk = await negotiation_client.opened(target={"package": {"price": 900}})
    plan = await planned(negotiation_client, talk["id"])
    assert plan["id"].startswith("pln_")
    assert (plan["version"], plan["stale"], plan["worded_by"]) == (1, False, "engine")
    assert await negotiation_client.state(talk["id"]) == "planned"
    assert plan["floor"]["package"]["price"] == {"value": "1100.00", "source": "session:/walk_away/package/price"}
    assert "1100" not in " ".join(plan["script"].values())
    events = (await negotiation_client.get(f"/negotiations/{talk['id']}/events")).json()["items"]
    assert any(event["to_state"] == "planned" for event in events)


@pytest.mark.asyncio
@covers("6.8:stale")
async def test_a_plan_goes_stale_when_the_talk_moves_on_and_a_new_one_is_a_new_version(
    negotiation_client: NegotiationClient,
) -> None:
    talk = await negotiation_client.opened(target={"package": {"price": 900}})
    first = await planned(negotiation_client, talk["id"])
    await negotiation_client.offered(talk["id"], "880")
    path = f"/negotiations/{talk['id']}/battle-plans"
    assert (await negotiation_client.get(f"{path}/{first['id']}")).json()["stale"]
    second = await planned(negotiation_client, talk["id"])
    assert (second["version"], second["stale"]) == (2, False)
    assert second["opening_offer"]["made"]
    assert second["opening_offer"]["package"]["price"] == {"value": "880.00", "source": "offer:1"}
    await negotiation_client.patch(talk["id"], {"target": {"package": {"price": 950}}})
    heads = (await negotiation_client.get(path)).json()["items"]
    assert [(one["version"], one["stale"]) for one in heads] == [(2, True), (1, True)]
    assert await negotiation_client.state(talk["id"]) == "active"


@pytest.mark.asyncio
async def test_the_least_negotiation_gets_a_plan_that_names_what_is_missing(
    negotiation_client: NegotiationClient,
) -> None:
    answer = await negotiation_client.post(
        "/negotiations", {"title": "Bike", "role": "buyer", "issues": [{"name": "price"}]}
    )
    plan = await planned(negotiation_client, answer.json()["id"])
    assert plan["opening_offer"] is None
    missing = {gap["missing"] for gap in plan["information_gaps"]}
    assert {"walk_away", "target", "issues/0/range"} <= missing


@pytest.mark.asyncio
@covers("6.8:markdown")
async def test_a_plan_is_printed_for_those_who_accept_markdown(negotiation_client: NegotiationClient) -> None:
    hostile = {"name": "<script>alert(1)</script> [x](http://evil.example) **Acme**"}
    talk = await negotiation_client.opened(issues=[PRICE, TERM], counterparty=hostile)
    plan = await planned(negotiation_client, talk["id"])
    path = f"/negotiations/{talk['id']}/battle-plans/{plan['id']}"
    page = await negotiation_client.get(path, Accept="text/markdown")
    assert page.headers["content-type"] == "text/markdown; charset=utf-8"
    assert page.headers["vary"] == "Accept"
    assert page.text.startswith("# Battle plan")
    for title in ("## At a glance", "## Opening", "## Step by step", "## Objections and answers"):
        assert title in page.text
    assert "<script>" not in page.text
    assert "](http" not in page.text
    assert "**Acme" not in page.text


def plain(section: dict[str, Any]) -> dict[str, Any]:
    """The package of a section without its sources."""
    return {name: figure["value"] for name, figure in section["package"].items()}


@pytest.mark.asyncio
@covers("6.8:path")
async def test_the_plan_and_the_next_move_show_the_same_path(negotiation_client: NegotiationClient) -> None:
    talk = await negotiation_client.opened(
        issues=[PRICE, TERM],
        target={"package": {"price": 900, "term": "1 year"}},
        walk_away={"package": {"price": 1100, "term": "3 years"}},
    )
    for theirs in (None, 1190, 1170):
        if theirs is not None:
            package = {"price": theirs, "term": "3 years"}
            body = {"by": "them", "package": package}
            await negotiation_client.post(f"/negotiations/{talk['id']}/offers", body)
        plan = await planned(negotiation_client, talk["id"])
        answer = await negotiation_client.post(f"/negotiations/{talk['id']}/next-move", {})
        move = answer.json()
        steps = [plain(row) for row in plan["concession_schedule"]]
        assert steps == move["path"]
        assert steps
        first = plain(plan["opening_offer"])
        assert move["offer"] in (first, steps[0])


@pytest.mark.asyncio
@covers("6.8:case")
async def test_a_plan_has_the_interests_and_objections_of_its_kind_of_deal(
    negotiation_client: NegotiationClient,
) -> None:
    talk = await negotiation_client.opened(title="Used VW Golf", kind="new_purchase")
    plan = await planned(negotiation_client, talk["id"])
    assert plan["case"] == "used_car"
    assert any("listings" in row["standard"] for row in plan["standards"])
    assert any("dealer" in row["objection"] for row in plan["objections"])
    assert "a full tank" in plan["closing_asks"]
    assert plan["interests"]["theirs"]
    assert plan["interests"]["ours"]


@pytest.mark.parametrize(
    "accept",
    ["", "*/*", "application/json", "text/markdown;q=0", "text/markdown;q=0.5, application/json", "text/markdown;q=x"],
)
@pytest.mark.asyncio
async def test_everybody_else_gets_json(negotiation_client: NegotiationClient, accept: str) -> None:
    talk = await negotiation_client.opened()
    plan = await planned(negotiation_client, talk["id"])
    path = f"/negotiations/{talk['id']}/battle-plans/{plan['id']}"
    page = await negotiation_client.get(path, Accept=accept)
    assert page.json() == plan


@pytest.mark.asyncio
async def test_versions_are_listed_newest_first_page_by_page(negotiation_client: NegotiationClient) -> None:
    talk = await negotiation_client.opened()
    for _ in range(3):
        await planned(negotiation_client, talk["id"])
    path = f"/negotiations/{talk['id']}/battle-plans"
    page = (await negotiation_client.get(f"{path}?limit=2")).json()
    assert [one["version"] for one in page["items"]] == [3, 2]
    rest = (await negotiation_client.get(f"{path}?limit=2&cursor={page['next_cursor']}")).json()
    assert [one["version"] for one in rest["items"]] == [1]
    assert rest["next_cursor"] is None
    assert "script" not in page["items"][0]
    other = await negotiation_client.opened()
    foreign = await negotiation_client.get(f"/negotiations/{other['id']}/battle-plans?cursor={page['next_cursor']}")
    assert (foreign.status_code, foreign.json()["error"]) == (400, "invalid_cursor")


@pytest.mark.asyncio
async def test_the_same_key_makes_one_plan(negotiation_client: NegotiationClient) -> None:
    talk = await negotiation_client.opened()
    first = await planned(negotiation_client, talk["id"], **{"Idempotency-Key": "k"})
    again = await planned(negotiation_client, talk["id"], **{"Idempotency-Key": "k"})
    assert again == first
    heads = (await negotiation_client.get(f"/negotiations/{talk['id']}/battle-plans")).json()["items"]
    assert len(heads) == 1


@pytest.mark.asyncio
async def test_a_closed_negotiation_is_not_planned_for(negotiation_client: NegotiationClient) -> None:
    talk = await negotiation_client.opened()
    await negotiation_client.move(talk["id"], "cancelled")
    answer = await negotiation_client.post(f"/negotiations/{talk['id']}/battle-plans", {})
    assert (answer.status_code, answer.json()["error"]) == (409, "not_active")


@pytest.mark.asyncio
async def test_a_deleted_negotiation_takes_its_plans_along(
    negotiation_client: NegotiationClient, application: Starlette
) -> None:
    talk = await negotiation_client.opened()
    plan = await planned(negotiation_client, talk["id"])
    assert (await negotiation_client.delete(talk["id"])).status_code == 204
    path = f"/negotiations/{talk['id']}/battle-plans"
    assert (await negotiation_client.get(path)).status_code == 404
    assert (await negotiation_client.get(f"{path}/{plan['id']}")).status_code == 404
    assert application is not None


@pytest.mark.asyncio
async def test_plans_and_tactics_move_to_the_user_who_claims_the_agent(
    negotiation_client: NegotiationClient, mint: Mint
) -> None:
    talk = await negotiation_client.opened()
    plan = await planned(negotiation_client, talk["id"])
    _, code = await mint(scopes=["negotiations:read", "memories:write"])
    claimed = await negotiation_client.post("/agent/claim", {"claim_token": code})
    assert claimed.status_code == 200, claimed.text
    after = NegotiationClient(negotiation_client.client, bearer(claimed.json()))
    found = await after.get(f"/negotiations/{talk['id']}/battle-plans/{plan['id']}")
    assert found.json() == plan


@pytest.mark.asyncio
async def test_a_plan_shows_the_walk_away_that_is_kept_in_all(negotiation_client: NegotiationClient) -> None:
    options = [{"value": "collected", "worth": 0}, {"value": "delivered", "worth": -35}]
    transport = {"name": "transport", "type": "enum", "options": options}
    least = {"price": "1100", "transport": "collected"}
    talk = await negotiation_client.opened(issues=[PRICE, transport], walk_away={"package": least})
    plan = await planned(negotiation_client, talk["id"])
    assert [row["limit"]["words"] for row in plan["overview"]] == ["€1,100", "collected"]
    assert [one["limit"] for one in talk["issues"]] == [None, None]
