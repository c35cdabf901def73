"""An agent tries every way round the limits of its user: over HTTP and MCP, by edits, offers, answers and approvals."""

import asyncio
import json
from typing import Any, Final

import httpx2
import pytest

from tests.contract.requirements import covers
from tests.helpers.form_browser import FormBrowser
from tests.helpers.limited_negotiation import CRM, ISSUES, MONTHS, PRICE, SUPPORT, Opened, changed, refused
from tests.helpers.mcp_client import McpClient, told
from tests.helpers.negotiation_client import NegotiationClient

WITHOUT_PRICE: Final[dict[str, Any]] = {
    "target": {"package": {"price": None}},
    "walk_away": {"package": {"price": None}},
    "batna": {"value": {"package": {"price": None}}},
    "authority": None,
}
LOOSER: Final[list[tuple[dict[str, Any], str, str, str]]] = [
    ({"walk_away": {"package": {"price": 55}}}, "issues/price/limit", "€54", "€55"),
    ({"walk_away": {"package": {"price": None}}}, "issues/price/limit", "€54", ""),
    ({"walk_away": None}, "issues/price/limit", "€54", ""),
    ({"walk_away": {"package": None, "utility": 0.1}}, "issues/price/limit", "€54", ""),
    ({"walk_away": {"package": {"support": "none"}}}, "issues/support/limit", "email", "none"),
    (changed(0, limit=60), "issues/price/limit", "€54", "€60"),
    ({**changed(0, name="rate"), **WITHOUT_PRICE}, "issues/price/limit", "€54", ""),
    ({"issues": [MONTHS, SUPPORT], **WITHOUT_PRICE}, "issues/price/limit", "€54", ""),
    ({"currency": "USD"}, "issues/price/limit", "€54", "$54"),
    ({"role": "seller"}, "issues/price/limit", "€54", "€45"),
    (changed(0, multiples=[{"count": 90, "of": "seats"}]), "issues/price/limit", "€54", "another"),
    (changed(0, multiples=[]), "issues/price/limit", "€54", "another"),
    (changed(0, direction="higher"), "issues/price/limit", "€54", "€45"),
    (changed(0, value_points=[[38, 1], [64, 1], [65, 0]]), "issues/price/limit", "€54", "another"),
    (changed(1, unit="years"), "issues/months/limit", "24 months", "24 years"),
    (
        changed(
            2,
            options=[
                {"value": "phone", "utility": 0},
                {"value": "email", "utility": 0.5},
                {"value": "none", "utility": 1},
            ],
        ),
        "issues/support/limit",
        "email",
        "phone",
    ),
    ({"target": {"package": {"months": 36}}}, "issues/months/limit", "24 months", "36 months"),
    ({"batna": None}, "batna", "€56", ""),
    ({"batna": {"value": None}}, "batna", "€56", ""),
    ({"batna": {"value": {"package": {"price": 58}}}}, "batna", "€56", "€58"),
    ({"batna": {"probability": 0.1}}, "batna", "90%", "10%"),
    ({"constraints": []}, "constraints/months", "at most 24 months", ""),
    (
        {"constraints": [{"issue": "months", "op": "<=", "value": 36}]},
        "constraints/months",
        "at most 24 months",
        "at most 36 months",
    ),
    (
        {"constraints": [{"issue": "months", "op": "<=", "value": 24, "hard": False}]},
        "constraints/months",
        "at most 24 months",
        "",
    ),
    ({"authority": None}, "authority", "€53", ""),
    ({"authority": {"limit": "60", "needs_approval_above": "60"}}, "authority", "€52", "€60"),
    ({"allow": [{"issue": "months", "to": 36, "in_return": {"price": 46}}]}, "allow", "", "36 months"),
]


@pytest.mark.asyncio
@covers("6.2:user_limits")
async def test_no_edit_loosens_a_limit_of_the_user(agent: NegotiationClient, opened: Opened) -> None:
    view = await opened()
    for patch, limit, was, now in LOOSER:
        body = refused(await agent.patch(view["id"], patch))
        [loosened] = [one for one in body["limits"] if one["limit"] == limit]
        assert was in (loosened["was"] or ""), patch
        assert now in (loosened["now"] or ""), patch
        assert body["page"].endswith(f"/negotiations/{view['id']}")
        assert loosened["name"] in body["error_description"]
        assert body["page"] in body["error_description"]
    assert (await agent.get(f"/negotiations/{view['id']}")).json() == view


