"""Strict readers of JSON objects, base64url segments and compact JWSs.

All request bodies, tokens, assertions, proofs, key sets and metadata are read here. No other module decodes a JWT.
"""

import binascii
import json
import re
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, NoReturn, TypeGuard

MAX_DEPTH: Final = 20
MAX_TOKEN: Final = 8192
MAX_HEADER: Final = 2048
NO_OBJECT: Final = "not a JSON object"
_SURROGATE_OR_NUL_ESCAPE = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
_LEAST, _MOST = -(2**63), 2**64 - 1
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")
_TO_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object names a member twice")
    return members


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError("a number is out of range")
    return value


def _integer(text: str) -> int:
    value = int(text) if len(text) <= 20 else _MOST + 1
    if not _LEAST <= value <= _MOST:
        raise ValueError("an integer has more than 64 bits")
    return value


_decode = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer
).decode


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a parsed value is a JSON object."""
    return type(value) is dict


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a parsed value is a JSON array."""
    return type(value) is list


def read_object(data: bytes, depth: int = MAX_DEPTH) -> dict[str, Any]:
    """The JSON object in `data`, by RFC 8259 and I-JSON (RFC 7493).

    It is UTF-8 with at most `depth` levels, without repeated members, NaN, infinity, integers over 64 bits, lone
    surrogates or NUL (which PostgreSQL cannot store); else `ValueError`. The caller limits the size first.
    """
    text = data.decode()
    try:
        value: object = _decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not is_object(value):
        raise ValueError(NO_OBJECT)
    # The depth cannot exceed the number of opening brackets, so ordinary texts need no check.
    if text.count("{") + text.count("[") > depth:
        _check_depth(value, depth)
    if _SURROGATE_OR_NUL_ESCAPE.search(text):
        _check_texts(value)
    return value


def _check_texts(value: dict[str, Any]) -> None:
    """Raise for lone surrogates and NUL; only an escape can contain them, so other texts are not checked."""
    stack: list[Any] = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, str):
            current.encode()
            if "\0" in current:
                raise ValueError("a text has a NUL in it")
        elif is_object(current):
            stack.extend((*current, *current.values()))
        elif is_array(current):
            stack.extend(current)


def _check_depth(value: dict[str, Any], depth: int) -> None:
    level: list[Any] = [value]
    for _ in range(depth):
        level = [child for node in level for child in _children(node)]
        if not level:
            return
    raise ValueError("nested too deep")


def _children(node: Any) -> list[Any]:
    inside = node.values() if is_object(node) else node
    return [child for child in inside if is_object(child) or is_array(child)]


def read_segment(segment: bytes) -> bytes:
    """The octets of one base64url segment (RFC 7515 §2), canonical and without padding; else `ValueError`.

    Encoding the octets again must give the same segment, so that a content has only one encoding.
    """
    standard = segment.translate(_TO_STANDARD)
    octets = binascii.a2b_base64(standard + b"==="[: -len(segment) % 4])
    if binascii.b2a_base64(octets, newline=False).rstrip(b"=").translate(_TO_URL_SAFE) != segment:
        raise ValueError("not canonical base64url")
    return octets


@dataclass(frozen=True, slots=True)
class UnverifiedJws:
    """The parts of a compact JWS; nothing in it is verified."""

    unverified_header: dict[str, Any]
    unverified_claims: dict[str, Any]
    signing_input: bytes
    signature: bytes


def read_jws(text: str, *, longest: int = MAX_TOKEN) -> UnverifiedJws:
    """The parts of a compact JWS whose payload is a JSON object (RFC 7515 §7.1, RFC 7519 §7.2).

    At most `longest` characters, exactly three canonical segments, two strict objects, no `crit` (RFC 7515 §4.1.11);
    else `ValueError`. The signature is not checked.
    """
    if len(text) > longest:
        raise ValueError(f"{len(text)} characters are too many")
    signing_input, _, signature = text.encode("ascii").rpartition(b".")
    header, payload = signing_input.split(b".")
    if len(header) > MAX_HEADER:
        raise ValueError("its header is too long")
    unverified_header = read_object(read_segment(header))
    if "crit" in unverified_header:
        raise ValueError("it asks for an extension that is not understood")
    return UnverifiedJws(unverified_header, read_object(read_segment(payload)), signing_input, read_segment(signature))
