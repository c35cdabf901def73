"""What every answer is held against."""

import re
from typing import Any, Final

import httpx2

LIMIT_HEADERS: Final = (
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit",
    "ratelimit-policy",
)
OPENING: Final[dict[str, Any]] = {
    "title": "Laptops for the Berlin office",
    "role": "buyer",
    "issues": [{"name": "price", "type": "money"}],
}
CHALLENGE: Final = (
    'Bearer realm="negotiator", resource_metadata="https://negotiator.example/.well-known/oauth-protected-resource"'
)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def refused(answer: httpx2.Response, status: int, error: str) -> dict[str, Any]:
    """The body of a refusal with this status and this word, in the one shape that refusals have."""
    return _refusal(answer, answer.json(), status, error)


def refused_over_mcp(answer: httpx2.Response, status: int, error: str, *, id: int | None = None) -> dict[str, Any]:
    """The JSON-RPC error of a message that was refused by HTTP; its `data` is the refusal as everywhere."""
    body: dict[str, Any] = answer.json()
    assert body.keys() == {"jsonrpc", "error", *([] if id is None else ["id"])}, answer.text
    assert (body["jsonrpc"], body.get("id")) == ("2.0", id)
    found: dict[str, Any] = body["error"]
    assert found.keys() == {"code", "message", "data"}
    assert found["message"].startswith(found["data"]["error_description"])
    assert found["code"] in {-32600, -32603, status}
    _refusal(answer, found["data"], status, error)
    return found


def _refusal(answer: httpx2.Response, body: dict[str, Any], status: int, error: str) -> dict[str, Any]:
    assert (answer.status_code, body.get("error")) == (status, error), answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert body["error_description"]
    assert body["request_id"] == answer.headers["x-request-id"]
    for entry in body.get("errors", []):
        assert set(entry) == {"pointer", "description"}
        assert entry["pointer"].startswith("/")
    return body


def limited(answer: httpx2.Response) -> None:
    """The answer carries the five rate-limit headers, and they agree with each other."""
    found = {name: answer.headers[name] for name in LIMIT_HEADERS}
    policy = re.fullmatch(r'"([a-z]+)";q=(\d+);w=(\d+)', found["ratelimit-policy"])
    left = re.fullmatch(r'"([a-z]+)";r=(\d+);t=(\d+)', found["ratelimit"])
    assert policy, found
    assert left, found
    assert policy[1] == left[1]
    assert policy[2] == found["x-ratelimit-limit"]
    assert left[2] == found["x-ratelimit-remaining"]
    assert int(found["x-ratelimit-reset"]) > 1_700_000_000


def is_instant(text: str) -> bool:
    """Whether a time is RFC 3339 in UTC with milliseconds."""
    return _INSTANT.fullmatch(text) is not None
