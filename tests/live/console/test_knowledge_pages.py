"""What a person knows and what it brought, in a real browser: search, edit, undo, a result in chart and CSV."""

import csv
import re
from dataclasses import dataclass
from typing import Any, Final

import httpx2
from playwright.sync_api import ViewportSize, expect

from tests.helpers.chromium import OpenTab, Tab, bind_agent

SMALL: Final[ViewportSize] = {"width": 390, "height": 844}


@dataclass(frozen=True)
class Api:
    """The API as an agent calls it."""

    base: str
    headers: dict[str, str]

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return httpx2.get(f"{self.base}{path}", headers=self.headers, **options)

    def post(self, path: str, **options: Any) -> httpx2.Response:
        return httpx2.post(f"{self.base}{path}", headers=self.headers, **options)


def agent_of(one: Tab) -> Api:
    """An agent that works for the signed-in user, and remembers for them."""
    return Api(f"{one.base}/api", bind_agent(one))


def remembered(agent: Api) -> dict[str, dict[str, Any]]:
    """The memories of the API, by their texts."""
    found = agent.get("/memories", params={"limit": 100}).json()["items"]
    return {one["text"]: one for one in found}


def test_memories_are_searched_edited_and_erased_with_undo(signed_in: OpenTab) -> None:
    with signed_in(locale="en-US") as one:
        agent = agent_of(one)
        page = one.page
        for text in ("Acme gives discounts in March.", "Globex pays early.", "Initech pays late."):
            assert agent.post("/memories", json={"text": text}).status_code == 201

        one.open("/memories")
        page.get_by_label("Search what you know").press_sequentially("disc mar")
        found = page.locator("#found")
        expect(found.get_by_role("link").first).to_have_text("Acme gives discounts in March.")
        expect(found).to_contain_text("1 with these words")
        expect(page).to_have_url(re.compile("query=disc"))
        assert page.get_by_label("Search what you know").evaluate("e => e === document.activeElement")

        found.get_by_role("link").first.click()
        page.get_by_role("link", name="Edit").click()
        page.get_by_label("One thing worth knowing").fill("Acme gives discounts in June.")
        one.press("Save")
        expect(page.locator("main")).to_contain_text("Before: “Acme gives discounts in March.”")
        assert remembered(agent)["Acme gives discounts in June."]["trust"] == 3
        one.press("Pin")
        expect(page.locator(".pill.on")).to_have_text("Pinned")

        one.open("/memories")
        gone = page.get_by_role("link", name="Globex pays early.")
        kept = len(remembered(agent))
        one.press("Erase: Globex pays early.")
        expect(gone).to_be_hidden()
        expect(page.get_by_role("option", name=f"All kinds: {kept - 1}")).to_be_attached()
        one.press("Undo")
        expect(gone).to_be_visible()
        expect(page.get_by_role("option", name=f"All kinds: {kept}")).to_be_attached()
        expect(page.get_by_role("status").filter(has_text="Kept.")).to_be_visible()
        assert "Globex pays early." in remembered(agent)

        one.press("Erase: Globex pays early.")
        one.press("Erase: Initech pays late.")
        expect(page.get_by_role("status").filter(has_text="Erased.")).to_have_count(1)
        one.open("/tactics")
        one.open("/memories")
        expect(page.get_by_label("Search what you know")).to_be_visible()
        assert not {"Globex pays early.", "Initech pays late."} & set(remembered(agent))
        assert one.said == []
        assert one.outside == []


def test_what_waits_is_reviewed_in_one_go(signed_in: OpenTab) -> None:
    with signed_in(viewport=SMALL) as one:
        agent = agent_of(one)
        lines = "One that is right.\nAnother that is right.\nA wrong one."
        one.open("/memories")
        one.page.locator("summary", has_text="Bring in").click()
        one.page.locator("#lines").fill(lines)
        one.press("Bring in")
        expect(one.page.get_by_role("heading", name="Waiting for you: 3")).to_be_visible()
        one.press("Drop: A wrong one.")
        one.press("Tick all")
        one.press("Keep the ticked ones")
        expect(one.page.get_by_role("status").first).to_contain_text("Kept.")
        found = remembered(agent)
        assert [found[text]["trust"] for text in ("One that is right.", "Another that is right.")] == [3, 3]
        assert "A wrong one." not in found


def test_a_result_recorded_by_hand_is_in_chart_and_csv(signed_in: OpenTab) -> None:
    with signed_in(viewport=SMALL, locale="en-US") as one:
        agent = agent_of(one)
        page = one.page
        one.open("/wins")
        one.page.get_by_role("main").get_by_role("link", name="Record a result").first.click()
        page.get_by_label("With whom").fill("Relatio")
        page.get_by_label("About what").fill("software")
        page.get_by_label("Compared with").fill("54 €")
        page.get_by_label("Agreed", exact=False).first.fill("45")
        page.get_by_label("How many units").fill("960")
        page.get_by_label("Agreed on").fill("2026-03-05")
        one.press("Record it")
        expect(page.locator("main")).to_contain_text("€45 instead of €54, × 960 = €43,200 in all")
        [win] = agent.get("/wins").json()["items"]
        assert (win["savings_total"], win["source"]["type"]) == ("8640.00", "user")
        one.open("/wins")
        chart = page.get_by_role("img", name="Savings over time in EUR").locator("visible=true")
        expect(chart.locator("rect.column")).to_have_count(1)
        expect(chart).to_contain_text("8.6k")
        expect(page.locator(".sums")).to_contain_text("€8,640")
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0
        with page.expect_download() as started:
            page.get_by_role("link", name="CSV of all results").click()
        rows = list(csv.DictReader(started.value.path().read_text().splitlines()))
        assert [(row["counterparty"], row["savings_total"]) for row in rows] == [("Relatio", "8640.00")]
        assert one.said == []


def test_their_words_are_answered_while_typing(signed_in: OpenTab) -> None:
    with signed_in() as one:
        one.open("/tactics")
        said = "This price is only good until Friday, take it or leave it."
        one.page.get_by_label("What did they just say?").press_sequentially(said)
        expect(one.page.get_by_role("heading", name="What to answer")).to_be_visible()
        one.page.get_by_label("Search the tactics").press_sequentially("silence")
        expect(one.page.locator("#found .title").first).to_have_text("Silence")
        expect(one.page.locator("#heard")).to_contain_text("What to answer")
        assert one.said == []
