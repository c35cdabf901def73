"""The name of a public key that says nothing but the key (RFC 7638)."""

import hashlib
from base64 import urlsafe_b64encode
from typing import Any, Final

import orjson
from jwt import PyJWK
from jwt.algorithms import ECAlgorithm, OKPAlgorithm

_MEMBERS: Final = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x")}


def thumbprint(key: PyJWK) -> str:
    """SHA-256 over the key's required members, base64url."""
    algorithm = ECAlgorithm if key.key_type == "EC" else OKPAlgorithm
    jwk: dict[str, Any] = algorithm.to_jwk(key.key, as_dict=True)
    required = {name: jwk[name] for name in _MEMBERS[jwk["kty"]]}
    octets = hashlib.sha256(orjson.dumps(required, option=orjson.OPT_SORT_KEYS)).digest()
    return urlsafe_b64encode(octets).rstrip(b"=").decode()