@pytest.mark.asyncio
async def test_over_mcp_the_answer_is_the_same(
    agent: NegotiationClient, opened: Opened, client: httpx2.AsyncClient
) -> None:
    view = await opened()
    mcp = McpClient(client, agent.headers)
    for patch, limit, _, _ in LOOSER:
        if "null" in json.dumps(patch) or patch.get("constraints") == []:
            continue  # a tool takes these for members that are left out
        body = told(await mcp.call("edit_negotiation", id=view["id"], **patch))
        assert body["error"] == "user_decides", patch
        assert limit in [one["limit"] for one in body["limits"]]
    cleared = await mcp.call("edit_negotiation", id=view["id"], clear=["batna", "constraints"])
    assert told(cleared)["error"] == "user_decides"
    assert (await agent.get(f"/negotiations/{view['id']}")).json() == view


FEE: Final[dict[str, Any]] = {
    "name": "fee",
    "label": "Handling fee",
    "type": "money",
    "range": {"min": 0, "max": 50000},
}


@pytest.mark.asyncio
@covers("6.2:user_limits")
@pytest.mark.parametrize("members", [{}, {"direction": "higher"}, {"direction": "lower", "limit": 50000}])
async def test_an_amount_of_money_that_the_user_did_not_number_waits_for_them(
    agent: NegotiationClient, opened: Opened, members: dict[str, Any]
) -> None:
    view = await opened()
    added = refused(await agent.patch(view["id"], {"issues": [*ISSUES, {**FEE, **members}]}))
    [one] = [one for one in added["limits"] if one["name"] == "amounts of money"]
    assert one["now"] == "price per seat and month and handling fee"
    as_number = {"name": "fee", "label": "Handling fee", "type": "number", "direction": "lower"}
    assert (await agent.patch(view["id"], {"issues": [*ISSUES, as_number]})).status_code == 200
    refused(await agent.patch(view["id"], {"issues": [*ISSUES, {**FEE, **members}]}))


@pytest.mark.asyncio
@pytest.mark.parametrize("limit", ["batna", "authority"])
async def test_the_measure_of_an_alternative_or_an_authority_stays(
    agent: NegotiationClient, opened: Opened, limit: str
) -> None:
    given = {"batna": CRM["batna"], "authority": {"limit": {"package": {"price": 50}}}}
    rest = dict.fromkeys(("walk_away", "batna", "constraints", "authority", "target"))
    view = await opened(**{**rest, limit: given[limit]})
    for member in ({"unit": "thousand"}, {"multiples": [{"count": 90, "of": "seats"}]}):
        refused(await agent.patch(view["id"], changed(0, **member)))


@pytest.mark.asyncio
async def test_without_a_limit_of_the_user_an_agent_adds_amounts(agent: NegotiationClient, opened: Opened) -> None:
    view = await opened(**dict.fromkeys(("walk_away", "batna", "constraints", "authority")))
    assert (await agent.patch(view["id"], {"issues": [*ISSUES, FEE]})).status_code == 200


@pytest.mark.asyncio
async def test_the_measure_of_a_limit_is_not_supplied_afterwards(agent: NegotiationClient, opened: Opened) -> None:
    """A unit, a direction or a multiplication that the user left out would give their figure another meaning."""
    bare = dict.fromkeys(("walk_away", "batna", "constraints", "authority", "target"))
    price: dict[str, Any] = {"name": "price", "type": "money", "limit": 54}
    warranty: dict[str, Any] = {"name": "warranty", "type": "number", "limit": 12}
    view = await opened(**bare, issues=[price, warranty])
    for place, member in (
        (0, {"multiples": [{"count": 100, "of": "cars"}]}),
        (0, {"unit": "thousand"}),
        (0, {"unit": "cents"}),
        (1, {"unit": "thousand"}),
        (1, {"direction": "lower"}),
    ):
        issues = [price, warranty]
        issues[place] = {**issues[place], **member}
        [one] = refused(await agent.patch(view["id"], {"issues": issues}))["limits"]
        assert one["limit"] == f"issues/{issues[place]['name']}/limit"
    labelled = {"issues": [price, {**warranty, "direction": "higher", "label": "Warranty"}]}
    assert (await agent.patch(view["id"], labelled)).status_code == 200


