"""Every operation has an example, in the description and on the page; what it shows is a command that is read."""

import html
import json
import re
import shlex
from typing import Any

import httpx2
import pytest

from negotiator.compose import app
from negotiator.config.settings import Settings
from negotiator.discovery import openapi
from negotiator.http.operation import LINES
from tests.contract.requirements import covers
from tests.helpers.published_documents import read


@pytest.mark.asyncio
@covers("1.13:examples", "4.4:manual")
async def test_every_operation_has_its_example_in_both_places(client: httpx2.AsyncClient, settings: Settings) -> None:
    described = (await read(client, "/openapi.json"))["paths"]
    listed = set(re.findall(r'href="(/docs/api/\w+)"', (await client.get("/docs")).text))
    pages = [(await client.get(address)).text for address in sorted(listed)]
    sections = r'<section class="operation" id="(\w+)">.*?<pre id="\1-command" tabindex="0"><code>(.*?)</code>'
    shown = dict(re.findall(sections, "".join(pages), re.DOTALL))
    for operation in app.build_application(settings).service.operations:
        entry = described[operation.path][operation.method.lower()]
        (sample,) = entry["x-codeSamples"]
        assert html.unescape(shown[operation.name]) == sample["source"]
        bodies: dict[str, Any] = entry.get("requestBody", {}).get("content", {})
        for content in (bodies[media] for media in bodies if media != LINES):
            whole: Any = openapi.example_body(operation)
            expected = whole["token"] if operation.encoding == "event" else whole
            assert content["example"] == expected


def test_every_command_says_what_the_operation_takes(settings: Settings) -> None:
    house = app.build_application(settings)
    for operation in house.service.operations:
        words = shlex.split(openapi.curl_command(operation, house.settings.base_url).replace("\\\n", ""))
        assert words[0] == "curl"
        assert words[1].startswith(house.settings.base_url)
        assert "{" not in words[1]
        assert ("Authorization: Bearer $TOKEN" in words) == (operation.access == "bearer")
        if "-d" in words:
            assert json.loads(words[words.index("-d") + 1]) == openapi.example_body(operation)
        sends = "-d" in words or "--data-urlencode" in words or "--data-raw" in words
        assert sends or operation.reads_query or words[-2:] == ["-X", "POST"]
