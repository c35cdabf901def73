"""What a token is good for: resource indicators (RFC 8707), the `aud` they become, and the paths that it opens.

A resource is the base of the service, which opens everything, or a part of it such as `{base}/mcp`. Several are written
space-delimited; none means the whole service.
"""

from negotiator.errors import InvalidRequest
from negotiator.strict import is_array


def narrowed(granted: str, asked: str | None, *, base: str) -> str:
    """The resources of a new token: those asked for, else those granted; empty for the whole service.

    400 `invalid_target` for a resource beyond what was granted (RFC 8707 §2.2).
    """
    limit, wanted = set(granted.split()), set((asked or "").split())
    if limit and base not in limit and not wanted <= limit:
        raise InvalidRequest("The grant is for another resource.", error="invalid_target")
    found = wanted or limit
    return "" if base in found else " ".join(sorted(found))


def audience(resource: str, *, base: str) -> str | list[str]:
    """The `aud` claim of a token for these resources (RFC 9068 §2.2)."""
    named = resource.split() or [base]
    return named[0] if len(named) == 1 else named


def paths(claim: object, *, base: str) -> tuple[str, ...] | None:
    """The path prefixes that a token with this `aud` opens, () for all; None when it is for another service."""
    named = claim if is_array(claim) else [claim]
    if not named or not all(
        isinstance(each, str) and (each == base or each.startswith(f"{base}/")) for each in named
    ):
        return None
    found = {str(each).removeprefix(base) for each in named}
    return () if "" in found else tuple(sorted(found))
