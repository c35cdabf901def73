"""The example database has something to see on every page."""

import json

import httpx2

from negotiator.cli.demo.examples import CASES
from tests.helpers.example_site import ExampleSite


def test_the_example_database_has_something_on_every_page(filled_site: ExampleSite) -> None:
    stored = filled_site.stored
    bearer = {"Authorization": f"Bearer {stored.token}"}
    with httpx2.Client(base_url=filled_site.base, headers=bearer) as http:
        states = {
            name: http.get(f"/api/negotiations/{one}").json()["state"] for name, one in stored.negotiations.items()
        }
        assert states == dict.fromkeys(CASES, "active") | {"freelance_rate": "awaiting_approval"}
        assert len(http.get("/api/wins").json()["items"]) == len(CASES)
        plans = f"/api/negotiations/{stored.negotiations['software_renewal']}/battle-plans"
        assert [plan["stale"] for plan in http.get(plans).json()["items"]] == [True]
        pending = http.get("/api/memories?trust=0").json()["items"]
        assert len(pending) == 1
    queue = json.loads(filled_site.server.run("directory", "submissions", "list", "--json"))
    assert [one["id"] for one in queue] == [stored.submission]
