"""auth.md's `agent_auth` block: where and how an agent registers without an account (docs/contract 4.2).

One block describes every service that runs. The endpoints of the first service are members of the block itself, where
readers of every generation of auth.md look. Each identity type repeats the endpoints that accept it.
"""

from functools import reduce
from typing import Any, Final

from negotiator.discovery.site import RegistrationLimits
from negotiator.http.operation import ServiceDescription

_EMAIL: Final = "verified_email"

AgentAuthBlock = dict[str, Any]


def agent_auth(
    service: ServiceDescription,
    assertion_types: tuple[str, ...],
    events: tuple[str, ...] = (),
    limits: RegistrationLimits | None = None,
) -> AgentAuthBlock | None:
    """The block; None where no agent can register. `assertion_types` and `events` are those of the assistant.

    `registrations_per_hour` and `registrations_per_day` of a method are our own members: how often one address may.
    """
    blocks: list[AgentAuthBlock] = []
    if service.find("register_agent"):
        anonymous = {"registrations_per_hour": limits.anonymous} if limits else {}
        blocks.append(_assistant(service, assertion_types, events, anonymous))
    if service.find("register_directory_agent"):
        own = AgentAuthBlock()
        if limits:
            own["registrations_per_hour"] = limits.directory
            own["registrations_per_day"] = limits.directory_daily
        blocks.append(_directory(service, own))
    if not blocks:
        return None
    return {"skill": f"{service.base}/auth.md", **reduce(_joined, blocks)}


def _assistant(
    service: ServiceDescription, assertion_types: tuple[str, ...], events: tuple[str, ...], limits: AgentAuthBlock
) -> AgentAuthBlock:
    credentials = ["access_token"]
    endpoints = _endpoints(service, "register_agent", "claim_agent", "revoke_token")
    method = {"credential_types_supported": credentials, **_register_and_claim(endpoints)}
    identity_types = ["anonymous", "identity_assertion"]
    service_auth = AgentAuthBlock()
    if identity := service.url("register_identity"):
        # The newer generation has endpoints of its own: its answers have other shapes (docs/contract 2.8).
        claim = service.url("request_claim")
        endpoints["identity_endpoint"] = identity
        endpoints["claim_endpoint"] = claim
        identity_types.append("service_auth")
        newer = {"register_uri": identity, "claim_uri": claim}
        service_auth = {"service_auth": {"credential_types_supported": credentials, **newer}}
    if report := service.url("report_event"):
        endpoints["events_endpoint"] = report
        endpoints["events_supported"] = list(events)
    return {
        **endpoints,
        "identity_types_supported": identity_types,
        "credential_types_supported": credentials,
        "anonymous": {**method, **limits},
        "identity_assertion": {"assertion_types_supported": list(assertion_types), **method},
        **service_auth,
    }


def _directory(service: ServiceDescription, limits: AgentAuthBlock) -> AgentAuthBlock:
    endpoints = _endpoints(service, "register_directory_agent", "verify_agent", "revoke_api_key")
    method = {"credential_types_supported": ["api_key"], **_register_and_claim(endpoints), **limits}
    return {
        **endpoints,
        "identity_types_supported": ["did", "agent_id", "email", "identity_assertion"],
        "credential_types_supported": ["api_key", "bearer_token", "jwt"],
        "did": {"methods_supported": ["key", "web"], **method},
        "agent_id": method,
        "email": method,
        "identity_assertion": {"assertion_types_supported": [_EMAIL], **method},
    }


def _endpoints(service: ServiceDescription, register: str, claim: str, revoke: str) -> AgentAuthBlock:
    """The URLs of these operations, under the member names of auth.md v0.1 and of the later generations."""
    operations = {
        "register_uri": register,
        "identity_endpoint": register,
        "claim_uri": claim,
        "claim_endpoint": claim,
        "revocation_uri": revoke,
    }
    urls = {member: service.url(name) for member, name in operations.items()}
    return {member: url for member, url in urls.items() if url}


def _register_and_claim(endpoints: AgentAuthBlock) -> AgentAuthBlock:
    """The endpoints that each identity type repeats."""
    return {name: endpoints[name] for name in ("register_uri", "claim_uri") if name in endpoints}


def _joined(first: AgentAuthBlock, other: AgentAuthBlock) -> AgentAuthBlock:
    """One block from two: lists become unions in their order; a member of both keeps the first block's value."""
    lists = {
        name: list(dict.fromkeys([*first[name], *other[name]]))
        for name in ("identity_types_supported", "credential_types_supported")
    }
    return {**other, **first, **lists}
