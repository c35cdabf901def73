"""What schemathesis cannot make up by itself: values that only the service hands out. Loaded by its command line."""

import itertools
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
