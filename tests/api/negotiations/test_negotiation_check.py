"""The check of a negotiation before it is opened."""

from typing import Any, Final

import pytest

from tests.contract.requirements import covers
from tests.helpers.negotiation_client import NegotiationClient, negotiation_body, pointers

RENEWAL: Final[dict[str, Any]] = {
    "title": "CRM renewal",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Relatio",
    "issues": [
        {"name": "price", "type": "money", "weight": 6, "range": {"min": "40", "max": "63"}},
        {"name": "term", "type": "integer", "direction": "lower", "weight": 2},
    ],
}


async def asked(client: NegotiationClient, **members: Any) -> list[str]:
    """The names of what is asked for."""
    answer = await client.post("/negotiations/check", {**RENEWAL, **members})
    assert answer.status_code == 200, answer.text
    assert all(one["ask"].endswith("?") and one["why"] for one in answer.json()["ask"])
    return [one["missing"] for one in answer.json()["ask"]]


@pytest.mark.asyncio
@covers("6.1:check")
async def test_the_questions_shrink_with_what_is_known(negotiation_client: NegotiationClient) -> None:
    first = await asked(negotiation_client)
    assert first[:3] == ["target", "walk_away", "issues/1/range"]
    assert first.count("their_weights") == 1, "asked once for all issues"
    issues = [RENEWAL["issues"][0], {**RENEWAL["issues"][1], "range": {"min": 6, "max": 36}, "their_weight": 4}]
    told: dict[str, Any] = {
        "issues": issues,
        "target": {"package": {"price": "45", "term": 12}},
        "walk_away": {"package": {"price": "54", "term": 24}},
    }
    assert (await asked(negotiation_client, **told))[:2] == ["their_estimate", "batna"]
    assert (await negotiation_client.get("/negotiations")).json()["items"] == []


@pytest.mark.asyncio
@covers("6.1:check")
async def test_it_answers_what_the_opened_negotiation_would_miss(negotiation_client: NegotiationClient) -> None:
    body = negotiation_body(**RENEWAL)
    checked = (await negotiation_client.post("/negotiations/check", body)).json()
    opened = await negotiation_client.opened(**RENEWAL)
    assert (checked["missing"], checked["issues"]) == (opened["missing"], opened["issues"])


@pytest.mark.asyncio
@covers("6.1:check")
async def test_it_refuses_what_opening_refuses(negotiation_client: NegotiationClient) -> None:
    for members in (
        {
            "issues": RENEWAL["issues"][:1],
            "target": {"package": {"price": "62"}},
            "walk_away": {"package": {"price": "54"}},
        },
        {"deadline": "2020-01-01T00:00:00Z"},
        {"currency": "XXX"},
        {"issues": [*RENEWAL["issues"], RENEWAL["issues"][0]]},
    ):
        body = {**RENEWAL, **members}
        checked = await negotiation_client.post("/negotiations/check", body)
        assert pointers(checked) == pointers(await negotiation_client.post("/negotiations", body))
