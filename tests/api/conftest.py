"""The outside world of the tests of the API."""

from typing import Any

import pytest

from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.fetch import FetchFailed


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The JSON documents that clients' addresses have, by address; others answer 404."""
    documents: dict[str, Any] = {}

    async def json(_self: object, url: str, **_options: object) -> Any:
        if url not in documents:
            raise FetchFailed("answered 404")
        return documents[url]

    monkeypatch.setattr(ClientUrlFetcher, "json", json)
    return documents
