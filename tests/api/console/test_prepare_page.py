"""The page "Prepare a negotiation": from nothing to an open negotiation with its plan, for each kind."""

import re
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import pytest

from negotiator.advice.plans import generator
from negotiator.advice.plans.checks import BrokenPlan
from negotiator.console.talk.preparation_form import preparation_kinds
from tests.helpers.form_browser import FormBrowser, redirect_path
from tests.helpers.preparation_pages import faults_of, fields_of, notes_of

NEW: Final = "/negotiations/new"
INNER_WORDS: Final = re.compile(
    r"utility|alpha|package|engine:|neg_|undominated|batna|walk_away|override", re.IGNORECASE
)
FIGURES: Final[dict[str, dict[str, str]]] = {
    "software_renewal": {
        **{"i0.count0": "80", "i0.target": "45", "i0.limit": "54 €"},
        **{"i1.target": "12", "i1.limit": "24", "i2.target": "3", "i2.limit": "5 %"},
        **{"i3.target": "quarterly", "i3.limit": "yearly in advance", "baseline": "58"},
        **{"alternative": "Move to Nimbus", "alternative_price": "57", "their_guess": "48"},
    },
    "salary": {
        **{"i0.target": "100k", "i0.limit": "88,000", "i1.target": "3", "i1.limit": "2"},
        **{"i2.target": "30", "i2.limit": "27", "i3.target": "2031-03-01", "i3.limit": "2031-02-01"},
        **{"alternative": "Stay", "alternative_price": "84.000,00", "alternative_rest": "unknown"},
    },
    "freelance_rate": {
        **{"i0.count0": "40", "i0.target": "850", "i0.limit": "700", "i1.target": "14"},
        **{"i1.limit": "45 days", "their_guess": "800", "i0.theirs": "4", "i1.theirs": "1"},
    },
    "purchase": {"i0.target": "12,500", "i0.limit": "14,000", "their_guess": "13.4k"},
    "rent": {
        **{"currency": "GBP", "i0.target": "£1,050", "i0.limit": "1200", "i1.target": "1000"},
        **{"i1.limit": "1800", "i2.target": "2031-06-01", "i2.limit": "2031-06-15"},
    },
    "other": {"role": "party", "i0.target": "45", "i0.limit": "54"},
}


@dataclass
class Preparer:
    """A signed-in user in front of the page, and an agent of theirs that reads what came of it."""

    browser: FormBrowser
    client: httpx2.AsyncClient
    agent: dict[str, str]

    async def sent(self, page: str, **changes: str) -> httpx2.Response:
        """The form of a page with some fields changed, as a browser sends it."""
        return await self.browser.client.post(NEW, data={**fields_of(page), **changes})

    async def begun(self, kind: str) -> str:
        """The page after a kind was chosen on the empty one."""
        page = (await self.browser.open(NEW)).text
        answer = await self.sent(page, kind=kind, do="kind")
        assert answer.status_code == 200, answer.text
        return answer.text

    async def read(self, path: str) -> dict[str, Any]:
        """What the API answers to the user's agent."""
        answer = await self.client.get(f"/api{path}", headers=self.agent)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def all(self) -> list[dict[str, Any]]:
        """The user's negotiations."""
        return (await self.read("/negotiations"))["items"]


@pytest.fixture
def preparer(client: httpx2.AsyncClient, browser: FormBrowser, headers: dict[str, str]) -> Preparer:
    return Preparer(browser, client, headers)


def said(page: str) -> str:
    """What a person reads on the page: texts, and what stands in empty fields."""
    main = page[page.index("<main") : page.index("</main>")]
    hints = " ".join(re.findall(r'(?:placeholder|aria-label)="([^"]*)"', main))
    return f"{re.sub(r'<[^>]*>', ' ', main)} {hints}"


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", FIGURES)
async def test_each_kind_comes_from_nothing_to_a_plan(preparer: Preparer, kind: str) -> None:
    page = await preparer.begun(kind)
    saved = await preparer.sent(page, counterparty="Relatio", do="save", **FIGURES[kind])
    found = re.fullmatch(r"/negotiations/(neg_\w+)#plan", redirect_path(saved))
    assert found
    view = await preparer.read(f"/negotiations/{found[1]}")
    template = preparation_kinds()[kind]
    assert (view["state"], view["kind"]) == ("planned", template.kind)
    assert view["title"] == f"{template.title} with Relatio"
    assert view["counterparty"]["name"] == "Relatio"
    assert not {"target", "walk_away", "currency"} & set(view["missing"])
    assert not [name for name in view["missing"] if name.endswith(("range", "direction"))]
    plans = await preparer.read(f"/negotiations/{found[1]}/battle-plans")
    assert [plan["version"] for plan in plans["items"]] == [1]


