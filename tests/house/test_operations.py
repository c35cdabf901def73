"""A walk over the service description: what no operation may forget."""

import re
from typing import Final

import httpx2
import pytest

from negotiator.base.errors import Refusal
from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.http.operation import Operation
from tests.conftest import Change, Mint, Register, bearer
from tests.helpers.answer_checks import limited, refused
from tests.helpers.directory_agents import add_tool, join_directory
from tests.helpers.request_bodies import CREATING, PRICED

SECRET: Final = frozenset({"make_stream_ticket"})
"""What they make is a secret for one use: it is kept as a digest, so that no answer can be given again."""


def offered(settings: Settings) -> tuple[Operation, ...]:
    """Every operation of the assembled service."""
    return build_application(settings).service.operations


def address(operation: Operation) -> str:
    """A path of the operation, its parameters filled with what exists nowhere."""
    return re.sub(r"\{\w+\}", "nothing", operation.path)


@pytest.mark.asyncio
async def test_no_operation_with_scopes_opens_without_a_credential(
    client: httpx2.AsyncClient, settings: Settings
) -> None:
    guarded = [operation for operation in offered(settings) if operation.scopes]
    assert len(guarded) >= 5
    for operation in guarded:
        answer = await client.request(operation.method, address(operation))
        refused(answer, 401, "invalid_token")
        assert "error=" not in answer.headers["www-authenticate"]
        limited(answer)


@pytest.mark.asyncio
async def test_no_operation_opens_without_each_of_its_scopes(
    client: httpx2.AsyncClient, settings: Settings, register: Register, mint: Mint
) -> None:
    for operation in offered(settings):
        for scope in operation.scopes & ASSISTANT.keys():
            others = [name for name in ASSISTANT if name != scope]
            claim = {"claim_token": (await mint(scopes=others))[1]}
            bound = await client.post("/api/agent/claim", json=claim, headers=bearer(await register()))
            answer = await client.request(operation.method, address(operation), headers=bearer(bound.json()))
            refused(answer, 403, "insufficient_scope")
            named = re.search('scope="([^"]+)"', answer.headers["www-authenticate"])
            assert named
            assert set(named[1].split()) == operation.scopes


@pytest.mark.asyncio
async def test_no_operation_of_the_directory_opens_without_each_of_its_scopes(
    client: httpx2.AsyncClient, settings: Settings, change: Change
) -> None:
    lacking = {
        scope: await join_directory(client, change, scopes=[name for name in DIRECTORY if name != scope])
        for scope in DIRECTORY
    }
    for operation in offered(settings):
        for scope in operation.scopes & DIRECTORY.keys():
            answer = await client.request(operation.method, address(operation), headers=lacking[scope].headers)
            refused(answer, 403, "insufficient_scope")
            named = re.search('scope="([^"]+)"', answer.headers["www-authenticate"])
            assert named
            assert set(named[1].split()) == operation.scopes


@pytest.mark.asyncio
async def test_every_creating_operation_honours_its_idempotency_key(
    client: httpx2.AsyncClient, settings: Settings, change: Change, register: Register, mint: Mint
) -> None:
    tool = await add_tool(change, "Acme")
    for operation in offered(settings):
        if operation.method != "POST" or operation.status not in {201, 202}:
            continue
        if operation.access == "open" or operation.name in SECRET:
            continue
        assert operation.creates, f"{operation.name} creates, and says so nowhere"
        assert operation.access == "bearer", "a key of nobody's would repeat answers to everybody"
        assert operation.name in CREATING, f"{operation.name} has no body in this test"
        if operation.scopes <= DIRECTORY.keys():
            owner, place = (await join_directory(client, change)).headers, tool
        else:
            claim = {"claim_token": (await mint(scopes=ASSISTANT))[1]}
            claimed = await client.post("/api/agent/claim", json=claim, headers=bearer(await register()))
            owner = bearer(claimed.json())
            opened = await client.post("/api/negotiations", json=PRICED, headers=owner)
            place = opened.json()["id"]
        headers = {**owner, "idempotency-key": operation.name}
        body = CREATING[operation.name]
        path = operation.path.format(id=place)
        first = await client.post(path, json=body, headers=headers)
        assert first.status_code == operation.status, first.text
        again = await client.post(path, json=body, headers=headers)
        assert (again.status_code, again.content) == (operation.status, first.content)
        other = await client.post(path, json={**body, "x": 1}, headers=headers)
        assert other.status_code == 422


def test_the_description_is_sound(settings: Settings) -> None:
    operations = offered(settings)
    names = [operation.name for operation in operations]
    assert len(set(names)) == len(names)
    places = [(operation.method, operation.path) for operation in operations]
    assert len(set(places)) == len(places)
    for operation in operations:
        assert operation.summary
        assert operation.tag
        assert not operation.summary.endswith(".")
        assert operation.scopes <= ASSISTANT.keys() | DIRECTORY.keys()
        assert not operation.scopes or operation.access == "bearer"
        assert operation.path_parameters == tuple(re.findall(r"\{(\w+)\}", operation.path))
        assert set(operation.path_parameters) <= set(operation.input.model_fields)


def _family(kind: type[Refusal]) -> set[type[Refusal]]:
    return {kind}.union(*map(_family, kind.__subclasses__()))


def test_every_refusal_has_a_status_a_client_can_act_on() -> None:
    for kind in _family(Refusal):
        assert kind.status in {400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 414, 415, 422, 426, 428, 429, 431, 503}
        assert re.fullmatch("[a-z_]+", kind.default_error)
