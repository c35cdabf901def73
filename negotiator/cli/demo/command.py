"""`negotiator demo`: runs its chapters, prints what they tell or one JSON object, and cleans up."""

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
from negotiator.cli.demo.chapters import ACCESS, COMPANY, MEMORY_AND_CALL, NEGOTIATION, TOOLS_AND_MCP, introduce, leave
from negotiator.cli.demo.context import TIMEOUT, DemoContext, DemoPrinter
from negotiator.cli.demo.examples import describe, run_examples
from negotiator.cli.demo.server import DemoFailed, DemoIdentityProvider, DemoServer, existing_server, run_own_server
from negotiator.cli.output import command_name, exit_with_error, print_result, print_warning
from negotiator.config.settings_files import SettingsError

CHAPTERS: Final = (ACCESS, NEGOTIATION, MEMORY_AND_CALL, TOOLS_AND_MCP, COMPANY)
_STORY: Final = (ACCESS, NEGOTIATION)
PORT: Final = 8000


def run_demo(url: str, folder: Path | None, *, verbose: bool, keep: bool, as_json: bool) -> None:
    """Tell one negotiation, show all chapters (`verbose`) or fill a database in the folder (`keep`)."""
    if keep:
        _keep(folder or load_settings().data_dir.absolute() / "demo", as_json=as_json)
        return
    started = time.monotonic()
    printer = DemoPrinter(silent=as_json, verbose=verbose)
    introduce(printer)
    try:
        with _interruptible(), _server(url) as site:
            results = _run_chapters(site, printer, verbose=verbose)
    except (DemoFailed, SettingsError) as fault:
        exit_with_error(str(fault), 1)
    except KeyboardInterrupt:
        exit_with_error("The demo was interrupted.", 130)
    else:
        count, seconds = sum(map(len, results.values())), time.monotonic() - started
        printer.line()
        printer.line(f"✓ {count} statements were checked, in {seconds:.0f} seconds.", "bold green")
        if not verbose:
            printer.command("Each request of a longer run", f"{command_name()} demo --verbose")
        printer.command("Four negotiations to look at, with a sign-in", f"{command_name()} demo --keep")
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


def _run_chapters(site: DemoServer, printer: DemoPrinter, *, verbose: bool) -> dict[str, list[str]]:
    """Run all chapters, or those of the story; returns the checked statements of each.

    The operator's commands are undone at the end.
    """
    results: dict[str, list[str]] = {}
    run = secrets.token_hex(4)
    with httpx2.Client(timeout=TIMEOUT, trust_env=False) as http:
        journey = DemoContext(site, printer, http, DemoIdentityProvider(f"https://idp-{run}.demo.example"), run)
        try:
            for chapter in CHAPTERS if verbose else _STORY:
                printer.chapter(chapter.title, chapter.purpose)
                for part in chapter.parts:
                    part(journey)
                results[chapter.name], journey.checked = journey.checked, []
            leave(journey)
            results["leaving"] = journey.checked
        finally:
            _undo(journey)
    return results


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
