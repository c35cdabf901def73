"""The plan that the README shows is the one that the program writes for the example of the used car."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from negotiator.cli.demo.examples import read_case
from tests.helpers.negotiation_client import NegotiationClient

README = Path(__file__).parents[3] / "README.md"


@pytest.mark.asyncio
async def test_the_plan_of_the_readme_is_the_one_that_is_written(negotiation_client: NegotiationClient) -> None:
    case = read_case("used_car", datetime.now(UTC))
    opened = await negotiation_client.post("/negotiations", case.negotiation)
    one = f"/negotiations/{opened.json()['id']}"
    assert (await negotiation_client.post(f"{one}/offers", case.offers[0])).status_code == 201
    made = (await negotiation_client.post(f"{one}/battle-plans", {})).json()
    plan = await negotiation_client.client.get(
        f"/api{one}/battle-plans/{made['id']}", headers={**negotiation_client.headers, "Accept": "text/markdown"}
    )
    written = _plain(plan.text)
    shown = _plain("\n".join(re.findall(r"^>(.*)$", README.read_text(), re.MULTILINE)))
    pieces = [*re.findall(r"“[^”]+”", shown), *re.findall(r"\|[^|]+(?:\|[^|]+){3}\|", shown)]
    assert len(pieces) == 7
    assert [piece for piece in pieces if piece not in written] == []


def _plain(markdown: str) -> str:
    """The text in one line, without the marks of quotations."""
    return " ".join(re.sub(r"^> ?", "", markdown, flags=re.MULTILINE).split())
