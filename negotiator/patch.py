"""JSON merge patch (RFC 7396)."""

from collections.abc import Mapping
from typing import Any, cast


def merged(target: object, patch: object) -> Any:
    """The target with the patch applied: objects merge, null removes, anything else replaces (RFC 7396 §2)."""
    if not isinstance(patch, Mapping):
        return patch
    changes = cast(Mapping[str, object], patch)
    result = dict(cast(Mapping[str, object], target)) if isinstance(target, Mapping) else {}
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result
