"""What schemathesis cannot make up by itself: values that only the service hands out. Loaded by its command line."""

import itertools
import json
from typing import Any

import schemathesis

_SCHEMATHESIS: Any = schemathesis
_numbers = itertools.count()


@_SCHEMATHESIS.hook
def before_call(_context: object, case: Any, _kwargs: object) -> None:
    """A key names one request, any revision will do, and no cursor is made up where everything else fits."""
    if case.meta is not None and not case.meta.generation.mode.is_positive:
        return
    if case.headers and "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = f"key-{next(_numbers)}"
    if case.headers and "If-Match" in case.headers:
        case.headers["If-Match"] = "*"
    if case.query:
        case.query.pop("cursor", None)


@_SCHEMATHESIS.serializer("application/x-ndjson")
@_SCHEMATHESIS.serializer("application/secevent+jwt")
def as_text(_context: object, value: Any) -> bytes:
    """Text goes as it is; what is no text goes as JSON would."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()
