"""The servers that are measured: ours, the ceiling and the peers, each a process tree on chosen cores."""

import base64
import contextlib
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import jwt
import psutil
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import ECAlgorithm

from tests.bench.settings import BASE, CLIENT, GRANT, ISSUER, SECRET, SUBJECT
from tests.helpers.live_server import free_port

ROOT: Final = Path(__file__).parents[2]
NODE: Final = Path(__file__).parent / "node"
PEERS: Final = ROOT / ".bench/peers/bin"
LIFTED: Final = {
    "NEGOTIATOR_REGISTER_LIMIT_ANONYMOUS": "1000000000",
    "NEGOTIATOR_LIMIT_RPM": "60000000",
    "NEGOTIATOR_LIMIT_BASELINE_RPM": "60000000",
    "NEGOTIATOR_LIMIT_DIRECTORY_RPM": "60000000",
}
AGENTS: Final = 50
NEGOTIATIONS: Final = 25
ANONYMOUS: Final = {"agent_name": "a", "identity_type": "anonymous"}
CLIENT_METADATA: Final = {
    "redirect_uris": ["https://app.example/cb"],
    "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code"],
}
NEGOTIATION: Final[dict[str, Any]] = {
    "title": "supply contract",
    "role": "buyer",
    "issues": [
        {"name": "price", "type": "money", "direction": "lower", "range": {"min": "100", "max": "200", "step": "1"}}
    ],
}


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Proportional and resident set sizes of a process tree in MB, a value for each process, largest first."""

    pss: tuple[float, ...]
    rss: tuple[float, ...]

    @classmethod
    def of(cls, tree: list[psutil.Process]) -> "MemoryUse":
        used = [process.memory_full_info() for process in tree]
        return cls(
            tuple(sorted((each.pss / 1e6 for each in used), reverse=True)),
            tuple(sorted((each.rss / 1e6 for each in used), reverse=True)),
        )


def process_tree(process: "subprocess.Popen[bytes] | None") -> list[psutil.Process]:
    """A running process and all its descendants."""
    assert process is not None
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


def cpu_seconds(processes: list[psutil.Process]) -> float:
    """Seconds of processor time, user and system, that running processes have used."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


