"""Public keys as DIDs write them: base58 with a prefix that says which curve (Multikey, did:key v0.7 §2).

Ed25519 and P-256 are read; a JWK comes out, so that one reader of keys judges all of them.
"""

from base64 import urlsafe_b64encode
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey

_BITCOIN: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VALUES: Final = {digit: value for value, digit in enumerate(_BITCOIN)}
_LONGEST: Final = 128
_ED25519, _P256 = b"\xed\x01", b"\x80\x24"


def jwk_of_did_key(did: str) -> dict[str, Any] | None:
    """The JWK that a did:key is made of; None for other methods, other curves and what decodes to no key."""
    return jwk(did.removeprefix("did:key:")) if did.startswith("did:key:") else None


def jwk(multikey: str) -> dict[str, Any] | None:
    """The JWK of a multikey, `z` and base58; None for one that is none."""
    octets = _base58(multikey[1:]) if multikey.startswith("z") else b""
    if octets.startswith(_ED25519) and len(octets) == 34:
        return {"kty": "OKP", "crv": "Ed25519", "x": _base64(octets[2:])}
    if octets.startswith(_P256) and len(octets) == 35:
        return _p256(octets[2:])
    return None


def encode(prefix: bytes, key: bytes) -> str:
    """The multikey of a raw public key."""
    octets = prefix + key
    number, digits = int.from_bytes(octets), ""
    while number:
        number, digit = divmod(number, 58)
        digits = _BITCOIN[digit] + digits
    return f"z{'1' * (len(octets) - len(octets.lstrip(bytes(1))))}{digits}"


def _base58(text: str) -> bytes:
    if not 0 < len(text) <= _LONGEST or any(digit not in _VALUES for digit in text):
        return b""
    number = 0
    for digit in text:
        number = number * 58 + _VALUES[digit]
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)


def _p256(point: bytes) -> dict[str, Any] | None:
    try:
        key = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point)
    except (ValueError, UnsupportedAlgorithm):
        return None
    numbers = key.public_numbers()
    x, y = (_base64(part.to_bytes(32)) for part in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y}


def _base64(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()
