"""What a first user does with an installed server: start it from any folder, register, ask for advice."""

import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from tests.helpers.live_server import PATIENCE, free_port, wait_for

_AGENT: Final = {"agent_name": "first", "identity_type": "anonymous"}
_USED_CAR: Final = {
    "title": "Used car",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": 11000, "max": 15000}}],
    "target": {"package": {"price": 12500}},
    "walk_away": {"package": {"price": 14000}},
    "batna": {"description": "A similar car elsewhere"},
}


@dataclass(frozen=True, slots=True)
class FirstAdvice:
    """What the server showed and said, and the seconds from its start to the advice."""

    page: str
    health: dict[str, Any]
    advice: dict[str, Any]
    seconds: float


def ask_for_advice(command: str, environment: Mapping[str, str]) -> FirstAdvice:
    """Run `command serve` in `/` and ask it about a used car. Raises AssertionError with its log if it ends."""
    started = time.monotonic()
    port = free_port()
    with (
        tempfile.TemporaryFile() as log,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client,
    ):
        serve = [command, "serve", "--port", str(port)]
        process = subprocess.Popen(serve, cwd="/", env=dict(environment), stdout=log, stderr=log)

        def answers() -> bool:
            assert process.poll() is None, log.seek(0) or log.read().decode()
            try:
                return client.get("/api/health").is_success
            except httpx2.TransportError:
                return False

        try:
            wait_for(answers)
            token = client.post("/api/agent/register", json=_AGENT).json()["access_token"]
            headers = {"Authorization": f"Bearer {token}"}
            answer = client.post("/api/leverage", json=_USED_CAR, headers=headers)
            seconds = time.monotonic() - started
            assert answer.is_success, answer.text
            page, health = client.get("/").text, client.get("/api/health").json()
            return FirstAdvice(page, health, answer.json(), seconds)
        finally:
            process.terminate()
            process.wait(PATIENCE)
