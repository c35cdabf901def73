"""`make fuzz`: schemathesis with every check against a running server, by a client that has every scope.

Takes minutes. Options go to schemathesis: `--phases coverage --max-examples 20`.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2

from negotiator.base.scopes import SERVICES
from tests.helpers.generated_requests import ACCEPTANCE, DEPENDS, POSITIVE, REJECTIONS
from tests.helpers.live_server import Server

HERE: Final = Path(__file__).parent
_SECONDS: Final = 60
"""How long one answer may take; the first that embeds a text waits for the model."""
_DEFAULTS: Final = ("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "20")


def configuration() -> str:
    """The command line's configuration: the statuses that the checks take for an answer to good and to bad data."""
    statuses = json.dumps(ACCEPTANCE)
    rejections = json.dumps(REJECTIONS)
    depending = json.dumps([*ACCEPTANCE, "400", "422"])
    return f"""
hooks = {json.dumps(str(HERE / "hooks.py"))}
request-timeout = {_SECONDS}

[checks]
max_response_time = {_SECONDS}
{POSITIVE}.expected-statuses = {statuses}
negative_data_rejection.expected-statuses = {rejections}
missing_required_header.expected-statuses = {rejections}

[[operations]]
include-operation-id = {json.dumps(list(DEPENDS))}
checks.{POSITIVE}.expected-statuses = {depending}
"""


def token(server: Server) -> str:
    """An access token with every scope."""
    scopes = [scope for known in SERVICES.values() for scope in known]
    options = [part for scope in scopes for part in ("--scope", scope)]
    made: dict[str, Any] = json.loads(
        server.run("clients", "add", "fuzz", "--grant", "client_credentials", *options, "--json")
    )
    answer = httpx2.post(
        f"{server.base}/oauth/token",
        data={"grant_type": "client_credentials", "scope": " ".join(scopes)},
        auth=(made["client_id"], made["client_secret"]),
    )
    found: str = answer.raise_for_status().json()["access_token"]
    return found


def main() -> int:
    """Run, and give the command line's own exit code."""
    with TemporaryDirectory() as folder:
        server = Server(Path(folder), workers=1, settings={"token_ttl": "86400"})
        server.start()
        try:
            config = Path(folder) / "schemathesis.toml"
            config.write_text(configuration())
            command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)]
            command += ["run", f"{server.base}/openapi.json", "--checks", "all"]
            command += ["--header", f"Authorization: Bearer {token(server)}"]
            done = subprocess.run([*command, *(sys.argv[1:] or _DEFAULTS)], check=False, cwd=folder)
            return done.returncode
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main())
