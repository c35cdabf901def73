"""Who is measured: our server, the ceiling, the peer. Each is a process tree on chosen cores."""

import base64
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt
import psutil
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import ECAlgorithm

BASE = "https://nego.example"
ISSUER = "https://idp.example"
LIFTED = {
    "NEGOTIATOR_REGISTER_LIMIT_ANONYMOUS": "1000000000",
    "NEGOTIATOR_REGISTER_LIMIT_ASSERTION": "1000000000",
    "NEGOTIATOR_LIMIT_RPM": "60000000",
    "NEGOTIATOR_LIMIT_BASELINE_RPM": "60000000",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Contestant:
    """A running server and what a load needs to speak to it."""

    name: str
    process: subprocess.Popen[bytes]
    port: int
    tokens: list[str] = field(default_factory=list)
    basic: str = ""

    def tree(self) -> list[psutil.Process]:
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def cpu_seconds(self) -> float:
        return sum(sum(process.cpu_times()[:2]) for process in self.tree())

    def largest_mb(self) -> float:
        return max(process.memory_info().rss for process in self.tree()) / 1e6


@contextlib.contextmanager
def started(
    name: str, command: list[str], environment: dict[str, str], port: int, cores: str
) -> Iterator[Contestant]:
    """Start a server on these cores, wait until it answers, end its whole tree."""
    process = subprocess.Popen(
        ["taskset", "-c", cores, *command],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(port, process)
        yield Contestant(name, process, port)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        time.sleep(0.05)
    raise RuntimeError(f"nothing answers on port {port}")


class Provider:
    """The identity provider whose assertions both servers believe."""

    def __init__(self, folder: Path) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        pem = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / "idp.pem").write_bytes(pem)
        (folder / "as.pem").write_bytes(
            ec.generate_private_key(ec.SECP256R1()).private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
            )
        )
        jwk = {
            **ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True),
            "kid": "idp1",
            "use": "sig",
            "alg": "ES256",
        }
        (folder / "jwks.json").write_text(json.dumps({"keys": [jwk]}))

    def write_assertions(self, path: Path, count: int) -> Path:
        now = int(time.time())
        common = {
            "iss": ISSUER,
            "aud": BASE,
            "sub": "alice",
            "client_id": "c1",
            "iat": now,
            "exp": now + 290,
            "scope": "negotiations:read",
        }
        with path.open("w") as file:
            for _ in range(count):
                claims = {**common, "jti": secrets.token_hex(12)}
                headers = {"kid": "idp1", "typ": "oauth-id-jag+jwt"}
                file.write(jwt.encode(claims, self.key, "ES256", headers=headers) + "\n")
        return path


@contextlib.contextmanager
def ours(folder: Path, workers: int, cores: str) -> Iterator[Contestant]:
    """Our server, durable, with 1,000 agents' tokens and a list of 25 negotiations each for the first 50."""
    port = free_port()
    environment = {
        **LIFTED,
        "NEGOTIATOR_BASE_URL": BASE,
        "NEGOTIATOR_DATA_DIR": str(folder / f"data-{workers}"),
        "NEGOTIATOR_KEYS_DIR": str(folder / "keys"),
        "PYTHONPATH": str(Path.cwd()),
    }
    negotiator = [sys.executable, "-m", "negotiator"]
    run = {"env": {**os.environ, **environment}, "check": True, "capture_output": True}
    subprocess.run(
        [*negotiator, "issuers", "add", ISSUER, "--jwks-file", str(folder / "jwks.json")], **run
    )  # type: ignore[call-overload]
    added = subprocess.run([*negotiator, "clients", "add", "bench", "--json"], **run)  # type: ignore[call-overload]
    client = json.loads(added.stdout)
    command = [*negotiator, "serve", "--port", str(port), "--workers", str(workers)]
    with started(
        f"negotiator, {workers} worker{'s' * (workers > 1)}", command, environment, port, cores
    ) as contestant:
        time.sleep(1.5)
        contestant.basic = base64.b64encode(
            f"{client['client_id']}:{client['client_secret']}".encode()
        ).decode()
        _fill(contestant)
        yield contestant


def _fill(contestant: Contestant) -> None:
    register = {"agent_name": "a", "identity_type": "anonymous"}
    negotiation = {
        "title": "supply contract",
        "role": "buyer",
        "issues": [
            {
                "name": "price",
                "type": "money",
                "direction": "lower",
                "range": {"min": "100", "max": "200", "step": "1"},
            }
        ],
    }
    for number in range(1000):
        token = post(contestant, "/api/agent/register", register)["access_token"]
        contestant.tokens.append(token)
        for _ in range(25 if number < 50 else 0):
            post(contestant, "/api/negotiations", negotiation, token)
    contestant.tokens[50:] = []


def post(contestant: Contestant, path: str, body: Any, token: str = "") -> Any:
    headers = {
        "Content-Type": "application/json",
        **({"Authorization": f"Bearer {token}"} if token else {}),
    }
    url = f"http://127.0.0.1:{contestant.port}{path}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return json.load(answer)


def get(contestant: Contestant, path: str, token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{contestant.port}{path}", headers=headers)
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return json.load(answer)


@contextlib.contextmanager
def ceiling(folder: Path, shared: Path, cores: str) -> Iterator[Contestant]:
    """The least that the job costs on this stack."""
    port = free_port()
    environment = {
        "MODE": "lean3",
        "SYNC": "FULL",
        "BENCH_DIR": str(folder),
        "PYTHONPATH": str(shared),
    }
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "ceiling:app",
        "--port",
        str(port),
        "--loop",
        "uvloop",
        "--http",
        "httptools",
        "--no-access-log",
        "--log-level",
        "warning",
    ]
    with started("ceiling", command, environment, port, cores) as contestant:
        key = (folder / "as.pem").read_bytes()
        now = int(time.time())
        claims = {
            "iss": BASE,
            "aud": BASE,
            "sub": "agt_fixed",
            "client_id": "agt_fixed",
            "iat": now,
            "exp": now + 7200,
            "jti": "fixed",
            "scope": "negotiations:read negotiations:write memories:read ai:tactics",
        }
        contestant.tokens = [
            jwt.encode(claims, key, "ES256", headers={"kid": "k1", "typ": "at+jwt"})
        ]
        yield contestant


@contextlib.contextmanager
def peer(folder: Path, shared: Path, modules: Path, cores: str) -> Iterator[Contestant]:
    """npm's oidc-provider with its memory store, which forgets."""
    port = free_port()
    script = folder / "oidc_provider.mjs"
    script.write_text((shared / "oidc_provider.mjs").read_text())
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(modules / "node_modules")
    environment = {"PORT": str(port), "STORE": "memory", "BENCH_DIR": str(folder)}
    with started(
        "oidc-provider, memory", ["node", str(script)], environment, port, cores
    ) as contestant:
        contestant.basic = base64.b64encode(b"c1:s3cretsecretsecretsecret").decode()
        yield contestant
