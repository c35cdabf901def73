"""The home page in a real browser: its tools are registered once, through whichever way the browser has."""

import json
from collections.abc import AsyncGenerator
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Route, async_playwright

from tests.contract.requirements import covers
from tests.helpers.form_browser import BASE
from tests.helpers.neighbours import require

_STUB: Final = """
  window.registered = [];
  const context = (where) => ({ registerTool: (tool) => window.registered.push({ where, tool }) });
  for (const [where, target] of [["document", document], ["navigator", navigator]])
    if (WANTED.includes(where))
      Object.defineProperty(target, "modelContext", { value: context(where), configurable: true });
"""


@pytest_asyncio.fixture
async def chromium() -> AsyncGenerator[Browser]:
    """A real Chromium without a window."""
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=require("chromium-headless-shell"))
        yield launched
        await launched.close()


@pytest_asyncio.fixture
async def browser(chromium: Browser, client: httpx2.AsyncClient) -> AsyncGenerator[BrowserContext]:
    """The browser, with the service as its only network."""
    context = await chromium.new_context(viewport={"width": 360, "height": 740})

    async def carry(route: Route) -> None:
        asked = route.request
        if not asked.url.startswith(f"{BASE}/"):
            await route.abort()
            return
        answer = await client.request(asked.method, asked.url, headers=asked.headers, content=asked.post_data_buffer)
        await route.fulfill(status=answer.status_code, headers=dict(answer.headers), body=answer.content)

    await context.route("**/*", carry)
    yield context
    await context.close()


async def visit(browser: BrowserContext, url: str, *wanted: str) -> Page:
    """The page in a browser whose WebMCP is at these places; anything that goes wrong there fails the test."""
    page = await browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(error.message))
    page.on("requestfailed", lambda request: faults.append(request.url))
    await page.add_init_script(_STUB.replace("WANTED", json.dumps(wanted)))
    await page.goto(url, wait_until="load")
    assert faults == []
    return page


async def registered(page: Page) -> list[dict[str, Any]]:
    """What was registered, and where."""
    found: list[dict[str, Any]] = await page.evaluate(
        "window.registered.map(({ where, tool }) => ({ where, ...JSON.parse(JSON.stringify(tool)) }))"
    )
    return found


@pytest.mark.asyncio
@covers("4.4:webmcp")
@pytest.mark.parametrize(
    ("wanted", "where"),
    [(("document",), "document"), (("navigator",), "navigator"), (("document", "navigator"), "document")],
)
async def test_tools_are_registered_once_wherever_the_browser_has_them(
    browser: BrowserContext, wanted: tuple[str, ...], where: str
) -> None:
    tools = await registered(await visit(browser, f"{BASE}/", *wanted))
    names = [tool["name"] for tool in tools]
    assert len(names) == len(set(names)) >= 3
    assert {"read_access_guide", "get_health", "register_agent"} <= set(names)
    for tool in tools:
        assert tool["where"] == where
        assert tool["description"]
        assert tool["inputSchema"]["type"] == "object"
        assert tool["annotations"]["readOnlyHint"] == (tool["name"] != "register_agent")


@pytest.mark.asyncio
@covers("4.4:webmcp")
async def test_a_tool_does_what_it_says(browser: BrowserContext) -> None:
    page = await visit(browser, f"{BASE}/", "document")
    call = """([name, input]) => window.registered.find(({ tool }) => tool.name === name).tool.execute(input)"""
    health = await page.evaluate(call, ["get_health", {}])
    assert json.loads(health["content"][0]["text"])["status"] == "ok"
    assert health["isError"] is False
    made = await page.evaluate(call, ["register_agent", {"agent_name": "browser agent"}])
    assert json.loads(made["content"][0]["text"])["token_type"] == "Bearer"
    refused = await page.evaluate(call, ["register_agent", {"agent_name": ""}])
    assert refused["isError"] is True
    assert json.loads(refused["content"][0]["text"])["error"] == "invalid_request"


@pytest.mark.asyncio
@covers("4.4:webmcp")
async def test_a_browser_without_it_sees_a_plain_page(browser: BrowserContext) -> None:
    page = await visit(browser, f"{BASE}/")
    assert await registered(page) == []
    assert await page.inner_text("h1")


@pytest.mark.asyncio
@covers("4.4:manual", "4.4:home")
@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_a_page_loads_nothing_from_elsewhere_and_fits_a_telephone(browser: BrowserContext, path: str) -> None:
    page = await browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(f"{BASE}{path}", wait_until="networkidle")
    assert len(asked) >= 3
    assert not [url for url in asked if not url.startswith(f"{BASE}/")]
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    headings = await page.locator("h1").count()
    assert headings == 1