@pytest.mark.asyncio
async def test_a_renewal_arrives_as_it_was_meant(preparer: Preparer) -> None:
    page = await preparer.begun("software_renewal")
    await preparer.sent(page, title="CRM renewal", do="save", **FIGURES["software_renewal"])
    [view] = await preparer.all()
    view = await preparer.read(f"/negotiations/{view['id']}")
    assert view["role"] == "buyer"
    assert view["target"]["package"] == {
        **{"price": "45.00", "contract_term": 12, "increase_cap": 3.0, "payment": "quarterly"}
    }
    assert view["walk_away"]["package"]["price"] == "54.00"
    assert view["batna"]["value"]["package"]["price"] == "57.00"
    assert view["issues"][0]["multiples"] == [{"count": 80, "of": "seats"}, {"count": 12, "of": "months a year"}]
    assert view["baseline"]["value"] == "58.00"


@pytest.mark.asyncio
async def test_unit_and_total_stand_together_and_equal_the_plan(preparer: Preparer) -> None:
    page = await preparer.begun("software_renewal")
    page = (await preparer.sent(page, do="look", **FIGURES["software_renewal"])).text
    notes = notes_of(page)
    assert notes["i0-target"] == "80 seats × €45 × 12 months = €43,200 a year"
    assert notes["i0-limit"] == "80 seats × €54 × 12 months = €51,840 a year"
    assert notes["alternative_price"] == "80 seats × €57 × 12 months = €54,720 a year"
    assert notes["their_guess"].endswith("= €46,080 a year. Counted as €43 to €53.")
    assert "Between €40.50 and €63 anything seems possible" in page
    saved = redirect_path(await preparer.sent(page, do="save"))
    path = saved.removesuffix("#plan")
    [head] = (await preparer.read(f"{path}/battle-plans"))["items"]
    plan = await preparer.read(f"{path}/battle-plans/{head['id']}")
    assert "€43,200" in str(plan)
    assert "€51,840" in str(plan)


@pytest.mark.asyncio
async def test_nothing_is_stored_before_it_is_saved(preparer: Preparer) -> None:
    page = await preparer.begun("rent")
    for do in ("look", "add", "remove.0", "compare", "kind", ""):
        page = (await preparer.sent(page, do=do, **{"i0.target": "900"})).text
    assert await preparer.all() == []


@pytest.mark.asyncio
async def test_everything_may_be_left_out(preparer: Preparer) -> None:
    page = (await preparer.browser.open(NEW)).text
    saved = await preparer.sent(page, do="save")
    assert saved.status_code == 303
    [view] = await preparer.all()
    assert (view["title"], view["state"]) == ("Negotiation", "planned")


