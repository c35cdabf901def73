"""Rules of input that are made stricter later: what is stored already keeps working."""

from typing import Any

import pytest

from negotiator.base.errors import FieldError
from negotiator.terms import schemas_terms, terms_parsing
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.utility import Preferences
from tests.helpers.negotiation_client import PRICE, TERM, NegotiationClient, negotiation_body

STEPPED: dict[str, Any] = {**PRICE, "range": {"min": "800", "max": "1200", "step": "25"}}
STORED: dict[str, Any] = {
    "issues": [STEPPED, TERM],
    "walk_away": {"package": {"price": "1100", "term": "2 years"}},
    "target": {"package": {"price": "850", "term": "1 year"}},
    "batna": {"description": "Stay with Acme", "value": {"utility": 0.2}, "probability": 0.5},
    "their_estimate": {"walk_away": {"low": "0.1", "likely": "0.2", "high": "0.3"}},
    "constraints": [{"issue": "price", "op": "<=", "value": "1150", "reason": "budget"}],
    "authority": {"limit": "1050", "approver": "Ada Lovelace"},
    "baseline": {"kind": "previous_price", "value": "1180"},
    "counterparty": "Acme",
    "max_rounds": 8,
    "arguments": [{"fact": "I can pay at once.", "kind": "give", "worth": "20"}],
}


def tighten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer values in a range than the stored negotiation has, and no limit below 2000."""
    monkeypatch.setattr(schemas_terms, "MAX_LISTED_VALUES", 10)

    def refuse(mine: Preferences, body: NegotiationBody) -> list[FieldError]:
        del mine, body
        return [FieldError("/walk_away", "Too low.")]

    monkeypatch.setattr(terms_parsing, "_member_errors", refuse)


@pytest.mark.asyncio
async def test_a_stricter_rule_of_input_breaks_no_stored_negotiation(
    negotiation_client: NegotiationClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = await negotiation_client.opened(**STORED)
    path = f"/negotiations/{stored['id']}"
    before = (await negotiation_client.post(f"{path}/leverage", {})).json()
    tighten(monkeypatch)
    refused = await negotiation_client.post("/negotiations", negotiation_body(**STORED))
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/issues/0/range/step"

    assert (await negotiation_client.get(path)).json() == stored
    assert (await negotiation_client.get("/negotiations")).json()["items"] == [stored]
    package = {"price": "1000", "term": "1 year"}
    offer = await negotiation_client.post(f"{path}/offers", {"by": "them", "package": package})
    assert offer.status_code == 201, offer.text
    for advice in ("next-move", "leverage", "suggestions", "battle-plans"):
        answer = await negotiation_client.post(f"{path}/{advice}", {})
        assert answer.status_code in {200, 201}, answer.text
    assert set(before) <= set((await negotiation_client.post(f"{path}/leverage", {})).json())
    assert (await negotiation_client.move(stored["id"], "paused")).status_code == 200

    edited = await negotiation_client.patch(stored["id"], {"title": "Laptops again"})
    assert edited.json()["errors"][0]["pointer"] == "/issues/0/range/step"
