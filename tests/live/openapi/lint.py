"""`make check`: the OpenAPI document under redocly's recommended rules and spectral's; exits 1 for any finding."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from docs.generate import service
from negotiator import __version__
from negotiator.discovery.openapi import openapi_document
from tests.live.openapi.installed import HERE, NotInstalled, environment, node_tool

_SECONDS: Final = 300
_SOCKET: Final = "/paths/~1api~1teleprompter~1sessions~1{id}~1stream/get/responses"
EXPECTED: Final = {
    # The operation opens a WebSocket: its success is 101, which both linters take for none.
    f"operation-2xx-response {_SOCKET}",
    f"operation-success-response {_SOCKET}",
}


def write_document(folder: Path) -> Path:
    """The document of a service with every setting at its default, as a file in the folder."""
    path = folder / "openapi.json"
    path.write_text(json.dumps(openapi_document(service(), __version__)))
    return path


def redocly(path: Path) -> list[tuple[str, str]]:
    """What redocly finds: the rule with the JSON pointer, and the message."""
    command = [*node_tool("redocly"), "lint", str(path), "--format", "json"]
    found: dict[str, Any] = _run([*command, "--config", str(HERE / "redocly.yaml")])
    return [
        (f"{each['ruleId']} {each['location'][0]['pointer'].removeprefix('#')}", each["message"])
        for each in found["problems"]
    ]


def spectral(path: Path) -> list[tuple[str, str]]:
    """What spectral finds: the rule with the JSON pointer, and the message."""
    command = [*node_tool("spectral"), "lint", str(path), "-f", "json", "--quiet"]
    found: list[dict[str, Any]] = _run([*command, "-r", str(HERE / "spectral.yaml")])
    return [(f"{each['code']} {_pointer(each['path'])}", each["message"]) for each in found]


def findings(path: Path) -> list[str]:
    """What either linter finds beyond the expected, and what is expected in vain."""
    with ThreadPoolExecutor() as pool:
        both = [pool.submit(redocly, path), pool.submit(spectral, path)]
    found = dict(each for lint in both for each in lint.result())
    new = [f"{place}: {message}" for place, message in found.items() if place not in EXPECTED]
    return [*new, *(f"{place}: not found any more" for place in sorted(EXPECTED - found.keys()))]


def _pointer(path: list[str | int]) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def _run(command: list[str]) -> Any:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_SECONDS, check=False, cwd=HERE, env=environment()
    )
    start = min((at for mark in "[{" if (at := done.stdout.find(mark)) >= 0), default=-1)
    if start < 0:
        raise NotInstalled(f"{command[1]}: {done.stderr[-2000:]}")
    return json.JSONDecoder().raw_decode(done.stdout[start:])[0]


def main() -> int:
    """Lint, and print what was found."""
    with TemporaryDirectory() as folder:
        try:
            found = findings(write_document(Path(folder)))
        except NotInstalled as fault:
            print(fault, file=sys.stderr)
            return 1
    for line in found:
        print(line)
    print(f"redocly and spectral: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
