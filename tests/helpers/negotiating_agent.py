"""An agent that a browser's user bound, and what it does through the API."""

from typing import Any, Final

import httpx2

from tests.conftest import Register
from tests.helpers.agents_page import claimed, made
from tests.helpers.form_browser import FormBrowser

GOLF: Final[dict[str, Any]] = {
    "title": "Used VW Golf",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": "Jens",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": 11000, "max": 15000}}],
    "target": {"package": {"price": 12500}},
    "walk_away": {"package": {"price": 14000}},
}
_SCOPES: Final = ("negotiations:write", "ai:tactics", "memories:read", "memories:write", "teleprompter:stream")


async def bound_agent(browser: FormBrowser, register: Register, client: httpx2.AsyncClient) -> dict[str, str]:
    """The headers of an agent that the browser's user bound."""
    code = await made(browser, **{f"scope__{scope}": "on" for scope in _SCOPES})
    bound = await claimed(client, await register(), code)
    return {"Authorization": f"Bearer {bound['access_token']}"}


async def open_golf(client: httpx2.AsyncClient, headers: dict[str, str], **members: Any) -> dict[str, Any]:
    """A negotiation of the agent's user about a used car."""
    answer = await client.post("/api/negotiations", json={**GOLF, **members}, headers=headers)
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


async def offer_price(
    client: httpx2.AsyncClient, headers: dict[str, str], negotiation: str, price: int, **members: Any
) -> dict[str, Any]:
    """An offer of a price, by the other side unless `by` says otherwise."""
    body = {"by": "them", "package": {"price": price}, **members}
    path = f"/api/negotiations/{negotiation}/offers"
    answer = await client.post(path, json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view
