"""The demo's server with the operator's commands, and an identity provider."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

import negotiator
from negotiator.base import values
from negotiator.config.settings_files import CONFIG_VARIABLE, ENV_PREFIX
from negotiator.discovery.health_routes import HEALTH_PATH
from negotiator.keys.keyring import ALGORITHM
from negotiator.trust.assertions import ID_JAG_TYPE

_TIMEOUT: Final = 60.0
_POLL: Final = 0.05
_LOG: Final = "server.log"
_LIFE: Final = 300
_MODELS: Final = f"{ENV_PREFIX}MODELS_DIR"
"""The one setting of the operator that applies: models that are built already need not be built again."""


class DemoFailed(Exception):
    """The demo cannot continue; the message is one line."""


@dataclass(frozen=True, slots=True)
class DemoServer:
    """A server, with the environment and folder in which the operator's commands run."""

    url: str
    environment: dict[str, str]
    folder: Path
    is_own: bool

    def operate(self, *arguments: str, text: str = "") -> Any:
        """Run `negotiator …` with `--json` as the operator; returns the JSON value it prints.

        `text` goes to its standard input. Raises `DemoFailed` when the command is refused.
        """
        done = subprocess.run(  # noqa: S603  fixed command
            [sys.executable, "-m", "negotiator", *arguments, "--json"],
            env=self.environment,
            cwd=self.folder,
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no output"])[-1]
            raise DemoFailed(f"negotiator {' '.join(arguments)}: {last}")
        return json.loads(done.stdout)

    def log(self) -> str:
        """The log of a server started by the demo."""
        return (self.folder / _LOG).read_text("utf-8")


def existing_server(url: str) -> DemoServer:
    """A running server; the operator's settings are those of this process."""
    return DemoServer(url.rstrip("/"), dict(os.environ), Path.cwd(), is_own=False)


@contextlib.contextmanager
def run_own_server(**settings: str) -> Generator[DemoServer]:
    """A server on a free port with its own temporary folders; it ends with the context.

    `settings` are further settings by name, without the prefix.
    """
    with (
        TemporaryDirectory(prefix="negotiator-demo-") as name,
        run_server(Path(name), settings=settings, hidden=True) as site,
    ):
        yield site


@contextlib.contextmanager
def run_server(
    folder: Path, port: int = 0, settings: Mapping[str, str] | None = None, *, hidden: bool = False
) -> Generator[DemoServer]:
    """A server with its data and keys in `folder`, on this port or a free one; it ends with the context.

    The user's commands do not find a hidden server.
    """
    site = _site(folder, port or _free_port(), settings or {})
    if hidden:
        site.environment["XDG_STATE_HOME"] = str(folder / "state")
    command = [sys.executable, "-m", "negotiator", "serve", "--port", site.url.rpartition(":")[2]]
    with (site.folder / _LOG).open("w") as log:
        # A process group of its own: Ctrl-C reaches only the demo, which then ends the server.
        process = subprocess.Popen(  # noqa: S603  fixed command
            command,
            env=site.environment,
            cwd=site.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait(site, process)
            yield site
        finally:
            _stop(process)


def _site(folder: Path, port: int, settings: Mapping[str, str]) -> DemoServer:
    url = f"http://127.0.0.1:{port}"
    values = {
        "base_url": url,
        "data_dir": str(folder / "var"),
        "keys_dir": str(folder / "keys"),
        "allow_loopback_fetch": "true",
        **settings,
    }
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(ENV_PREFIX) or name.upper() == _MODELS
    }
    environment |= {f"{ENV_PREFIX}{name.upper()}": value for name, value in values.items()}
    # No settings file of the operator applies. PYTHONPATH lets the server find the package when it is not installed.
    environment[CONFIG_VARIABLE] = os.devnull
    environment["PYTHONPATH"] = str(Path(negotiator.__file__).parents[1])
    return DemoServer(url, environment, folder, is_own=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(site: DemoServer, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _TIMEOUT
    with httpx2.Client(base_url=site.url, trust_env=False) as client:
        while time.monotonic() < until:
            if process.poll() is not None:
                break
            with contextlib.suppress(httpx2.TransportError):
                if client.get(HEALTH_PATH).is_success:
                    return
            time.sleep(_POLL)
    last = (site.log().strip().splitlines() or ["no output"])[-1]
    raise DemoFailed(f"The server did not start: {last}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class DemoIdentityProvider:
    """Signs ID-JAGs as the issuer `name`, with a key of its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._kid = secrets.token_hex(8)

    def jwks(self) -> dict[str, Any]:
        """Its public keys (RFC 7517 §5)."""
        jwk = ECAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        return {"keys": [{**jwk, "kid": self._kid, "use": "sig", "alg": ALGORITHM}]}

    def claims(self, **own: Any) -> dict[str, Any]:
        """The claims of an ID-JAG (draft-ietf-oauth-identity-assertion-authz-grant §3.1).

        `own` adds at least the audience, the client and the subject.
        """
        now = values.now() // 1000
        return {"iss": self.name, "jti": secrets.token_urlsafe(12), "iat": now, "exp": now + _LIFE, **own}

    def sign(self, claims: dict[str, Any]) -> str:
        """The claims as a compact JWS of type ID-JAG."""
        return jwt.encode(claims, self._key, ALGORITHM, headers={"kid": self._kid, "typ": ID_JAG_TYPE})
