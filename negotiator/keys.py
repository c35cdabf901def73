"""The Keyring: loads signing keys from their folder, signs, rotates, publishes the public halves.

One PEM file a key, named by a time-ordered id. The newest key is the *next* one, published ahead; the one
before it signs; older ones only verify until the last token they signed has expired. So a rotation, which
adds one file, never makes a token that some worker cannot verify.
"""

import fcntl
import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import ECAlgorithm
from ulid_transform import ulid_to_timestamp

from negotiator.values import new_id, now

ALGORITHM: Final = "ES256"
_LONGEST_TOKEN: Final = 86_400_000
_LOOK_EVERY: Final = 1.0


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One key pair; `made_at` in milliseconds comes from its id."""

    kid: str
    made_at: int
    private: EllipticCurvePrivateKey
    verifying: EllipticCurvePublicKey

    @property
    def public(self) -> dict[str, Any]:
        """The public JWK (RFC 7517), with `use`, `alg` and `kid`."""
        jwk = ECAlgorithm.to_jwk(self.verifying, as_dict=True)
        return {**jwk, "use": "sig", "alg": ALGORITHM, "kid": self.kid}


class Keyring:
    """The keys of one folder; notices within a second what another process added."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            while len(self._files()) < 2:
                self._add()
        self._load()

    @property
    def current(self) -> SigningKey:
        """The key that signs."""
        return self.all()[-2]

    def all(self) -> list[SigningKey]:
        """Every key that may still verify something, oldest first: retired ones, the current one, the next one."""
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self._look()
        return self._keys

    def find(self, kid: str) -> SigningKey | None:
        """The key of this id; an unknown one is looked for at once, since it may have begun to sign just now."""
        found = next((key for key in self.all() if key.kid == kid), None)
        if found is None and self._look():
            found = next((key for key in self._keys if key.kid == kid), None)
        return found

    def sign(self, claims: Mapping[str, Any], typ: str) -> str:
        """A compact JWS over the claims, of this explicit type (RFC 8725 §3.11)."""
        key = self.current
        return jwt.encode(
            dict(claims), key.private, ALGORITHM, headers={"kid": key.kid, "typ": typ}
        )

    def jwks(self) -> dict[str, Any]:
        """The public key set (RFC 7517 §5)."""
        return {"keys": [key.public for key in self.all()]}

    def rotate(self) -> SigningKey:
        """Let the next key sign from now on and add a new next one; forget keys whose tokens have all expired."""
        with self._locked():
            self._load()
            for key, successor in zip(self._keys, self._keys[2:], strict=False):
                if successor.made_at < now() - _LONGEST_TOKEN:
                    (self._folder / f"{key.kid}.pem").unlink()
            self._add()
        self._load()
        return self.current

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("key_*.pem"))

    def _look(self) -> bool:
        """Load what changed; by the files' names, because two changes can share one modification time."""
        self._looked = time.monotonic()
        changed = self._files() != self._seen
        if changed:
            self._load()
        return changed

    def _load(self) -> None:
        self._looked = time.monotonic()
        self._seen = self._files()
        self._keys = [_read(path) for path in self._seen]

    def _add(self) -> None:
        private = generate_private_key(SECP256R1())
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path = self._folder / f"{new_id('key')}.pem"
        descriptor = os.open(path.with_suffix(".tmp"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        path.with_suffix(".tmp").rename(path)

    @contextmanager
    def _locked(self) -> Generator[None]:
        with (self._folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _read(path: Path) -> SigningKey:
    private = load_pem_private_key(path.read_bytes(), None)
    if not isinstance(private, EllipticCurvePrivateKey):
        raise TypeError(f"{path.name} is no elliptic-curve key")
    made_at = ulid_to_timestamp(path.stem.removeprefix("key_").upper())
    return SigningKey(path.stem, made_at, private, private.public_key())
