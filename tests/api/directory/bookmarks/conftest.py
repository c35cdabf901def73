"""Agents for these tests."""

import functools

import httpx2
import pytest
import pytest_asyncio

from negotiator.caller import Caller
from negotiator.tokens.credentials import Credentials as Issued
from tests.api.directory.agents import Agent, Credentials, Join, join
from tests.conftest import Change


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> Credentials:
    """Credentials of the tests' own, believed beside the real ones."""
    known, real = Credentials(), Issued.authenticate

    async def authenticate(self: Issued, credential: str, *rest: str) -> Caller | None:
        return known.callers.get(credential) or await real(self, credential, *rest)

    monkeypatch.setattr(Issued, "authenticate", authenticate)
    return known


@pytest.fixture
def joining(credentials: Credentials, client: httpx2.AsyncClient, change: Change) -> Join:
    """Makes agents that know nothing of each other."""
    return functools.partial(join, client, change, credentials)


@pytest_asyncio.fixture
async def agent(joining: Join) -> Agent:
    """One unproven agent."""
    return await joining()
