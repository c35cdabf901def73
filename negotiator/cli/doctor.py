"""`negotiator doctor`: says what of an installation works, what does not, and what to do about it."""

import asyncio
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from negotiator.base.values import escape_invisible
from negotiator.cli.output import JsonOption, async_command, print_result
from negotiator.cli.running_servers import command_sources
from negotiator.config.settings import load
from negotiator.config.settings_files import SettingsError
from negotiator.runtime import telemetry

if TYPE_CHECKING:
    from negotiator.cli.doctor_checks import Finding, Patient

SECONDS: Final = 5.0
"""For each check; all run at once."""
_NAME_COLUMN: Final = 9
_TEXT_COLUMN: Final = 21


@async_command
async def doctor(
    mail_to: Annotated[str, typer.Option(metavar="EMAIL", help="Send one trial mail to this address.")] = "",
    machines: Annotated[int, typer.Option(min=1, help="How many machines share the database.")] = 1,
    workers: Annotated[
        int,
        typer.Option(
            min=0, help="How many workers each machine has.", show_default="those of the server that runs here"
        ),
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Check settings, folders, keys, database, address, proxy, clocks, mail and models; exit 1 if there is a fault."""
    findings = await _examine(mail_to, machines, workers)
    faults = sum(finding.state == "fault" for finding in findings)
    warnings = sum(finding.state == "warning" for finding in findings)
    value = {"ok": not faults, "findings": [asdict(finding) for finding in findings]}
    summary = f"{_count(faults, 'fault')}, {_count(warnings, 'warning')}."
    # A terminal gets lines that fit it; a pipe gets each finding in a line, for grep.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    lines = (line for finding in findings for line in lines_of(finding, width))
    print_result(value, "\n".join([*lines, "", summary]), as_json=as_json)
    if faults:
        sys.stdout.flush()
        raise typer.Exit(1)


async def _examine(mail_to: str, machines: int, workers: int) -> "Sequence[Finding]":
    # Imported here, because it loads the whole service.
    from negotiator.cli.doctor_checks import CHECKS, Finding, Patient

    try:
        sources = command_sources()
        patient = Patient(load(sources), sources, mail_to, machines, workers)
    except SettingsError as fault:
        return [Finding("settings", "fault", str(fault).rstrip("."), "Mend this setting first.")]
    with telemetry.silenced():  # a finding says what a log line would
        found = await asyncio.gather(*(limited(check, patient) for check in CHECKS))
    return [finding for findings in found for finding in findings]


async def limited(check: Any, patient: "Patient") -> "Sequence[Finding]":
    """The findings of a check; a fault when it takes too long or breaks."""
    from negotiator.cli.doctor_checks import Finding

    name: str = check.__name__.removeprefix("check_")
    try:
        async with asyncio.timeout(SECONDS):
            return await check(patient)
    except TimeoutError:
        text = f"no answer within {SECONDS:.0f} s"
        return [Finding(name, "fault", text, "Look whether it is reachable from here.")]
    except Exception as fault:  # one check that breaks must not hide the others
        return [Finding(name, "fault", f"{type(fault).__name__}: {fault}", "Look into the log.")]


def lines_of(finding: "Finding", width: int) -> list[str]:
    """A finding in lines of at most `width` characters, one line and one of advice when it is 0.

    A word, such as a path, is never divided.
    """
    name = f"{finding.state:{_NAME_COLUMN}}{finding.name:{_TEXT_COLUMN - _NAME_COLUMN}}"
    lines = _wrapped(finding.text, name, " " * _TEXT_COLUMN, width)
    if finding.advice:
        arrow = f"{'':{_TEXT_COLUMN}}-> "
        lines += _wrapped(finding.advice, arrow, " " * len(arrow), width)
    return lines


def _wrapped(text: str, first: str, indent: str, width: int) -> list[str]:
    text = escape_invisible(text)
    if not width:
        return [f"{first}{text}"]
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