@pytest.mark.asyncio
async def test_a_plan_that_fails_its_checks_leaves_the_negotiation_and_its_page(
    preparer: Preparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise BrokenPlan("a number without a source")

    monkeypatch.setattr(generator, "check_plan", fails)
    page = await preparer.begun("purchase")
    saved = await preparer.sent(page, do="save", **FIGURES["purchase"])
    assert saved.status_code == 303
    [view] = await preparer.all()
    path = f"/negotiations/{view['id']}"
    assert redirect_path(saved) == path
    again = await preparer.browser.send(f"{path}/plan", on=path)
    assert again.status_code == 503
    assert "No plan can be made of these terms now. The negotiation is kept as it is." in again.text
    assert view["title"] in again.text


@pytest.mark.asyncio
async def test_a_refusal_stands_at_its_field_and_keeps_what_was_typed(preparer: Preparer) -> None:
    page = await preparer.begun("software_renewal")
    typed = {
        **FIGURES["software_renewal"],
        **{"title": "CRM <renewal>", "their_needs": "a signature\nthis quarter"},
        **{"i1.limit": "2 weeks", "deadline": "soon", "baseline": "$58"},
    }
    refused = await preparer.sent(page, do="save", **typed)
    assert refused.status_code == 422
    assert faults_of(refused.text) == {
        "i1-limit": "Is counted in months, and this says weeks: write the months.",
        "deadline": "Write the day as 2027-03-01.",
        "baseline": "All money here is in EUR, and this says USD; nothing is converted.",
    }
    kept = fields_of(refused.text)
    assert {name: kept[name].strip() for name in typed} == typed
    assert "Nothing was saved yet." in refused.text
    assert 'aria-invalid="true"' in refused.text
    assert await preparer.all() == []
    mended = {"i1.limit": "24 months", "deadline": "2020-01-01", "baseline": "58 EUR"}
    late = await preparer.sent(refused.text, do="save", **mended)
    assert faults_of(late.text) == {"deadline": "This day has passed. Leave it out, or name a later one."}
    saved = await preparer.sent(late.text, do="save", deadline="2031-01-31")
    assert saved.status_code == 303


@pytest.mark.asyncio
async def test_a_limit_below_the_alternative_asks_for_a_reason(preparer: Preparer) -> None:
    page = await preparer.begun("software_renewal")
    typed = {**FIGURES["software_renewal"], "alternative_price": "40"}
    refused = await preparer.sent(page, do="save", **typed)
    assert refused.status_code == 422
    assert list(faults_of(refused.text)) == ["i0-limit"]
    reason = "They know our data"
    saved = await preparer.sent(refused.text, do="save", override_reason=reason)
    view = await preparer.read(redirect_path(saved).removesuffix("#plan"))
    assert view["walk_away"]["override_reason"] == reason


@pytest.mark.asyncio
async def test_the_same_form_sent_twice_opens_one_negotiation(preparer: Preparer) -> None:
    page = await preparer.begun("purchase")
    first, again = [await preparer.sent(page, do="save", **FIGURES["purchase"]) for _ in range(2)]
    assert redirect_path(first) == redirect_path(again)
    [view] = await preparer.all()
    plans = await preparer.read(f"/negotiations/{view['id']}/battle-plans")
    assert len(plans["items"]) == 1
    other = await preparer.sent(page, do="save", title="Another car", **FIGURES["purchase"])
    assert redirect_path(other) != redirect_path(first)


@pytest.mark.asyncio
async def test_the_side_says_what_the_next_answer_makes_possible(preparer: Preparer) -> None:
    def side(page: str) -> str:
        return page[page.index('<aside id="side"') : page.index("</aside>")]

    page = (await preparer.browser.open(NEW)).text
    assert "Next: question 1" in side(page)
    page = await preparer.begun("purchase")
    page = (await preparer.sent(page, counterparty="Jens", do="look")).text
    assert "Next: question 3" in side(page)
    assert "What result would you call a success" in side(page)
    price = {"i0.target": "12,500", "i0.limit": "14,000"}
    page = (await preparer.sent(page, do="look", **price)).text
    assert "Next: question 4" in side(page)
    assert "What exactly will you do if there is no deal" in side(page)
    page = (await preparer.sent(page, do="look", alternative_price="14,200")).text
    assert "How far could Jens go at most" in side(page)
    page = (await preparer.sent(page, do="look", their_guess="13,400")).text
    assert "Everything a full plan needs is here." in side(page)
    wrong = (await preparer.sent(page, do="look", **{"i0.limit": "11,000"})).text
    assert "Something does not fit" in side(wrong)
    assert list(faults_of(wrong)) == ["i0-target"]


@pytest.mark.asyncio
async def test_points_and_sides_change_without_losing_what_was_typed(preparer: Preparer) -> None:
    page = await preparer.begun("software_renewal")
    page = (await preparer.sent(page, do="add", title="CRM")).text
    own = {"i4.label": "Support hours", "i4.type": "integer", "i4.target": "20", "i4.limit": "8"}
    page = (await preparer.sent(page, do="remove.2", **own)).text
    fields = fields_of(page)
    assert [fields[f"i{n}.label"] for n in range(4)] == [
        "Price per seat and month",
        "Contract term",
        "Payment",
        "Support hours",
    ]
    page = (await preparer.sent(page, role="seller", do="kind")).text
    fields = fields_of(page)
    assert (fields["i0.direction"], fields["i3.target"], fields["title"]) == ("higher", "20", "CRM")
    assert "The least I would take" in page
    compared = (await preparer.sent(page, do="compare", **{"i1.compare": "2"})).text
    assert fields_of(compared)["i1.weight"] == "10"
    assert fields_of(compared)["i0.weight"] == "5"


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", preparation_kinds())
async def test_no_inner_word_is_on_the_page(preparer: Preparer, kind: str) -> None:
    page = await preparer.begun(kind)
    looked = (await preparer.sent(page, do="look", **FIGURES[kind])).text
    wrong = await preparer.sent(page, do="save", **{**FIGURES[kind], "i0.target": "no", "deadline": "x"})
    for each in (page, looked, wrong.text):
        assert not INNER_WORDS.findall(said(each))
    assert len(looked.encode()) < 60_000


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("language", "currency"),
    [("en-GB,en;q=0.9", "GBP"), ("de", "EUR"), ("de-CH", "CHF"), ("", "EUR"), ("*;q=x", "EUR")],
)
async def test_the_currency_is_that_of_the_browser_s_country(preparer: Preparer, language: str, currency: str) -> None:
    page = await preparer.browser.open(NEW, **{"accept-language": language})
    assert fields_of(page.text)["currency"] == currency
    assert 'id="kind-rent" value="rent" checked' in (await preparer.browser.open(f"{NEW}?kind=rent")).text