@pytest.mark.asyncio
@covers("6.2:user_limits")
async def test_an_agent_sets_what_is_missing_and_makes_limits_stricter(
    agent: NegotiationClient, opened: Opened
) -> None:
    bare = dict.fromkeys(("walk_away", "batna", "constraints", "authority"))
    view = await opened(**bare, issues=[{**PRICE, "weight": None, "range": None}, MONTHS, SUPPORT])
    for patch in (
        {"issues": ISSUES},
        {name: CRM[name] for name in bare},
        {"walk_away": {"package": {"price": 53}}},
        changed(1, range={"min": 12, "max": 24, "step": 12}),
        changed(0, limit=52, weight=3, their_weight=2),
        {"batna": {"value": {"package": {"price": "53.50"}}, "probability": 0.95}},
        {"constraints": [*CRM["constraints"], {"issue": "price", "op": "<", "value": 53}]},
        {"constraints": [{"issue": "months", "op": "in", "value": [12]}, {"issue": "price", "op": "<", "value": 53}]},
        {"authority": {"limit": "51", "needs_approval_above": "50"}},
        {"title": "CRM", "target": {"package": {"price": 44}}, "max_rounds": 6},
    ):  # fmt: skip
        answer = await agent.patch(view["id"], patch)
        assert answer.status_code == 200, (patch, answer.text)
    refused(await agent.patch(view["id"], {"walk_away": {"package": {"price": 54}}}))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "patch",
    [
        changed(0, weight=1),
        changed(0, range={"min": 0, "max": 65}),
        changed(0, value_points=[[38, 1], [65, 0.9]]),
        changed(2, options=[{"value": "phone", "utility": 1}, {"value": "none", "utility": 1}]),
        {"issues": [*ISSUES, {"name": "cars", "type": "boolean", "weight": 20}]},
        {"walk_away": {"utility": 0.1}},
    ],
)
async def test_what_a_walk_away_in_utility_is_measured_by_stays(
    agent: NegotiationClient, opened: Opened, patch: dict[str, Any]
) -> None:
    rest = {"batna": None, "constraints": None, "authority": None}
    view = await opened(walk_away={"utility": 0.5}, **rest)
    refused(await agent.patch(view["id"], patch))
    stricter = await agent.patch(view["id"], {"walk_away": {"utility": 0.6}})
    assert stricter.status_code == 200


