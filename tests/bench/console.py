"""What a page costs beside the API's operations that it runs: `python -m tests.bench.console`.

In process, over the example database; each page several times, the medians in time of the processor. `share` is the
page's time over that of its operations; at most 3 is aimed at.
"""

import asyncio
import functools
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import httpx2

from negotiator.compose.app import create_app
from negotiator.console.page_calls import PageCalls
from tests.helpers.console_pages import PAGES, ConsolePage
from tests.helpers.example_site import ExampleSite, example_site
from tests.helpers.form_browser import FormBrowser

TIMES: Final = 9
AIM: Final = 3.0
_MILLISECONDS: Final = 1e3


class OperationClock:
    """Measures the processor's time inside operations."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.calls = 0
        original = PageCalls._answer

        @functools.wraps(original)
        async def measured(*given: Any, **named: Any) -> bytes:
            began = time.process_time()
            try:
                return await original(*given, **named)
            finally:
                self.spent += time.process_time() - began
                self.calls += 1

        PageCalls._answer = measured

    def reset(self) -> None:
        self.spent, self.calls = 0.0, 0


async def measure(site: ExampleSite) -> list[tuple[str, int, float, float]]:
    """Each page's name, number of operations, and milliseconds in all and inside the operations."""
    clock, found = OperationClock(), list[tuple[str, int, float, float]]()
    application = create_app(site.server.application_settings)
    async with application.router.lifespan_context(application):
        transport = httpx2.ASGITransport(application)
        async with (
            httpx2.AsyncClient(transport=transport, base_url=site.base) as ada,
            httpx2.AsyncClient(transport=transport, base_url=site.base) as nobody,
        ):
            await FormBrowser(ada).sign_in(site.stored.email, site.stored.password)
            for page in PAGES:
                if page.act is None and page.status == 200:
                    client = ada if page.visitor == "ada" else nobody
                    found.append((page.name, *await timed(client, site, page, clock)))
    return found


async def timed(
    client: httpx2.AsyncClient, site: ExampleSite, page: ConsolePage, clock: OperationClock
) -> tuple[int, float, float]:
    """The number of operations of a page, and the medians of both times."""
    whole, inside = list[float](), list[float]()
    for turn in range(TIMES + 1):
        clock.reset()
        began = time.process_time()
        answer = await client.get(site.path(page), headers={"accept": "text/html"})
        while answer.status_code == 429:  # faster than any person
            await asyncio.sleep(1)
            clock.reset()
            began = time.process_time()
            answer = await client.get(site.path(page), headers={"accept": "text/html"})
        assert answer.status_code == 200, f"{page.name}: {answer.status_code}"
        if turn:  # the first one fills caches
            whole.append(time.process_time() - began)
            inside.append(clock.spent)
    return (clock.calls, statistics.median(whole) * _MILLISECONDS, statistics.median(inside) * _MILLISECONDS)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder, example_site(Path(folder)) as site:
        site.server.stop()
        rows = asyncio.run(measure(site))
    lines = ["| page | operations | page, ms | operations, ms | share |", "|---|---|---|---|---|"]
    over: list[str] = []
    for name, calls, whole, inside in rows:
        share = f"{whole / inside:.1f}" if calls else "–"
        lines.append(f"| {name} | {calls} | {whole:.1f} | {inside:.1f} | {share} |")
        if calls and whole > AIM * inside:
            over.append(name)
    sys.stdout.write("\n".join([*lines, "", f"Over {AIM:g}: {', '.join(over) or 'none'}", ""]))


if __name__ == "__main__":
    main()
