"""`/docs`: guides and operations are served, found by their words, and linked from the pages that they explain."""

import re
from importlib import resources
from pathlib import Path

import httpx2
import pytest

from negotiator.console.guides_content import GUIDE_OF_PAGE, GUIDES, all_guides, guide_of_page, search_guides
from tests.conftest import Account, Browsers
from tests.helpers.form_browser import FormBrowser

ENTRANCE = "/docs"
PAGE = "/docs/guides"


def test_every_file_is_a_guide_of_one_job() -> None:
    files = (resources.files("negotiator.console") / "guides").iterdir()
    assert {file.name.removesuffix(".md") for file in files} == {*GUIDES}
    assert len(GUIDES) == len({*GUIDES})
    assert {*GUIDE_OF_PAGE.values()} <= {*GUIDES}


def test_a_guide_to_a_page_is_short() -> None:
    for guide in all_guides():
        if guide.name not in GUIDE_OF_PAGE.values():
            continue
        words = re.sub(r"<[^>]+>", " ", guide.html).split()
        assert 40 < len(words) < 350, guide.name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "home"),
        ("/negotiations/new", "prepare"),
        ("/negotiations/neg_1", "negotiation"),
        ("/negotiations/neg_1/offers", "negotiation"),
        ("/negotiations/neg_1/rehearsals", "practise"),
        ("/negotiations/neg_1/rehearsals/reh_1", "practise"),
        ("/agents/agt_1", "agents"),
        ("/tools/submit", "submit"),
        ("/tools/submitted-things", "tools"),
        ("/nothing", ""),
    ],
)
def test_the_guide_of_a_page_is_that_of_the_longest_path(path: str, name: str) -> None:
    assert guide_of_page(path) == name


def test_guides_are_found_by_words_in_any_form_and_by_beginnings() -> None:
    assert search_guides("microphones")[0].name == "call"
    assert search_guides("passk")[0].name == "account"
    assert search_guides("preparing a negotiation")[0].name == "prepare"
    assert search_guides("zebra") == []
    assert len(search_guides("the")) == len(GUIDES) or search_guides("") == [*all_guides()]


@pytest.mark.asyncio
async def test_a_visitor_reads_guides_and_a_strange_one_is_missing(browsers: Browsers) -> None:
    visitor = browsers()
    listed = (await visitor.open(ENTRANCE)).text
    for guide in all_guides():
        assert f'href="{PAGE}/{guide.name}"' in listed
        shown = await visitor.open(f"{PAGE}/{guide.name}")
        assert shown.status_code == 200
        assert f"<h1>{guide.title}</h1>" in shown.text
        fragments = re.findall(r'href="#([a-z0-9-]+)"', shown.text)
        assert all(f'id="{fragment}"' in shown.text for fragment in fragments if fragment != "main")
    found = _article((await visitor.open(f"{ENTRANCE}?q=passkey")).text)
    assert f'href="{PAGE}/account"' in found
    assert f'href="{PAGE}/wins"' not in found
    found = _article((await visitor.open(f"{ENTRANCE}?q=record+an+offer")).text)
    assert 'href="/docs/api/offers#record_offer"' in found
    found = (await visitor.open(f"{ENTRANCE}?q=zebra")).text
    assert "No guide and no operation has any of these words" in found
    assert (await visitor.open(f"{PAGE}/nothing", accept="text/html")).status_code == 404


def _article(page: str) -> str:
    return page.partition("<article")[2].partition("</article>")[0]


@pytest.mark.asyncio
async def test_former_addresses_and_a_slash_too_many_lead_there(browsers: Browsers) -> None:
    visitor = browsers()
    moved = await visitor.open(f"{PAGE}?q=limit", accept="text/html")
    assert (moved.status_code, moved.headers["location"]) == (308, f"{ENTRANCE}?q=limit")
    slashed = await visitor.open(f"{ENTRANCE}/", accept="text/html")
    assert slashed.headers["location"].endswith(ENTRANCE)


@pytest.mark.asyncio
async def test_every_link_of_the_documentation_works(client: httpx2.AsyncClient) -> None:
    seen, waiting = set[str](), {ENTRANCE}
    while waiting:
        path = waiting.pop()
        seen.add(path)
        answer = await client.get(path)
        assert answer.status_code == 200, path
        if path.startswith(ENTRANCE):
            for target in re.findall(r'href="(/[^"#?]*)(?:#[^"]*)?"', answer.text):
                if target not in seen:
                    waiting.add(target)
            for target, fragment in re.findall(r'href="(/docs/[^"#]*)#([^"]+)"', answer.text):
                linked = (await client.get(target)).text if target != path else answer.text
                assert f'id="{fragment}"' in linked, (path, target, fragment)
    assert {f"{PAGE}/{name}" for name in GUIDES} <= seen


@pytest.mark.asyncio
async def test_programs_read_guides_as_markdown_that_names_this_service(client: httpx2.AsyncClient) -> None:
    listed = await client.get(ENTRANCE, headers={"accept": "text/markdown"})
    assert listed.headers["content-type"].startswith("text/markdown")
    assert "](https://negotiator.example/docs/guides/register)" in listed.text
    guide = await client.get(f"{PAGE}/register", headers={"accept": "text/markdown"})
    assert guide.text.startswith("# Register an agent\n")
    assert "127.0.0.1:8000" not in guide.text
    tag = {"accept": "text/markdown", "if-none-match": guide.headers["etag"]}
    assert (await client.get(f"{PAGE}/register", headers=tag)).status_code == 304


@pytest.mark.asyncio
async def test_commands_name_this_service_and_can_be_copied(browsers: Browsers) -> None:
    page = (await browsers().open(f"{PAGE}/agents")).text
    assert "curl -s https://negotiator.example/api/agent/register" in page
    assert 'data-copy="code-1"' in page


@pytest.mark.asyncio
async def test_a_page_links_to_its_guide(browser: FormBrowser, account: Account) -> None:
    for path in ("/", "/negotiations/new", "/agents", "/memories", "/account"):
        shown = (await browser.open(path)).text
        assert f'href="{PAGE}/{guide_of_page(path)}">What is this page?' in shown


def test_a_question_finds_the_guide_that_answers_it() -> None:
    assert search_guides("how is my data erased")[0].name == "account"
    assert search_guides("How do I delete my account?")[0].name == "account"
    assert search_guides("close the zebra account")[0].name == "account"
    assert search_guides("close the zebra account", whole=True) == []


def test_words_at_the_end_of_a_line_are_not_glued_to_the_next() -> None:
    assert "two metres away" in next(one.summary for one in all_guides() if one.name == "call")


ROOT = Path(__file__).parents[3]


def test_every_link_between_files_of_the_documentation_leads_to_a_file() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "negotiator").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)\s:]+)\)", page.read_text()):
            path = target.partition("#")[0]
            if path and not path.startswith("/") and "{" not in path:
                assert (page.parent / path).exists(), (page, target)
