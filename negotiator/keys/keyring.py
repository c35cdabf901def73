"""The keyring: signs and verifies with the signing keys, publishes the public ones, and rotates those of a folder.

There are two families of keys: ES256, the default, and RS256, which every OpenID client can verify (OpenID Discovery
§3). Each key has a time-ordered id, and in a folder it is one PEM file of that name; `database_keys` has those of the
database. In each family the newest key is the *next* one, published ahead of its use; the one before it signs; older
ones only verify until the last token that they signed has expired. So after a rotation, which adds one key to each
family, every worker can verify every token.
"""

import asyncio
import fcntl
import os
import time
from abc import ABC, abstractmethod
from base64 import urlsafe_b64encode
from collections.abc import Callable, Container, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import jwt
import orjson
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from ulid_transform import bytes_to_ulid, ulid_to_bytes, ulid_to_timestamp

from negotiator.base.errors import NotFound, UnusableFileError
from negotiator.base.strict_json import read_jws
from negotiator.base.values import DAY, new_id, now
from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.telemetry import logger

log = logger(__name__)

ALGORITHM: Final = "ES256"
RS256: Final = "RS256"
_PREFIXES: Final = {ALGORITHM: "key", RS256: "rsa"}
ALGORITHMS: Final = tuple(_PREFIXES)
_RSA_BITS: Final = 2048
RETIRED_FOR: Final = 2 * DAY
"""How long a key verifies after it signed last: the longest life of a token, and a day more."""
_LOOK_EVERY: Final = 1.0
_ECDSA: Final = ec.ECDSA(SHA256())
_HALF: Final = 32
"""Bytes of each of the two numbers of a P-256 signature."""
_VERIFIERS: Final[dict[str, Callable[..., bool]]] = {
    ALGORITHM: ECAlgorithm(ECAlgorithm.SHA256, ec.SECP256R1).verify,
    RS256: RSAAlgorithm(RSAAlgorithm.SHA256).verify,
}


PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey = ec.EllipticCurvePublicKey | rsa.RSAPublicKey


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One key pair for one algorithm; `made_at` in milliseconds comes from its id."""

    kid: str
    made_at: int
    algorithm: str
    private: PrivateKey
    verifying: PublicKey

    @property
    def public(self) -> dict[str, Any]:
        """The public JWK (RFC 7517), with `use`, `alg` and `kid`."""
        if isinstance(self.verifying, rsa.RSAPublicKey):
            jwk = RSAAlgorithm.to_jwk(self.verifying, as_dict=True)
        else:
            jwk = ECAlgorithm.to_jwk(self.verifying, as_dict=True)
        # PyJWT adds `key_ops`, which should not be used together with `use` (RFC 7517 §4.3).
        jwk.pop("key_ops", None)
        return {**jwk, "use": "sig", "alg": self.algorithm, "kid": self.kid}

    def sign(self, claims: dict[str, Any], typ: str) -> str:
        """A compact JWS over the claims, with this explicit type (RFC 8725 §3.11)."""
        if not isinstance(self.private, ec.EllipticCurvePrivateKey):
            headers = {"kid": self.kid, "typ": typ}
            return jwt.encode(claims, self.private, self.algorithm, headers=headers)
        signed = b"%s.%s" % (_es256_header(self.kid, typ), _base64url(orjson.dumps(claims)))
        signature = raw_signature(self.private.sign(signed, _ECDSA))
        return (b"%s.%s" % (signed, _base64url(signature))).decode()


class UnusableKeyError(UnusableFileError):
    """A stored key cannot be used as the kind of key that its name says; the message is one sentence that names it."""


class Keyring(ABC):
    """The signing keys of this process; a subclass says where they are stored."""

    def __init__(self) -> None:
        self.loaded: list[SigningKey] = []
        """The keys as they were last read: another list after each change."""
        self._families: dict[str, list[SigningKey]] = {}

    @abstractmethod
    def all(self) -> list[SigningKey]:
        """All keys: ES256 first, in each family by age: the retired ones, the current one, the next one."""

    @abstractmethod
    def find(self, kid: str) -> SigningKey | None:
        """The key of this id; None only when no key of this id may sign."""

    @abstractmethod
    async def watch(self) -> None:
        """Notice what other processes change, until cancelled."""

    async def start(self) -> None:
        """Load the keys."""
        self.all()

    async def freshen(self) -> None:
        """Load what other processes changed, if that may have been missed."""
        self.all()

    @property
    def fault(self) -> str:
        """Why the stored keys cannot be used while the loaded ones are; empty when they can."""
        return ""

    @property
    def current(self) -> SigningKey:
        """The current ES256 key."""
        return self.signing(ALGORITHM)

    def signing(self, algorithm: str) -> SigningKey:
        """The current key of this algorithm."""
        return self.family(algorithm)[-2]

    def family(self, algorithm: str) -> list[SigningKey]:
        """The keys of this algorithm, oldest first: retired ones, the current one, the next one."""
        self.all()
        return self._families[algorithm]

    def sign(self, claims: dict[str, Any], typ: str, *, algorithm: str = ALGORITHM) -> str:
        """A compact JWS over the claims by the current key of this algorithm."""
        return self.signing(algorithm).sign(claims, typ)

    def verify(
        self, text: str, typ: str, *, longest: int, algorithms: Container[str] = ALGORITHMS
    ) -> dict[str, Any] | None:
        """The claims of a compact JWS of this type that one of these keys signed; None for any other text.

        The claims are authentic; the caller checks their times and audience.
        """
        try:
            unverified = read_jws(text, longest=longest)
        except ValueError:
            return None
        header = unverified.unverified_header
        kid, algorithm = header.get("kid"), header.get("alg")
        key = self.find(kid) if isinstance(kid, str) else None
        if key is None or header.get("typ") != typ:
            return None
        if algorithm != key.algorithm or key.algorithm not in algorithms:
            return None
        signed = _VERIFIERS[key.algorithm](unverified.signing_input, key.verifying, unverified.signature)
        return unverified.unverified_claims if signed else None

    def is_retired(self, kid: str) -> bool:
        """Whether this key signs no more; `NotFound` when there is no such key."""
        if all(key.kid != kid for key in self.all()):
            raise NotFound(f"There is no signing key {kid}.")
        return all(kid not in (family[-2].kid, family[-1].kid) for family in self._families.values())

    def jwks(self) -> dict[str, Any]:
        """The public key set (RFC 7517 §5)."""
        return {"keys": [key.public for key in self.all()]}

    def _use(self, keys: list[SigningKey]) -> None:
        if keys != self.loaded:
            self.loaded, self._families = keys, families(keys)


class FolderKeyring(Keyring):
    """The keys of one folder; notices within a second when another process changes the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._seen: list[Path] = []
        self._faults = FaultLog("a new key cannot be read; the keys that are loaded stay in use")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            for algorithm in _PREFIXES:
                while len(_files(folder, algorithm)) < 2:
                    self._add(algorithm)
        self._load()

    def all(self) -> list[SigningKey]:
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self._look()
        return self.loaded

    def find(self, kid: str) -> SigningKey | None:
        """The key of this id; the folder is read again for an unknown id, since a rotation may have just happened."""
        found = next((key for key in self.all() if key.kid == kid), None)
        if found is None and self._look():
            found = next((key for key in self.loaded if key.kid == kid), None)
        return found

    async def watch(self) -> None:
        """Look each second also when no key is used: one may have been deleted."""
        while True:
            self._look()
            await asyncio.sleep(_LOOK_EVERY)

    def rotate(self) -> SigningKey:
        """Sign with the next keys from now on, add new next keys, and delete keys whose tokens have all expired."""
        with self._locked():
            self._load()
            for algorithm in _PREFIXES:
                keys = self._families[algorithm]
                for key, successor in zip(keys, keys[2:], strict=False):
                    if successor.made_at < now() - RETIRED_FOR:
                        (self._folder / f"{key.kid}.pem").unlink()
                self._add(algorithm)
            self._load()
        return self.current

    def remove(self, kid: str) -> None:
        """Delete the file of a key."""
        (self._folder / f"{kid}.pem").unlink()

    def _look(self) -> bool:
        """Load the keys again if the list of files changed; two changes can share one modification time."""
        self._looked = time.monotonic()
        try:
            listed = _listed(self._folder)
        except OSError as fault:
            # Out of descriptors, or the folder is unreachable for a moment: the loaded keys stay valid.
            log.warning("the folder of keys cannot be read", error=str(fault))
            return False
        if listed == self._seen:
            return False
        try:
            self._load()
        except (OSError, UnusableKeyError) as fault:
            self._faults.failed(str(fault))
            return False
        self._faults.worked()
        return True

    def _load(self) -> None:
        self._looked = time.monotonic()
        seen = _listed(self._folder)
        # A file never changes once written, and loading an RSA key takes as long as twenty requests.
        known = {key.kid: key for key in self.loaded}
        self._use([known.get(path.stem) or _read(path, is_checked=False) for path in seen])
        self._seen = seen

    def _add(self, algorithm: str) -> None:
        newest = max((path.stem for path in _files(self._folder, algorithm)), default="")
        _write(self._folder, new_key(algorithm, newest))

    @contextmanager
    def _locked(self) -> Generator[None]:
        with (self._folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def families(keys: Iterable[SigningKey]) -> dict[str, list[SigningKey]]:
    """The keys of each algorithm, in their order."""
    listed = list(keys)
    return {algorithm: [key for key in listed if key.algorithm == algorithm] for algorithm in _PREFIXES}


def new_key(algorithm: str, newest: str = "") -> SigningKey:
    """A new key of this algorithm with an id above `newest`, also after the clock was set back."""
    private: PrivateKey = (
        ec.generate_private_key(ec.SECP256R1())
        if algorithm == ALGORITHM
        else rsa.generate_private_key(65537, _RSA_BITS)
    )
    kid = new_id(_PREFIXES[algorithm])
    if kid <= newest:
        prefix, _, ulid = newest.partition("_")
        above = int.from_bytes(ulid_to_bytes(ulid.upper())) + (1 << 80)
        kid = f"{prefix}_{bytes_to_ulid(above.to_bytes(16)).lower()}"
    return named_key(kid, private, kid)


def named_key(kid: str, private: PrivateKeyTypes, place: object) -> SigningKey:
    """The signing key of this id; `UnusableKeyError` about `place` when it is of another kind than the id says."""
    prefix, _, made = kid.partition("_")
    made_at = ulid_to_timestamp(made.upper())
    if prefix == _PREFIXES[ALGORITHM] and isinstance(private, ec.EllipticCurvePrivateKey):
        return SigningKey(kid, made_at, ALGORITHM, private, private.public_key())
    if prefix == _PREFIXES[RS256] and isinstance(private, rsa.RSAPrivateKey):
        return SigningKey(kid, made_at, RS256, private, private.public_key())
    raise UnusableKeyError(f"{place} is not a key of the kind that its name says.")


def read_keys(folder: Path) -> list[SigningKey]:
    """The keys of a folder, each checked; `UnusableKeyError` when one cannot be used, or when too few are there."""
    keys = [_read(path, is_checked=True) for path in _listed(folder)]
    if any(len(family) < 2 for family in families(keys).values()):
        raise UnusableKeyError(f"{folder} has no signing keys of a server.")
    return keys


def _write(folder: Path, key: SigningKey) -> None:
    pem = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = folder / f"{key.kid}.pem"
    descriptor = os.open(path.with_suffix(".tmp"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())
    path.with_suffix(".tmp").rename(path)


def _files(folder: Path, algorithm: str) -> list[Path]:
    return sorted(folder.glob(f"{_PREFIXES[algorithm]}_*.pem"))


def _listed(folder: Path) -> list[Path]:
    return [path for algorithm in _PREFIXES for path in _files(folder, algorithm)]


def check_keys(folder: Path) -> None:
    """Raise `UnusableKeyError` unless every key file in the folder can be used."""
    for path in sorted(folder.glob("*.pem")):
        _read(path, is_checked=True)


def raw_signature(der: bytes) -> bytes:
    """A P-256 signature in the form of a JWS (RFC 7518 §3.4): two numbers of 32 bytes.

    `der` is the sequence of two integers that OpenSSL writes (RFC 3279 §2.2.3), each without leading zero bytes except
    one before a set highest bit.
    """
    end = 4 + der[3]
    return b"".join(number[-_HALF:].rjust(_HALF, b"\0") for number in (der[4:end], der[end + 2 :]))


@lru_cache(64)
def _es256_header(kid: str, typ: str) -> bytes:
    return _base64url(orjson.dumps({"alg": ALGORITHM, "kid": kid, "typ": typ}))


def _base64url(content: bytes) -> bytes:
    return urlsafe_b64encode(content).rstrip(b"=")


def _read(path: Path, *, is_checked: bool) -> SigningKey:
    """The key of a file of this server; the primes of an RSA key are tested, for 40 ms, only when it is checked."""
    try:
        private = load_pem_private_key(path.read_bytes(), None, unsafe_skip_rsa_key_validation=not is_checked)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UnusableKeyError(f"{path} is not a PEM private key without a password.") from None
    return named_key(path.stem, private, path)
