"""Client ID Metadata Documents: which ids are fetched, which documents are believed, how long they count."""

import asyncio
from typing import Any

import pytest

from negotiator.base.scopes import ASSISTANT
from negotiator.tokens.client_documents import (
    DEFAULT_LIFETIME,
    MAX_LIFETIME,
    UNREADABLE,
    ClientDocuments,
    read_document,
)
from negotiator.tokens.client_metadata import MetadataRefused, is_document_address
from negotiator.trust.fetch import FetchedDocument, FetchFailed
from negotiator.trust.fetcher import Fetcher
from tests.helpers.loopback_server import free_hosts

HERE = "203.0.113.7"
ID = "https://app.example/client.json"
GOOD = {"client_name": "App", "redirect_uris": ["https://app.example/cb"]}


class Web(Fetcher):
    """A web with one document; counts how often it is asked."""

    def __init__(self, body: dict[str, Any] | None, max_age: int | None = None) -> None:
        super().__init__(allow_loopback=False)
        self.body, self.max_age, self.asked = body, max_age, 0

    async def document(self, url: str, *, limit: int = 65_536) -> FetchedDocument:
        self.asked += 1
        await asyncio.sleep(0)
        assert limit == 5 * 1024
        if self.body is None:
            raise FetchFailed("nothing there")
        return FetchedDocument({"client_id": url, **self.body}, self.max_age)


def reader(web: Web, at: list[int]) -> ClientDocuments:
    """Reads this web at the time that stands in `at`."""
    hosts = free_hosts(web, lambda: at[0])
    return ClientDocuments(hosts, tuple(ASSISTANT), False, lambda: at[0])


@pytest.mark.parametrize("client_id", [ID, "https://app.example/", "https://app.example:8443/a?b"])
def test_these_ids_are_fetched(client_id: str) -> None:
    assert is_document_address(client_id, allow_loopback=False)


@pytest.mark.parametrize(
    "client_id",
    [
        "cli_01abc",
        "https://app.example",
        "https://app.example?x",
        "http://app.example/client.json",
        "http://127.0.0.1/client.json",
        "https://app.example/a/../client.json",
        "https://app.example/./client.json",
        "https://app.example/%2e%2e/client.json",
        "https://app.example/%2E/client.json",
        "https://user@app.example/client.json",
        "https://app.example/client.json#x",
        "https://app.example\\@evil.example/client.json",
        "https://APP.example/client.json",
        "https:///client.json",
        "https://[::1/client.json",
        "https://é.example/client.json",
        "https://app.example/client json",
        "ftp://app.example/x",
        "https://app.example/" + "x" * 1024,
    ],
)
def test_these_are_not(client_id: str) -> None:
    assert not is_document_address(client_id, allow_loopback=False)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None},
        {"client_id": f"{ID}/"},
        {"client_id": [ID]},
        {"client_secret": "s"},
        {"client_secret": None},
        {"client_secret_expires_at": 0},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"grant_types": ["client_credentials"]},
        {"client_name": "a\u202eb"},
    ],
)
def test_a_document_that_lies_or_tells_a_secret_is_not_believed(changes: dict[str, Any]) -> None:
    with pytest.raises(MetadataRefused):
        read_document(ID, {"client_id": ID, **GOOD, **changes}, offered=ASSISTANT, at=0)


def test_a_good_document_is_a_public_client() -> None:
    unsaid = {"client_uri": None, "scope": "", "token_endpoint_auth_method": None}
    client = read_document(ID, {"client_id": ID, **GOOD, **unsaid}, offered=ASSISTANT, at=0)
    assert client.is_public
    assert client.client_id == ID
    assert not client.check_endpoint_auth_method("client_secret_post", "token")
    assert not client.check_grant_type("refresh_token")
    assert client.check_redirect_uri("https://app.example/cb")


@pytest.mark.asyncio
@pytest.mark.parametrize(("max_age", "kept"), [(None, DEFAULT_LIFETIME), (60, 60), (10**8, MAX_LIFETIME)])
async def test_a_document_counts_as_long_as_it_says_within_bounds(max_age: int | None, kept: int) -> None:
    web, at = Web(GOOD, max_age), [0]
    documents = reader(web, at)
    for moment, asked in ((0, 1), (kept * 1000 - 1, 1), (kept * 1000, 2)):
        at[0] = moment
        assert await documents.find(ID, HERE)
        assert web.asked == asked


@pytest.mark.asyncio
@pytest.mark.parametrize("broken", [None, {**GOOD, "client_id": "https://other.example/"}])
async def test_a_failure_ends_what_was_and_is_remembered_for_a_minute(broken: dict[str, Any] | None) -> None:
    web, at = Web(GOOD, 60), [0]
    documents = reader(web, at)
    assert await documents.find(ID, HERE)
    web.body = broken
    for body, at[0] in ((broken, 60_000), (GOOD, 119_999)):
        web.body = body
        with pytest.raises(MetadataRefused) as refused:
            await documents.find(ID, HERE)
        assert refused.value.description == ("The document names another client." if broken else UNREADABLE)
    assert web.asked == 2
    at[0] = 120_000
    assert await documents.find(ID, HERE)
    assert web.asked == 3


@pytest.mark.asyncio
async def test_what_must_not_be_kept_is_asked_for_each_time() -> None:
    web = Web(GOOD, 0)
    documents = reader(web, [0])
    for _ in range(3):
        assert await documents.find(ID, HERE)
    assert web.asked == 3


@pytest.mark.asyncio
async def test_many_who_ask_at_once_wait_for_one_answer() -> None:
    web = Web(GOOD, 60)
    documents = reader(web, [0])
    found = await asyncio.gather(*(documents.find(ID, HERE) for _ in range(50)))
    assert all(found)
    assert web.asked == 1


@pytest.mark.asyncio
async def test_only_so_many_are_kept() -> None:
    web = Web(GOOD, 60)
    documents = reader(web, [0])
    for number in range(1030):
        await documents.find(f"https://app.example/{number}", HERE)
    await documents.find("https://app.example/0", HERE)
    await documents.find("https://app.example/1029", HERE)
    assert web.asked == 1031
