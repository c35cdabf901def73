"""`negotiator demo`: tells the story or runs all chapters, prints them or one JSON object, and cleans up."""

import contextlib
import secrets
import signal
import socket
import time
from collections.abc import Callable, Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import httpx2

from negotiator.cli.database import load_settings
from negotiator.cli.demo import (
    access_chapters,
    memory_directory_mcp_chapters,
    negotiation_chapter,
    teleprompter_chapter,
)
from negotiator.cli.demo.context import DemoChapter, DemoContext
from negotiator.cli.demo.example_database import describe, run_examples
from negotiator.cli.demo.identity_provider import run_identity_provider
from negotiator.cli.demo.printer import DemoPrinter
from negotiator.cli.demo.server import DemoFailed, DemoServer, existing_server, run_own_server
from negotiator.cli.demo.story import StoryPrinter, introduce, tell_story
from negotiator.cli.output import command_name, exit_with_error, print_result, print_warning
from negotiator.config.settings_files import SettingsError

CHAPTERS: Final[tuple[DemoChapter, ...]] = (
    access_chapters.DISCOVERY,
    access_chapters.ANONYMOUS_ACCESS,
    access_chapters.ENTERPRISE_ACCESS,
    access_chapters.CLAIMED_ACCESS,
    negotiation_chapter.NEGOTIATION,
    memory_directory_mcp_chapters.MEMORY,
    teleprompter_chapter.TELEPROMPTER,
    memory_directory_mcp_chapters.DIRECTORY,
    memory_directory_mcp_chapters.MCP,
    access_chapters.OAUTH_CLIENTS,
    access_chapters.REVOCATION,
    access_chapters.AUDIT_TRAIL,
)
_TIMEOUT: Final = 20.0
PORT: Final = 8000


def run_demo(url: str, folder: Path | None, *, verbose: bool, keep: bool, as_json: bool) -> None:
    """Tell one negotiation, run the chapters (`verbose`) or fill a database in the folder (`keep`)."""
    if keep:
        _keep(folder or load_settings().data_dir.absolute() / "demo", as_json=as_json)
        return
    started = time.monotonic()
    story = StoryPrinter(silent=as_json or verbose)
    narrator = DemoPrinter(silent=as_json or not verbose)
    introduce(story)
    try:
        with _interruptible(), _server(url) as site:
            narrator.title(site.url)
            results = _run_chapters(site, narrator, None if verbose else story)
    except (DemoFailed, SettingsError) as fault:
        exit_with_error(str(fault), 1)
    except KeyboardInterrupt:
        exit_with_error("The demo was interrupted.", 130)
    else:
        count, seconds = sum(map(len, results.values())), time.monotonic() - started
        narrator.end(count, seconds)
        story.line()
        story.line(f"✓ {count} statements were checked, in {seconds:.0f} seconds.", "bold green")
        story.command("Each request of a longer run", f"{command_name()} demo --verbose")
        story.command("Four negotiations to look at, with a sign-in", f"{command_name()} demo --keep")
        if as_json:
            result = {"url": site.url, "seconds": round(seconds, 3), "chapters": results}
            print_result({"ok": True, **result}, "", as_json=True)


def _keep(folder: Path, *, as_json: bool) -> None:
    port = PORT if _is_free(PORT) else 0
    try:
        with _interruptible(), run_examples(folder, port) as (site, stored):
            told = {"url": site.url, "folder": str(site.folder), **asdict(stored)}
            print_result(told, describe(site, stored), as_json=as_json)
            while not as_json:
                signal.pause()
    except (DemoFailed, SettingsError) as fault:
        exit_with_error(str(fault), 1)
    except KeyboardInterrupt:
        return


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _run_chapters(site: DemoServer, narrator: DemoPrinter, story: StoryPrinter | None) -> dict[str, list[str]]:
    """Run the chapters, of which the `story` has the first ones of access and its own.

    Returns the checked statements of each. The operator's commands are undone at the end.
    """
    results: dict[str, list[str]] = {}
    with run_identity_provider() as provider, httpx2.Client(timeout=_TIMEOUT, trust_env=False) as http:
        journey = DemoContext(site, narrator, http, provider, secrets.token_hex(4))
        try:
            for chapter in CHAPTERS if story is None else _story_chapters(story):
                narrator.chapter(chapter.title, chapter.purpose)
                chapter.run(journey)
                results[chapter.name], journey.checked = journey.checked, []
        finally:
            _undo(journey)
    return results


def _story_chapters(out: StoryPrinter) -> tuple[DemoChapter, ...]:
    told = DemoChapter("story", "One negotiation", "", lambda journey: tell_story(journey, out))
    access = access_chapters
    return (access.DISCOVERY, access.ANONYMOUS_ACCESS, access.CLAIMED_ACCESS, told)


def _undo(journey: DemoContext) -> None:
    """On an existing server, undo the operator's commands, so that it does not keep trusting the demo's provider."""
    if journey.site.is_own:
        return
    for command in reversed(journey.undo):
        try:
            journey.operate(*command)
        except DemoFailed as fault:
            print_warning(f"could not be undone: {fault}")


def _server(url: str) -> contextlib.AbstractContextManager[DemoServer]:
    """The server at the address, or one of its own, which keeps what it learns for the next one."""
    if url:
        return contextlib.nullcontext(existing_server(url))
    models = load_settings().models_folder.absolute()
    try:
        models.mkdir(parents=True, exist_ok=True)
    except OSError:
        return run_own_server()
    return run_own_server(models_dir=str(models))


@contextlib.contextmanager
def _interruptible() -> Generator[None]:
    """Let SIGTERM end the demo as Ctrl-C does, so that its server ends too."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before: Callable[..., Any] | int | None = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