@dataclass
class Contestant:
    """A running server and what a load needs to speak to it."""

    name: str
    process: subprocess.Popen[bytes]
    port: int
    tokens: list[str] = field(default_factory=list)
    negotiation: str | int = ""
    """The newest one of the first token."""
    client: str = CLIENT
    basic: str = ""
    first_memory: MemoryUse = MemoryUse((), ())
    environment: dict[str, str] = field(default_factory=dict)

    def tree(self) -> list[psutil.Process]:
        return process_tree(self.process)

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.tree())

    def memory(self) -> MemoryUse:
        return MemoryUse.of(self.tree())

    def largest_mb(self) -> float:
        return self.memory().rss[0]

    def request(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
        """The body of an answer. Raises `RuntimeError` for a refusal."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body or None, headers or {})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise RuntimeError(f"{self.name}, {method} {path}: {answer.status} {content[:300]!r}")
        return content

    def post(self, path: str, body: Any, token: str = "") -> Any:
        """Post JSON; bytes are sent as they are."""
        headers = {"Content-Type": "application/json", **bearer(token)}
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return json.loads(self.request("POST", path, sent, headers))


def get(contestant: Contestant, path: str, token: str) -> Any:
    return json.loads(contestant.request("GET", path, headers=bearer(token)))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


@contextlib.contextmanager
def started(name: str, command: list[str], environment: dict[str, str], port: int, cores: str) -> Iterator[Contestant]:
    """Start a server on these cores, wait until it listens, end its whole tree."""
    process = subprocess.Popen(
        ["taskset", "-c", cores, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", **environment},
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
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        time.sleep(0.02)
    raise RuntimeError(f"nothing answers on port {port}")


def uvicorn(app: str, port: int, python: str = sys.executable) -> list[str]:
    """The command that serves an ASGI application as ours is served."""
    options = ["--loop", "uvloop", "--http", "httptools", "--log-level", "warning"]
    return [python, "-m", "uvicorn", app, "--port", str(port), *options, "--no-access-log"]


class Provider:
    """The identity provider whose assertions the servers believe, and the key that the peers sign with."""

    def __init__(self, folder: Path) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        _write_key(folder / "idp.pem", self.key)
        _write_key(folder / "as.pem", ec.generate_private_key(ec.SECP256R1()))
        jwk = ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        jwk = {**jwk, "kid": "idp1", "use": "sig", "alg": "ES256"}
        (folder / "jwks.json").write_text(json.dumps({"keys": [jwk]}))

    def assertion(self, client: str = CLIENT, audience: str = BASE, **more: str) -> str:
        """A new ID-JAG."""
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": audience, "sub": SUBJECT, "client_id": client, "iat": now}
        claims |= {"exp": now + 290, "scope": "negotiations:read", "jti": secrets.token_hex(12)}
        headers = {"kid": "idp1", "typ": "oauth-id-jag+jwt"}
        return jwt.encode({**claims, **more}, self.key, "ES256", headers=headers)

    def write_assertions(self, path: Path, count: int, client: str, **more: str) -> Path:
        """A file of assertions, one a line, for one client."""
        with path.open("w") as file:
            file.writelines(f"{self.assertion(client, **more)}\n" for _ in range(count))
        return path


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def operate(environment: dict[str, str], *command: str) -> Any:
    """What a command of the operator prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", *command, "--json"],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    return json.loads(done.stdout)


@contextlib.contextmanager
def ours(folder: Path, workers: int, cores: str) -> Iterator[Contestant]:
    """Our server with an issuer, a client and `AGENTS` agents with `NEGOTIATIONS` negotiations each."""
    port = free_port()
    environment = {
        **LIFTED,
        "NEGOTIATOR_CONFIG": os.devnull,
        "NEGOTIATOR_BASE_URL": BASE,
        "NEGOTIATOR_DATA_DIR": str(folder / f"data-{workers}"),
        "NEGOTIATOR_KEYS_DIR": str(folder / "keys"),
        "NEGOTIATOR_MODELS_DIR": str(ROOT / ".bench/models"),
        "PYTHONPATH": str(ROOT),
    }
    operate(environment, "issuers", "add", ISSUER, "--jwks-file", str(folder / "jwks.json"))
    client = operate(environment, "clients", "add", "bench")
    command = [sys.executable, "-m", "negotiator", "serve", "--port", str(port)]
    command += ["--workers", str(workers)]
    name = f"negotiator, {workers} worker{'s' * (workers > 1)}"
    with started(name, command, environment, port, cores) as contestant:
        contestant.environment = environment
        contestant.request("GET", "/api/health")
        settle(contestant)
        contestant.first_memory = contestant.memory()
        contestant.basic = _basic(client["client_id"], client["client_secret"])
        _fill(contestant, [json.dumps(NEGOTIATION).encode()] * NEGOTIATIONS)
        yield contestant


@contextlib.contextmanager
def ceiling(folder: Path, like: Contestant, cores: str) -> Iterator[Contestant]:
    """The ceiling, which stores and sends the same documents as another contestant."""
    listed = get(like, f"/api/negotiations?limit={NEGOTIATIONS}", like.tokens[0])
    cursor = get(like, "/api/negotiations", like.tokens[0])["next_cursor"]
    documents = [json.dumps(each, separators=(",", ":")).encode() for each in listed["items"]]
    port = free_port()
    environment = {"FOLDER": str(folder), "CURSOR": cursor}
    command = uvicorn("tests.bench.ceiling:app", port)
    with started("ceiling", command, environment, port, cores) as contestant:
        contestant.post("/api/agent/register", ANONYMOUS)
        contestant.first_memory = contestant.memory()
        contestant.basic = _basic(CLIENT, SECRET)
        _fill(contestant, documents)
        yield contestant


def settle(contestant: Contestant) -> None:
    """Wait until every worker has started and nothing is prepared any more: a second with little CPU."""
    end = time.monotonic() + 120
    spent = contestant.cpu_seconds()
    while time.monotonic() < end:
        time.sleep(1)
        before, spent = spent, contestant.cpu_seconds()
        if abs(spent - before) < 0.1:
            return


def _fill(contestant: Contestant, documents: list[bytes]) -> None:
    def agent(_: int) -> tuple[str, str | int]:
        token = contestant.post("/api/agent/register", ANONYMOUS)["access_token"]
        added = [contestant.post("/api/negotiations", each, token)["id"] for each in documents]
        return token, added[-1]

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(agent, range(AGENTS)))
    contestant.tokens = [token for token, _ in made]
    contestant.negotiation = made[0][1]


