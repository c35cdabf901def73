"""One service alone: only its own scopes, paths and metadata."""

from collections.abc import AsyncGenerator
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio

from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.config.settings import Settings
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from tests.conftest import Change, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused

SERVER: Final = "/.well-known/oauth-authorization-server"
RESOURCE: Final = "/.well-known/oauth-protected-resource"
OWN: Final[dict[str, tuple[dict[str, str], dict[str, str]]]] = {
    "assistant": (ASSISTANT, DIRECTORY),
    "directory": (DIRECTORY, ASSISTANT),
}
PREFIXES: Final = {
    "assistant": ("/api/agent/", "/api/negotiations", "/api/tactics", "/api/leverage"),
    "directory": ("/api/v1/", "/api/auth/", "/v0.1/"),
}


@pytest.fixture(params=["assistant", "directory"])
def single_service(request: pytest.FixtureRequest) -> str:
    """The service that runs, in turn."""
    name: str = request.param
    return name


@pytest.fixture
def other_service(single_service: str) -> str:
    """The service that does not."""
    return "directory" if single_service == "assistant" else "assistant"


@pytest_asyncio.fixture
async def single_service_client(single_service: str, settings: Settings) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of that service alone."""
    other_settings = make_settings(settings.data_dir, settings.keys_dir, services=[single_service])
    async with running(other_settings) as application, connect(application) as client:
        yield client


async def told(client: httpx2.AsyncClient, path: str) -> dict[str, Any]:
    """A JSON document."""
    answer = await client.get(path)
    assert answer.status_code == 200, path
    document: dict[str, Any] = answer.json()
    return document


@pytest.mark.asyncio
@covers("1.1:services")
async def test_alone_it_names_its_own_scopes_only(
    single_service_client: httpx2.AsyncClient, single_service: str
) -> None:
    own, foreign = OWN[single_service]
    for path in (SERVER, RESOURCE):
        assert (await told(single_service_client, path))["scopes_supported"] == list(own)
    assert (await told(single_service_client, "/api/health"))["services"] == [single_service]
    for path in ("/auth.md", "/docs", "/llms.txt", "/llms-full.txt", "/openapi.json"):
        text = (await single_service_client.get(path)).text
        assert not [scope for scope in foreign if ":" in scope and scope in text], path


@pytest.mark.asyncio
@covers("1.1:services")
async def test_the_other_s_paths_are_not_there(
    single_service_client: httpx2.AsyncClient, client: httpx2.AsyncClient, other_service: str
) -> None:
    everything = (await told(client, "/openapi.json"))["paths"]
    described = (await told(single_service_client, "/openapi.json"))["paths"]
    foreign = [path for path in everything if path.startswith(PREFIXES[other_service])]
    assert other_service != "assistant" or len(foreign) > 5
    for path in foreign:
        assert path not in described
        for method in everything[path]:
            refused(await single_service_client.request(method, path), 404, "not_found")
    for path in ("/", "/docs", "/llms.txt", "/.well-known/api-catalog", "/webmcp.js", SERVER):
        text = (await single_service_client.get(path)).text
        assert not [prefix for prefix in PREFIXES[other_service] if prefix in text], path


@pytest.mark.asyncio
@covers("1.1:services")
async def test_the_other_s_scopes_are_unknown(
    single_service_client: httpx2.AsyncClient, change: Change, single_service: str
) -> None:
    own, foreign = OWN[single_service]
    both = NewClient("both", ("client_credentials",), (next(reversed(own)), next(iter(foreign))))
    client_id, secret = await change(lambda tx: clients.add(tx, both))
    for scope, status in ((both.scopes[0], 200), (both.scopes[1], 400)):
        form = {"grant_type": "client_credentials", "scope": scope}
        answer = await single_service_client.post("/oauth/token", data=form, auth=(client_id, secret))
        assert answer.status_code == status, answer.text
        assert status == 200 or answer.json()["error"] == "invalid_scope"


@pytest.mark.asyncio
@covers("1.1:services")
async def test_together_they_name_the_union(client: httpx2.AsyncClient) -> None:
    for path in (SERVER, RESOURCE):
        assert (await told(client, path))["scopes_supported"] == [*ASSISTANT, *DIRECTORY]
    assert (await told(client, "/api/health"))["services"] == ["assistant", "directory"]