@pytest.mark.asyncio
async def test_odd_forms_are_refused_as_forms(preparer: Preparer) -> None:
    page = (await preparer.browser.open(NEW)).text
    many = {f"x{n}": "1" for n in range(500)}
    assert (await preparer.sent(page, **many)).status_code == 400
    assert (await preparer.sent(page, their_needs="x" * 70_000)).status_code == 413
    odd = {"rows": "99", "role": "king", "currency": "XXX", "i0.type": "no", "kind": "none"}
    refused = await preparer.sent(page, do="save", **odd)
    assert refused.status_code == 422
    assert "currency" in faults_of(refused.text)


@pytest.mark.asyncio
async def test_a_form_whose_session_has_ended_keeps_what_was_typed_and_saves_nothing(preparer: Preparer) -> None:
    page = (await preparer.browser.open(NEW)).text
    typed = {**fields_of(page), "do": "save", "title": "Used <b> Golf", "i0.target": "12,500"}
    preparer.browser.client.cookies.clear()
    kept = await preparer.browser.client.post(NEW, data=typed)
    assert kept.status_code == 200
    assert "You are signed out" in kept.text
    assert fields_of(kept.text)["title"] == "Used <b> Golf"
    await preparer.browser.sign_in()
    again = await preparer.browser.client.post(NEW, data=fields_of(kept.text) | {"do": "save"})
    assert again.status_code == 200
    assert "nothing was saved yet" in again.text
    assert (await preparer.all()) == []
    saved = await preparer.sent(again.text, do="save")
    assert redirect_path(saved).endswith("#plan")
    [view] = await preparer.all()
    assert view["title"] == "Used <b> Golf"
    foreign = {"origin": "https://evil.example"}
    refused = await preparer.browser.client.post(NEW, data=typed, headers=foreign)
    assert refused.status_code == 403


@pytest.mark.asyncio
async def test_what_speaks_for_the_user_is_saved_and_what_tells_their_limit_is_named(preparer: Preparer) -> None:
    page = await preparer.begun("purchase")
    typed = {**FIGURES["purchase"], "reasons": "The tyres are worn.\nI pay 14,000 at most.", "gives": "x" * 2001}
    refused = await preparer.sent(page, do="save", **typed)
    assert refused.status_code == 422
    assert set(faults_of(refused.text)) == {"gives"}
    page = (await preparer.sent(refused.text, do="look", gives="I can pay this week.")).text
    assert notes_of(page)["reasons"].endswith("or your alternative: I pay 14,000 at most.")
    await preparer.sent(page, do="save")
    [view] = await preparer.all()
    assert [(one["kind"], one["fact"], one["shareable"]) for one in view["arguments"]] == [
        ("reason", "The tyres are worn.", True),
        ("reason", "I pay 14,000 at most.", False),
        ("give", "I can pay this week.", True),
    ]
