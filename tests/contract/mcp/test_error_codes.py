"""Error codes and the ranges that MCP 2026-07-28 keeps (Base Protocol, Error Codes)."""

import io
import re
import tokenize
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

import negotiator
from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.mcp_client import McpClient

JSON_RPC: Final = {-32700, *range(-32603, -32599)}
OF_THE_REVISION: Final = {-32020, -32021, -32022}
OLDER_WORD: Final = {-32002}
"""A missing resource, before 2026-07-28."""


@pytest.mark.asyncio
@covers("10.3:codes")
async def test_no_answer_has_a_code_of_ours_in_a_reserved_range(client: httpx2.AsyncClient, register: Register) -> None:
    line = McpClient(client, bearer(await register()))
    strange: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answers = {
        401: await McpClient(client).ask("tools/list"),
        403: await line.call("add_tactic"),
        405: await client.get("/mcp", headers=line.headers),
        415: await line.send(b"{}", **{"content-type": "text/plain"}),
        "no JSON": await line.send(b"{"),
        "no message": await line.send({}),
        "unknown method": await line.ask("skills/nothing"),
        "unknown tool": await line.call("nothing"),
        "unknown resource": await line.ask("resources/read", uri="negotiator://nothing"),
        "unknown revision": await line.send(strange, **{"mcp-protocol-version": "2099-01-01"}),
    }
    for name, answer in answers.items():
        code: int = answer.json()["error"]["code"]
        reserved = -32768 <= code <= -32000
        assert not reserved or code in JSON_RPC | OF_THE_REVISION, (name, code)
        assert answer.status_code not in {401, 403} or code == answer.status_code


@covers("10.3:codes")
def test_the_package_defines_no_other_code_of_a_reserved_range() -> None:
    found: set[int] = set()
    for path in Path(negotiator.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if not re.search(r"-32\d{3}", text):
            continue
        written = tokenize.generate_tokens(io.StringIO(text).readline)
        for sign, number in pairwise(token.string for token in written):
            if sign == "-" and number.isdecimal():
                found.add(-int(number))
    reserved = {code for code in found if -32768 <= code <= -32000}
    assert reserved
    assert reserved <= JSON_RPC | OLDER_WORD
