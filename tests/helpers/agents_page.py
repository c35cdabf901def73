"""Delegation codes made by the form of the agents page."""

import re
from typing import Any

import httpx2

from tests.conftest import bearer
from tests.helpers.form_browser import FormBrowser

CODE = re.compile("([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}")


CLAIM = "/api/agent/claim"


async def made(browser: FormBrowser, **fields: str) -> str:
    """A code made by the form."""
    usual = {"label": "the laptop", "life": "600", "purpose": "own"}
    told = {**usual, "scope__negotiations:read": "on", **fields}
    page = await browser.send("/agents/codes", on="/agents", **told)
    assert page.status_code == 200, page.text
    found = CODE.search(page.text)
    assert found
    return found[0]


async def claimed(client: httpx2.AsyncClient, agent: dict[str, Any], code: str) -> dict[str, Any]:
    """The agent bound by the code."""
    answer = await client.post(CLAIM, json={"claim_token": code}, headers=bearer(agent))
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result
