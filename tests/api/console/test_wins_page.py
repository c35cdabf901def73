"""The pages of results: figures equal the API's, CSV is safe, each user sees their own."""

import csv
import re
from html import unescape
from typing import Any

import httpx2
import pytest

from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.form_browser import FormBrowser, redirect_path
from tests.helpers.memory_client import hashing_embedder as hashing_embedder

PAGE = "/wins"
FIELDS = {
    "counterparty": "Relatio",
    "category": "software",
    "kind": "renewal",
    "role": "buyer",
    "currency": "EUR",
    "baseline": "54 €",
    "baseline_kind": "previous_price",
    "achieved": "45",
    "quantity": "960",
    "period_months": "12",
    "closed_at": "2026-03-05",
}


@pytest.fixture(autouse=True)
def use_hashing_embedder(hashing_embedder: None) -> None:
    """Every test here."""
    del hashing_embedder


async def recorded(browser: FormBrowser, **fields: str) -> str:
    """A result that was typed by hand; answers its id."""
    answer = await browser.send(f"{PAGE}/new", on=f"{PAGE}/new", **{**FIELDS, **fields})
    return redirect_path(answer).removeprefix(f"{PAGE}/").partition("?")[0]


def table(page: str, title: str) -> list[list[str]]:
    """The cells of the table with this caption."""
    found = re.search(rf'<caption class="away">{title}</caption>(.*?)</table>', page, re.DOTALL)
    assert found, page
    rows = re.findall(r"<tr>(.*?)</tr>", found[1].partition("<tbody>")[2], re.DOTALL)
    return [[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>([^<]*)<", row)] for row in rows]


@pytest.mark.asyncio
@covers("7.5:summary")
async def test_the_page_says_what_the_summary_of_the_api_says(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    assert "No result yet" in (await browser.open(PAGE)).text
    await recorded(browser)
    await recorded(browser, counterparty="Jens", category="car", achieved="60", quantity="1")
    await recorded(browser, currency="USD", baseline="100", achieved="90", quantity="2")
    told = {
        "category": "software",
        "currency": "EUR",
        "counterparty": "Relatio",
        "baseline": {"amount": "10"},
        "achieved": {"amount": "9.50"},
        "closed_at": "2026-01-09T12:00:00Z",
    }
    assert (await client.post("/api/wins", json=told, headers=headers)).status_code == 201
    summary = (await client.get("/api/wins/summary", headers=headers)).json()
    euros, dollars = summary["currencies"]
    assert (euros["savings_total"], euros["n_deals"], euros["n_losses"]) == ("8634.50", 3, 1)
    assert (dollars["savings_total"], dollars["n_deals"]) == ("20.00", 1)
    page = (await browser.open(PAGE)).text
    for amount in ("€8,634.50", "$20"):
        assert f'<span class="big">{amount}</span>' in page
    assert table(page, "By category") == [["Software", "2", "€8,640.50"], ["Car", "1", "-€6"]]
    assert table(page, "By the other side") == [["Relatio", "2", "€8,640.50"], ["Jens", "1", "-€6"]]
    assert table(page, "By who recorded it") == [["You", "2", "€8,634"], ["tester", "1", "€0.50"]]
    assert table(page, "Over time") == [
        ["Jan 2026", "1", "€0.50"],
        ["Feb 2026", "0", "€0"],
        ["Mar 2026", "2", "€8,634"],
    ]
    assert table((await browser.open(f"{PAGE}?currency=USD")).text, "Over time") == [["Mar 2026", "1", "$20"]]
    file = await browser.open(f"{PAGE}.csv?of=categories&currency=EUR")
    assert list(csv.reader(file.text.splitlines()))[1:] == [
        ["Software", "2", "8640.50", "EUR"],
        ["Car", "1", "-6.00", "EUR"],
    ]
    for of in ("periods", "counterparties", "agents", "baselines", "benchmarks"):
        assert (await browser.open(f"{PAGE}.csv?of={of}")).status_code == 200
    assert (await browser.open(f"{PAGE}.csv?of=nothing")).status_code == 404


@pytest.mark.asyncio
async def test_the_privacy_floor_is_said_plainly(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    await recorded(browser)
    query = {"category": "software", "role": "buyer", "currency": "EUR"}
    found = (await client.get("/api/benchmarks", params=query, headers=headers)).json()
    assert found["floor"] == {"contributors": 5, "largest_share": 0.25, "days": 90}
    assert found["contributors"]["n_contributors"] == 0, "a suppressed answer counts nobody"
    page = unescape((await browser.open(PAGE)).text)
    assert "Your 1 deal saved 16.7%." in page
    assert "at least 5 other people share them, none of them with more than 25%" in page
    assert "at least 90 days ago" in page
    assert "Fewer people share them so far, so nothing is shown." in page


@pytest.mark.asyncio
async def test_a_result_is_edited_and_deleted(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:
    key = await recorded(browser)
    place, api = f"{PAGE}/{key}", f"/api/wins/{key}"
    before = (await client.get(api, headers=headers)).json()
    assert (before["savings_total"], before["source"]["type"]) == ("8640.00", "user")
    page = unescape((await browser.open(place)).text)
    assert "€45 instead of €54, × 960 = €43,200 in all" in page
    changed = {**FIELDS, "achieved": "44", "revision": "1", "counterparty": "", "shared": "on"}
    assert redirect_path(await browser.send(place, on=place, **changed)) == f"{place}?told=saved"
    after = (await client.get(api, headers=headers)).json()
    assert (after["savings_total"], after["counterparty"]) == ("9600.00", None)
    assert after["visibility"] == "contribute_anonymously"
    assert after["closed_at"] == before["closed_at"]
    assert after["source"] == before["source"]
    late = await browser.send(place, on=place, **changed)
    assert late.status_code == 412
    assert "Delete this result for good?" in (await browser.send(f"{place}/delete", on=place)).text
    await browser.send(f"{place}/delete", on=place, sure="yes")
    assert (await client.get(api, headers=headers)).status_code == 404


@pytest.mark.asyncio
async def test_a_refused_form_keeps_what_was_typed(browser: FormBrowser) -> None:
    on = f"{PAGE}/new"
    typed = {**FIELDS, "baseline": "", "achieved": "cheap", "counterparty": "Initech"}
    refused = await browser.send(on, on=on, **typed)
    assert refused.status_code == 422
    assert 'value="cheap"' in refused.text
    assert 'value="Initech"' in refused.text
    assert refused.text.count('class="field-error"') == 2
    zero = await browser.send(on, on=on, **{**FIELDS, "baseline": "0"})
    assert 'id="baseline-error"' in zero.text
    foreign = await browser.send(on, on=on, **{**FIELDS, "negotiation_id": "neg_nobody"})
    assert foreign.status_code == 404


@pytest.mark.asyncio
async def test_no_cell_of_a_table_is_a_formula(browser: FormBrowser) -> None:
    evil = "=HYPERLINK(1)"
    await recorded(browser, counterparty=evil, category="@SUM(A1)", notes="-1+2", achieved="60")
    [head, row] = csv.reader((await browser.open(f"{PAGE}.csv")).text.splitlines())
    cells = dict(zip(head, row, strict=True))
    assert cells["counterparty"] == f"'{evil}"
    assert cells["category"] == "'@SUM(A1)"
    assert cells["notes"] == "'-1+2"
    assert cells["savings_total"] == "-5760.00"


@pytest.mark.asyncio
@covers("6.4:outcomes")
async def test_agreements_lie_between_the_limit_and_the_target(
    browser: FormBrowser, headers: dict[str, str], client: httpx2.AsyncClient
) -> None:

    async def post(path: str, body: Any) -> Any:
        answer = await client.post(f"/api/negotiations{path}", json=body, headers=headers)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()

    body = {
        "title": "Used Golf",
        "role": "buyer",
        "currency": "EUR",
        "counterparty": "Jens",
        "issues": [{"name": "price", "type": "money", "range": {"min": 11000, "max": 15000}}],
        "target": {"package": {"price": 12500}},
        "walk_away": {"package": {"price": 14000}},
    }
    golf = (await post("", body))["id"]
    offer = await post(f"/{golf}/offers", {"by": "them", "package": {"price": 12800}})
    accepted = {"by": "me", "kind": "acceptance", "in_reply_to": offer["id"]}
    await post(f"/{golf}/offers", accepted)
    await post("", {**body, "title": "Still open"})
    found = (await client.get("/api/negotiations/outcomes", headers=headers)).json()
    [item] = found["items"]
    assert (item["share"], item["place"], item["counterparty"]) == (0.8, "last_quarter", "Jens")
    assert sum(found["places"].values()) == 1
    assert found["n_unknown"] == 0
    page = (await browser.open(PAGE)).text
    rows = dict(table(page, "Between your limit and your target"))
    assert rows["Close to your target"] == "1"
    form = (await browser.open(f"{PAGE}/new?negotiation={golf}")).text
    assert 'value="12800.00"' in form
    assert 'value="Jens"' in form


@pytest.mark.asyncio
async def test_the_table_has_only_the_user_s(
    browser: FormBrowser, register: Register, client: httpx2.AsyncClient
) -> None:
    win = {"currency": "EUR", "baseline": {"amount": "2"}, "achieved": {"amount": "1"}}
    await client.post("/api/wins", json=win, headers=bearer(await register()))
    assert "No result yet" in (await browser.open(PAGE)).text
    assert len((await browser.open(f"{PAGE}.csv")).text.splitlines()) == 1
