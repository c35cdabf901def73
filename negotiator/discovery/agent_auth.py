"""auth.md's `agent_auth` block: where and how an agent gets in without an account (docs/contract 4.2).

One block for everything that runs here. The first service's doors are named at the top, where readers of every
generation of auth.md look; each way in names its own, so that nobody has to guess which door takes which identity.
"""

from typing import Any, Final

from negotiator.discovery.site import (
    CLAIM_PATH,
    ENROL_PATH,
    EVENTS_PATH,
    IDENTITY_CLAIM_PATH,
    IDENTITY_PATH,
    REGISTER_PATH,
)
from negotiator.http.operation import ServiceDescription

_VERIFY: Final = "/api/auth/verify"
_REVOKE: Final = "/api/auth/revoke"
_OAUTH_REVOKE: Final = "/oauth/revoke"
_EMAIL: Final = "verified_email"

AgentAuthBlock = dict[str, Any]


def agent_auth(
    service: ServiceDescription, assertion_types: tuple[str, ...], events: tuple[str, ...] = ()
) -> AgentAuthBlock | None:
    """The block; None where no agent can register. `assertion_types` and `events` are the assistant's."""
    blocks: list[AgentAuthBlock] = []
    if service.at(REGISTER_PATH, "POST"):
        blocks.append(_assistant(service, assertion_types, events))
    if service.at(ENROL_PATH, "POST"):
        blocks.append(_directory(service))
    if not blocks:
        return None
    first, *rest = blocks
    for other in rest:
        first = _joined(first, other)
    return {"skill": f"{service.base}/auth.md", **first}


def _assistant(
    service: ServiceDescription, assertion_types: tuple[str, ...], events: tuple[str, ...]
) -> AgentAuthBlock:
    credentials = ["access_token"]
    doors = _doors(service, REGISTER_PATH, CLAIM_PATH, _OAUTH_REVOKE)
    method = {"credential_types_supported": credentials, **_way(doors)}
    ways, asked = ["anonymous", "identity_assertion"], AgentAuthBlock()
    if service.at(IDENTITY_PATH, "POST"):
        # The newer generation has endpoints of its own, since its answers have other shapes (docs/contract 2.8).
        doors["identity_endpoint"] = f"{service.base}{IDENTITY_PATH}"
        doors["claim_endpoint"] = f"{service.base}{IDENTITY_CLAIM_PATH}"
        ways.append("service_auth")
        newer = {
            "register_uri": doors["identity_endpoint"],
            "claim_uri": doors["claim_endpoint"],
        }
        asked = {"service_auth": {"credential_types_supported": credentials, **newer}}
    if service.at(EVENTS_PATH, "POST"):
        doors["events_endpoint"] = f"{service.base}{EVENTS_PATH}"
        doors["events_supported"] = list(events)
    return {
        **doors,
        "identity_types_supported": ways,
        "credential_types_supported": credentials,
        "anonymous": method,
        "identity_assertion": {"assertion_types_supported": list(assertion_types), **method},
        **asked,
    }


def _directory(service: ServiceDescription) -> AgentAuthBlock:
    doors = _doors(service, ENROL_PATH, _VERIFY, _REVOKE)
    method = {"credential_types_supported": ["api_key"], **_way(doors)}
    return {
        **doors,
        "identity_types_supported": ["did", "agent_id", "email", "identity_assertion"],
        "credential_types_supported": ["api_key", "bearer_token", "jwt"],
        "did": {"methods_supported": ["key", "web"], **method},
        "agent_id": method,
        "email": method,
        "identity_assertion": {"assertion_types_supported": [_EMAIL], **method},
    }


def _doors(service: ServiceDescription, register: str, claim: str, revoke: str) -> AgentAuthBlock:
    """The addresses under the names of auth.md v0.1 and of the later generations, as far as they are there."""
    named = {
        "register_uri": register,
        "identity_endpoint": register,
        "claim_uri": claim,
        "claim_endpoint": claim,
        "revocation_uri": revoke,
    }
    return {
        name: f"{service.base}{path}" for name, path in named.items() if service.at(path, "POST")
    }


def _way(doors: AgentAuthBlock) -> AgentAuthBlock:
    """The doors that a single way in repeats."""
    return {name: doors[name] for name in ("register_uri", "claim_uri") if name in doors}


def _joined(first: AgentAuthBlock, other: AgentAuthBlock) -> AgentAuthBlock:
    """Both blocks in one; lists become unions in order, and what both have is said as the first says it."""
    lists = {
        name: list(dict.fromkeys([*first[name], *other[name]]))
        for name in ("identity_types_supported", "credential_types_supported")
    }
    return {**other, **first, **lists}
