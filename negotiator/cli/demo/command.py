"""`negotiator demo`: runs the chapters in order, tells them or answers one JSON object, and cleans up."""

import contextlib
import secrets
import signal
import time
from collections.abc import Callable, Generator
from typing import Annotated, Any, Final

import httpx2
import typer

from negotiator.cli.demo.chapters import arrival, control, house, live, people, talk
from negotiator.cli.demo.journey import Chapter, Journey
from negotiator.cli.demo.narrator import Narrator
from negotiator.cli.demo.provider import published
from negotiator.cli.demo.server import Site, Wrong, own, running
from negotiator.cli.output import Json, fail, say, warn
from negotiator.settings import SettingsError

CHAPTERS: Final[tuple[Chapter, ...]] = (
    arrival.DISCOVERY,
    arrival.WALK_UP,
    people.COMPANY,
    people.USER,
    talk.TALK,
    house.MEMORY,
    live.LIVE,
    house.TOOLS,
    house.MCP,
    control.CLIENTS,
    control.END,
    control.ACCOUNT,
)
_TIMEOUT: Final = 20.0


def demo(
    url: Annotated[
        str,
        typer.Option(
            help="A running server, whose settings this command shares; its own when left out."
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Walk the whole journey against a real server, step by step, and check every answer."""
    narrator, began = Narrator(silent=as_json), time.monotonic()
    try:
        with _interruptible(), _site(url) as site:
            narrator.title(site.url)
            results = _travel(site, narrator)
    except (Wrong, SettingsError) as fault:
        fail(str(fault), 1)
    except KeyboardInterrupt:
        fail("The demo was interrupted.", 130)
    else:
        count, seconds = sum(map(len, results.values())), time.monotonic() - began
        narrator.end(count, seconds)
        if as_json:
            shown = {"url": site.url, "seconds": round(seconds, 3), "chapters": results}
            say({"ok": True, **shown}, "", as_json=True)


def _travel(site: Site, narrator: Narrator) -> dict[str, list[str]]:
    """Run the chapters; answers what each has shown. What an operator would not keep is undone at the end."""
    results: dict[str, list[str]] = {}
    with published() as provider, httpx2.Client(timeout=_TIMEOUT, trust_env=False) as http:
        journey = Journey(site, narrator, http, provider, secrets.token_hex(4))
        try:
            for chapter in CHAPTERS:
                narrator.chapter(chapter.title, chapter.why)
                chapter.happen(journey)
                results[chapter.name], journey.shown = journey.shown, []
        finally:
            _tidy(journey)
    return results


def _tidy(journey: Journey) -> None:
    """On somebody's own server, trust in the demo's provider must not outlive the demo."""
    if journey.site.is_own:
        return
    for command in reversed(journey.tidy):
        try:
            journey.operate(*command)
        except Wrong as fault:
            warn(f"left behind: {fault}")


def _site(url: str) -> contextlib.AbstractContextManager[Site]:
    return contextlib.nullcontext(running(url)) if url else own()


@contextlib.contextmanager
def _interruptible() -> Generator[None]:
    """SIGTERM ends the demo as Ctrl-C does, so that no server is left behind."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before: Callable[..., Any] | int | None = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
