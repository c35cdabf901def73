"""A process that starts as the product does, and prints which modules it has loaded and how much memory it takes.

    python -m tests.house.first_answer WORDS

runs the command with these words; without words it is a worker that answers one request.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

_SMAPS: Final = Path("/proc/self/smaps_rollup")


def main(words: list[str]) -> None:
    """Start, and print what was loaded as the last line."""
    if words:
        _run_command(words)
    else:
        asyncio.run(_answer_once())
    anonymous = next(line for line in _SMAPS.read_text().splitlines() if "Anonymous" in line)
    result = {"modules": sorted(sys.modules), "megabytes": int(anonymous.split()[1]) // 1024}
    sys.stdout.write(f"\n{json.dumps(result)}\n")


def _run_command(words: list[str]) -> None:
    from negotiator.cli import main as run  # imported here: a worker starts without it

    sys.argv = ["negotiator", *words]
    with contextlib.suppress(SystemExit):
        run()


async def _answer_once() -> None:
    from negotiator.cli.worker import create_app  # imported here: a command starts without it

    app, answers = create_app(), list[int]()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        answers.append(message.get("status", 0))

    request: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/api/health",
        "raw_path": b"/api/health",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "state": {},
    }
    async with app.router.lifespan_context(app):
        await app(request, receive, send)
    assert answers[0] == 200, answers


if __name__ == "__main__":
    main(sys.argv[1:])
