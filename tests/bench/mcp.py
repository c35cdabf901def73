"""`make bench-mcp`: a tool call beside the same operation over HTTP, and beside the bare SDK's echo.

    python -m tests.bench.mcp [--rounds 5] [--seconds 4]

As in `http.py`: the server on one core, wrk on the other, medians with their range, ratios inside one round.
"""

import argparse
import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench import contestants
from tests.bench.contestants import Contestant, Provider
from tests.bench.load import Figure, Load, conditions, measure, spread
from tests.helpers.live_server import free_port

NEWEST, OLDER = "2026-07-28", "2025-11-25"


@contextlib.contextmanager
def echo(cores: str) -> Iterator[Contestant]:
    """The SDK's own server with one tool."""
    port = free_port()
    command = contestants.uvicorn("tests.bench.mcp_echo:app", port)
    with contestants.started("SDK echo", command, {}, port, cores) as contestant:
        yield contestant


def called(tool: str, arguments: dict[str, Any], version: str, token: str = "") -> dict[str, str]:
    """The load script's environment for one tool call, again and again."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
    }
    if version == NEWEST:
        prefix = "io.modelcontextprotocol/"
        params["_meta"] = {f"{prefix}protocolVersion": NEWEST, f"{prefix}clientCapabilities": {}}
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    lines = "\n".join(f"{name}: {value}" for name, value in headers.items())
    return {"BODY": json.dumps(message), "HEADERS": lines}


def loads(contestant: Contestant) -> list[tuple[str, Load]]:
    """Every row of ours, by the row it is held against."""
    token = contestant.tokens[0]
    authorized = {"METHOD": "GET", "HEADERS": f"Authorization: Bearer {token}"}
    known = contestant.negotiation
    rows: list[tuple[str, Load]] = []
    for name, tool, path, arguments in (
        ("one negotiation", "get_negotiation", f"/api/negotiations/{known}", {"id": known}),
        ("list of 20", "list_negotiations", "/api/negotiations", {}),
    ):
        over_http = f"{name}, HTTP"
        rows.append((over_http, row(over_http, path, authorized)))
        for version in (NEWEST, OLDER):
            sent = called(tool, arguments, version, token)
            rows.append((over_http, row(f"{name}, tools/call {version}", "/mcp", sent)))
    return rows


def row(name: str, path: str, environment: dict[str, str]) -> Load:
    """One row of the table."""
    return Load(name, "message.lua", lambda _: path, lambda _: environment)


def table(figures: dict[str, list[Figure]], against: dict[str, str]) -> str:
    """The rows as markdown."""
    lines = [
        "| Row | Requests/s | p99, ms | CPU, µs | × over HTTP, requests/s | × over HTTP, CPU | × SDK echo, CPU |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, found in figures.items():
        same = figures[against[name]]
        over = [a.rps / b.rps for a, b in zip(found, same, strict=True)]
        cpu = [b.cpu_us / a.cpu_us for a, b in zip(found, same, strict=True)]
        version = OLDER if name.endswith(OLDER) else NEWEST
        bare = figures[f"SDK echo, tools/call {version}"]
        beside = [b.cpu_us / a.cpu_us for a, b in zip(found, bare, strict=True)]
        lines.append(
            f"| {name} | {spread([f.rps for f in found], 0)} | {spread([f.p99_ms for f in found], 1)} "
            f"| {spread([f.cpu_us for f in found], 0)} | {spread(over, 2)} | {spread(cpu, 2)} "
            f"| {spread(beside, 2)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    chosen = parser.parse_args()
    figures: dict[str, list[Figure]] = {}
    against: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        Provider(folder)
        ours = stack.enter_context(contestants.ours(folder, 1, "0"))
        bare = stack.enter_context(echo("0"))
        echoed = [
            row(f"SDK echo, tools/call {version}", "/mcp", called("echo", {"text": "x"}, version))
            for version in (NEWEST, OLDER)
        ]
        held = loads(ours)
        first = called("get_negotiation", {"id": ours.negotiation}, NEWEST, ours.tokens[0])
        headers = dict(line.split(": ", 1) for line in first["HEADERS"].splitlines())
        ours.request("POST", "/mcp", first["BODY"].encode(), headers)  # loads the SDK
        for _, load in held:
            measure(ours, load, 1)
        for _ in range(chosen.rounds):
            for over, load in held:
                against[load.name] = over
                figures.setdefault(load.name, []).append(measure(ours, load, chosen.seconds))
            for load in echoed:
                against[load.name] = load.name
                figures.setdefault(load.name, []).append(measure(bare, load, chosen.seconds))
        print(table(figures, against))
        foreign = [figure.foreign for found in figures.values() for figure in found]
        print(
            f"\n{conditions(chosen.rounds, chosen.seconds, foreign)} Largest process: ours "
            f"{ours.largest_mb():.0f} MB, the echo's {bare.largest_mb():.0f} MB."
        )


if __name__ == "__main__":
    main()