def _basic(client: str, secret: str) -> str:
    return base64.b64encode(f"{client}:{secret}".encode()).decode()


@contextlib.contextmanager
def oidc_provider(folder: Path, store: str, tokens: str, cores: str) -> Iterator[Contestant]:
    """npm's oidc-provider: its store in memory, or SQLite; opaque access tokens, or JWTs (which it never stores)."""
    port = free_port()
    environment = {"STORE": store, "FORMAT": tokens, "CLIENT": CLIENT, "SECRET": SECRET}
    name = f"oidc-provider, {'JWT' if tokens == 'jwt' else 'opaque'}, {store}"
    with _node("oidc_provider.mjs", name, environment, folder, port, cores) as contestant:
        contestant.post("/reg", {"redirect_uris": CLIENT_METADATA["redirect_uris"]})
        contestant.first_memory = contestant.memory()
        contestant.basic = _basic(CLIENT, SECRET)
        yield contestant


@contextlib.contextmanager
def better_auth(folder: Path, cores: str) -> Iterator[Contestant]:
    """npm's better-auth with its OAuth provider on SQLite; it stores clients, and no JWTs."""
    port = free_port()
    with _node("better_auth.mjs", "better-auth, JWT, sqlite", {}, folder, port, cores) as running:
        running.post("/oauth2/register", CLIENT_METADATA)
        running.first_memory = running.memory()
        running.basic = _basic(*(folder / "better-auth").read_text().split(":"))
        yield running


@contextlib.contextmanager
def _node(
    script: str, name: str, environment: dict[str, str], folder: Path, port: int, cores: str
) -> Iterator[Contestant]:
    environment = {**environment, "PORT": str(port), "FOLDER": str(folder)}
    with started(name, ["node", str(NODE / script)], environment, port, cores) as contestant:
        yield contestant


@contextlib.contextmanager
def fastmcp(folder: Path, cores: str) -> Iterator[Contestant]:
    """fastmcp's authorization server, which keeps everything in memory."""
    port = free_port()
    environment = {"FOLDER": str(folder), "PORT": str(port)}
    command = uvicorn("tests.bench.peers.fastmcp_server:app", port, str(PEERS / "python"))
    with started("fastmcp, memory", command, environment, port, cores) as contestant:
        contestant.client = contestant.post("/register", CLIENT_METADATA)["client_id"]
        contestant.first_memory = contestant.memory()
        yield contestant


@contextlib.contextmanager
def authlib(folder: Path, cores: str) -> Iterator[Contestant]:
    """Authlib on Flask behind gunicorn, one process with 8 threads; it stores each token in SQLite."""
    port = free_port()
    command = [str(PEERS / "python"), "-m", "gunicorn", "--worker-class", "gthread"]
    command += ["--threads", "8", "--keep-alive", "60", "--bind", f"127.0.0.1:{port}"]
    command += ["tests.bench.peers.authlib_server:app"]
    environment = {"FOLDER": str(folder)}
    with started("Authlib on Flask, JWT, sqlite", command, environment, port, cores) as contestant:
        contestant.basic = _basic(CLIENT, SECRET)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        headers["Authorization"] = f"Basic {contestant.basic}"
        contestant.request("POST", "/token", GRANT.encode(), headers)
        contestant.first_memory = contestant.memory()
        yield contestant
