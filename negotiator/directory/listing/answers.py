"""Public answers: bytes put together from documents as they lie, tags, who may keep them how long (reference §2.4)."""

import hashlib
from collections.abc import Iterable, Mapping
from email.utils import formatdate
from typing import Any, Final

import orjson

from negotiator.caller import Caller
from negotiator.edge.endpoint import is_known
from negotiator.edge.operation import Answer, Call

_PUBLIC: Final = "public, max-age=60, stale-while-revalidate=300"
_PRIVATE: Final = "private, max-age=0, must-revalidate"


def headers(caller: Caller, tag: str, *, modified: int | None = None) -> dict[str, str]:
    """Tag and cache rules of a public answer; what came with a credential is not for shared caches."""
    said = {
        "etag": tag,
        "cache-control": _PUBLIC if caller.kind == "nobody" else _PRIVATE,
        "vary": "Accept, Accept-Encoding, Authorization",
    }
    if modified is not None:
        said["last-modified"] = formatdate(modified // 1000, usegmt=True)
    return said


def tag_of(*parts: object) -> str:
    """A weak tag of a list: it names what the list is made from, not its bytes."""
    return f'W/"{hashlib.blake2b(orjson.dumps([str(part) for part in parts]), digest_size=12).hexdigest()}"'


def unchanged(call: Call[Any], said: Mapping[str, str]) -> Answer | None:
    """304 before any work is done, when the client has what the tag names."""
    if is_known(call.headers, said["etag"], said.get("last-modified")):
        return Answer(None, 304, said)
    return None


def array(documents: Iterable[bytes]) -> bytes:
    """A JSON array of documents, none of them parsed."""
    return b"[" + b",".join(documents) + b"]"


def extended(document: bytes, members: Mapping[str, Any]) -> bytes:
    """A JSON object with more members at its end."""
    return document[:-1] + b"," + orjson.dumps(members)[1:]


def wrapped(items: bytes, rest: Mapping[str, Any]) -> bytes:
    """`{"items": …, …rest}`."""
    return b'{"items":' + items + b"," + orjson.dumps(rest)[1:]
