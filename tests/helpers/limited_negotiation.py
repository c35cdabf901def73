"""A renewal with limits that its user set at the pages, and the agent that works for them."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio

from negotiator.negotiations.event_queries import Actor
from negotiator.negotiations.lifecycle import open_negotiation
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms
from tests.conftest import Account, Browsers, Change, Register
from tests.helpers.form_browser import FormBrowser
from tests.helpers.negotiating_agent import bound_agent
from tests.helpers.negotiation_client import NegotiationClient

PRICE: Final[dict[str, Any]] = {
    "name": "price",
    "label": "Price per seat and month",
    "type": "money",
    "weight": 6,
    "range": {"min": 38, "max": 65, "step": "0.50"},
    "multiples": [{"count": 80, "of": "seats"}, {"count": 12, "of": "months a year"}],
}
MONTHS: Final[dict[str, Any]] = {
    "name": "months",
    "label": "Contract term",
    "type": "integer",
    "unit": "months",
    "direction": "lower",
    "weight": 2,
    "range": {"min": 12, "max": 36, "step": 12},
}
SUPPORT: Final[dict[str, Any]] = {
    "name": "support",
    "label": "Support",
    "type": "enum",
    "weight": 2,
    "options": [{"value": "phone", "utility": 1}, {"value": "email", "utility": 0.5}, {"value": "none", "utility": 0}],
}
Opened = Callable[..., Awaitable[dict[str, Any]]]
ISSUES: Final = [PRICE, MONTHS, SUPPORT]
CRM: Final[dict[str, Any]] = {
    "title": "CRM renewal",
    "role": "buyer",
    "currency": "EUR",
    "issues": ISSUES,
    "target": {"package": {"price": 45, "months": 12, "support": "phone"}},
    "walk_away": {"package": {"price": 54, "months": 24, "support": "email"}},
    "batna": {
        "description": "Nimbus",
        "probability": 0.9,
        "override_reason": "Nimbus may be late.",
        "value": {"package": {"price": 56, "months": 24, "support": "email"}},
    },
    "constraints": [{"issue": "months", "op": "<=", "value": 24}],
    "authority": {"limit": "53", "needs_approval_above": "52"},
}


def changed(place: int, **members: Any) -> dict[str, Any]:
    """The issues as they are, with members of one changed."""
    issues = [dict(issue) for issue in ISSUES]
    issues[place] |= members
    return {"issues": issues}


@pytest_asyncio.fixture
async def ada(account: Account) -> str:
    """The id of the user."""
    return await account()


@pytest_asyncio.fixture
async def browser(browsers: Browsers, ada: str) -> FormBrowser:
    """Ada, signed in."""
    made = browsers()
    await made.sign_in()
    return made


@pytest_asyncio.fixture
async def agent(browser: FormBrowser, register: Register, client: httpx2.AsyncClient) -> NegotiationClient:
    """The agent of Ada."""
    return NegotiationClient(client, await bound_agent(browser, register, client))


@pytest.fixture
def opened(ada: str, change: Change) -> Opened:
    """Opens a negotiation as Ada does at the pages."""

    async def call(**members: Any) -> dict[str, Any]:
        given = {name: value for name, value in {**CRM, **members}.items() if value is not None}
        body = NegotiationBody.model_validate(given)
        terms, actor = parse_terms(body), Actor("user", ada)
        view: dict[str, Any] = await change(lambda tx: open_negotiation(tx, ada, body, terms=terms, actor=actor))
        return view

    return call


def refused(answer: httpx2.Response, status: int = 403, error: str = "user_decides") -> Any:
    """The body of a refusal."""
    assert (answer.status_code, answer.json().get("error")) == (status, error), answer.text
    return answer.json()