@pytest.mark.asyncio
async def test_issues_that_are_sent_back_as_read_do_not_fix_the_limit(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened()
    assert (await agent.patch(view["id"], {"issues": view["issues"]})).status_code == 200
    page = f"/negotiations/{view['id']}"
    revision = str((await agent.get(page)).json()["revision"])
    sent = await browser.send(f"{page}/limits", on=page, revision=revision, **{"limit:price": "50"})
    assert sent.status_code == 303, sent.text
    limits = {one["name"]: one["limit"] for one in (await agent.get(page)).json()["issues"]}
    assert limits["price"] == "50.00"


@pytest.mark.asyncio
@covers("6.5:issue_limit")
async def test_an_offer_or_acceptance_past_the_limit_of_one_issue_waits(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened(constraints=None, authority=None)
    key, past = view["id"], {"price": 58, "months": 12, "support": "phone"}
    offers = f"/negotiations/{key}/offers"
    passed = [{"issue": "price", "limit": "54.00", "value": "58.00"}]
    theirs = (await agent.post(offers, {"by": "them", "package": past})).json()
    acceptance = {"by": "me", "kind": "acceptance", "in_reply_to": theirs["id"]}
    for sent in (
        {"by": "me", "package": past},
        {"by": "me", "kind": "final", "package": {"price": 58}},
        {"by": "me", "package": past, "source": "imported"},
        acceptance,
    ):
        body = refused(await agent.post(offers, sent), 409, "below_walk_away")
        assert body["past_limits"] == passed
        assert "€58" in body["error_description"]
        assert "€54" in body["error_description"]
    agreed = {"to": "agreed", "offer_id": theirs["id"]}
    refused(await agent.post(f"/negotiations/{key}/state", agreed), 409, "below_walk_away")
    insisted = {**agreed, "override": True, "reason": "I want to."}
    refused(await agent.post(f"/negotiations/{key}/state", insisted))
    why = {"override": True, "reason": "They leave on Friday."}
    held = (await agent.post(offers, {**acceptance, **why})).json()
    assert (held["status"], held["past_limits"]) == ("awaiting_approval", passed)
    assert held["override"]["against"] == ["issues/0/limit"]
    waiting = (await agent.get(f"/negotiations/{key}")).json()["pending_approval"]
    assert waiting["past_limits"] == passed
    [beyond] = waiting["beyond"]
    assert (beyond["limit"], beyond["amount"]) == ("issues/price/limit", "3840.00")
    approval = {"approved": True, "package_sha256": waiting["package_sha256"]}
    refused(await agent.post(f"/negotiations/{key}/state", {"to": "active", **approval}))
    for shown in ("/", f"/negotiations/{key}"):
        assert "passes the limit of €54" in (await browser.open(shown)).text
    assert (await agent.get(f"/negotiations/{key}")).json()["state"] == "awaiting_approval"


@pytest.mark.asyncio
async def test_a_figure_that_was_heard_is_confirmed_under_the_same_limits(
    agent: NegotiationClient, opened: Opened
) -> None:
    view = await opened(constraints=None, authority=None)
    past = {"price": 58, "months": 12, "support": "phone"}
    offers = f"/negotiations/{view['id']}/offers"
    heard = await agent.post(offers, {"by": "me", "package": past, "source": "detected_in_speech"})
    assert heard.json()["status"] == "unconfirmed"
    confirmed = {"by": "me", "package": past, "confirms": heard.json()["id"]}
    refused(await agent.post(offers, confirmed), 409, "below_walk_away")
    why = {"override": True, "reason": "I said it on the phone."}
    held = await agent.post(offers, {**confirmed, **why})
    assert held.json()["status"] == "awaiting_approval"


@pytest.mark.asyncio
async def test_a_trade_that_the_user_allowed_needs_no_approval(agent: NegotiationClient, opened: Opened) -> None:
    allow = [{"issue": "months", "to": 36, "in_return": {"price": 46}}]
    view = await opened(constraints=None, authority=None, allow=allow)
    offers = f"/negotiations/{view['id']}/offers"
    paid = {"price": 45, "months": 36, "support": "phone"}
    made = await agent.post(offers, {"by": "me", "package": paid})
    assert (made.status_code, made.json()["past_limits"]) == (201, [])
    unpaid = {**paid, "price": 47}
    refused(await agent.post(offers, {"by": "me", "package": unpaid}), 409, "below_walk_away")
    hollowed = [{"issue": "months", "to": 36, "in_return": {"support": "none"}}]
    refused(await agent.patch(view["id"], {"allow": hollowed}))
    refused(await agent.patch(view["id"], changed(0, weight=1)))


@pytest.mark.asyncio
async def test_a_limit_that_the_user_tightens_holds_for_an_offer_on_its_way(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened(constraints=None, authority=None)
    page, package = f"/negotiations/{view['id']}", {"price": 53, "months": 12, "support": "phone"}
    await browser.open(page)

    async def tighten() -> httpx2.Response:
        fields = {"revision": str(view["revision"]), "limit:price": "50"}
        return await browser.send(f"{page}/limits", on=page, **fields)

    sent = [agent.post(f"{page}/offers", {"by": "me", "package": package}) for _ in range(8)]
    first, *answers = await asyncio.gather(tighten(), *sent)
    assert first.status_code in {303, 412}
    tightened = first.status_code == 303
    events = (await agent.get(f"{page}/events?limit=100")).json()["items"]
    edited = [one["seq"] for one in events if one["kind"] == "edited"]
    offered = [one["seq"] for one in events if one["kind"] == "offer"]
    assert len(edited) == int(tightened)
    assert len(offered) == sum(answer.status_code == 201 for answer in answers)
    assert all(seq < edited[0] for seq in offered if tightened)
    late = await agent.post(f"{page}/offers", {"by": "me", "package": package})
    assert late.status_code == (409 if tightened else 201)


@pytest.mark.asyncio
async def test_a_negotiation_opened_anew_is_another_one(
    agent: NegotiationClient, opened: Opened, browser: FormBrowser
) -> None:
    view = await opened()
    assert (await agent.delete(view["id"])).status_code == 204
    walk_away = {"package": {"price": 60, "months": 24, "support": "email"}}
    other = await opened(title="CRM again", walk_away=walk_away)
    assert other["id"] != view["id"]
    assert (await browser.open(f"/negotiations/{view['id']}")).status_code == 404
    assert "CRM again" in (await browser.open("/")).text


@pytest.mark.asyncio
async def test_limits_that_only_an_agent_wrote_are_its_own_until_the_user_sets_one(
    agent: NegotiationClient, browser: FormBrowser
) -> None:
    given = {name: CRM[name] for name in ("title", "role", "currency", "issues", "walk_away")}
    view = (await agent.post("/negotiations", given)).json()
    page = f"/negotiations/{view['id']}"
    looser = {"walk_away": {"package": {"price": 55}}}
    corrected = await agent.patch(view["id"], looser)
    assert corrected.status_code == 200, corrected.text
    revision = str(corrected.json()["revision"])
    sent = await browser.send(f"{page}/limits", on=page, revision=revision, **{"limit:price": "50"})
    assert sent.status_code == 303, sent.text
    refused(await agent.patch(view["id"], {"issues": [{**PRICE, "limit": 52}, MONTHS, SUPPORT]}))
