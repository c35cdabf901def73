"""Authorization-server and protected-resource metadata (RFC 8414, RFC 9728, OpenID Discovery).

auth.md's `agent_auth` block says where and how an agent registers without an account (docs/contract 4.2). One block
describes every service that runs. The endpoints of the first service are members of the block itself, where readers of
every generation of auth.md look. Each identity type repeats the endpoints that accept it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from negotiator.base.scopes import TOOLS_READ
from negotiator.discovery.site import RegistrationLimits
from negotiator.http.operation import ServiceDescription

ID_JAG_PROFILE: Final = "urn:ietf:params:oauth:grant-profile:id-jag"
ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
JWKS_PATH: Final = "/.well-known/jwks.json"
RESOURCE_PATH: Final = "/.well-known/oauth-protected-resource"
SERVER_PATH: Final = "/.well-known/oauth-authorization-server"
OPENID_PATH: Final = "/.well-known/openid-configuration"
AUTHORIZE_PATH: Final = "/oauth/authorize"
_ID_TOKEN_CLAIMS: Final = ("iss", "aud", "exp", "iat", "auth_time", "nonce", "at_hash")


@dataclass(frozen=True, slots=True)
class AuthorizationServerInfo:
    """What the authorization server supports, as its slices report it."""

    grants: tuple[str, ...]
    client_auth_methods: tuple[str, ...]
    client_algorithms: tuple[str, ...]
    assertion_types: tuple[str, ...]
    id_token_algorithms: tuple[str, ...]
    claims: tuple[str, ...]
    proof_algorithms: tuple[str, ...]
    events: tuple[str, ...]
    registrations: RegistrationLimits | None = None


def resource_paths(scopes: Iterable[str], mcp: str) -> tuple[str, ...]:
    """The paths that a client may name as a resource (RFC 8707, RFC 9728 §3): the whole service first, then its parts.

    `mcp` is the path of the MCP endpoint.
    """
    return ("", mcp, "/api/v1") if TOOLS_READ in set(scopes) else ("", mcp)


def protected_resource(
    service: ServiceDescription, path: str = "", *, proof_algorithms: Iterable[str] = ()
) -> dict[str, Any]:
    """The metadata of RFC 9728 §2 for the whole service, or for the part at `path`.

    For the whole service the resource equals the issuer and the base URL.
    """
    return {
        "resource": f"{service.base}{path}",
        "authorization_servers": [service.base],
        "jwks_uri": f"{service.base}{JWKS_PATH}",
        "scopes_supported": list(service.scopes),
        "bearer_methods_supported": ["header"],
        "dpop_signing_alg_values_supported": list(proof_algorithms),
        "resource_name": "Negotiator",
        "resource_documentation": f"{service.base}/auth.md",
    }


def authorization_server(service: ServiceDescription, authorization: AuthorizationServerInfo) -> dict[str, Any]:
    """The metadata of RFC 8414 §2, with the ID-JAG grant profile and auth.md's `agent_auth` block."""
    methods = list(authorization.client_auth_methods)
    proven = [method for method in methods if method != "none"]
    signing = list(authorization.client_algorithms)
    assertions = authorization.assertion_types
    document: dict[str, Any] = {
        "issuer": service.base,
        "authorization_endpoint": f"{service.base}{AUTHORIZE_PATH}",
        "token_endpoint": service.url("issue_token"),
        "jwks_uri": f"{service.base}{JWKS_PATH}",
        "scopes_supported": list(service.scopes),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "registration_endpoint": service.url("register_client"),
        "grant_types_supported": list(authorization.grants),
        "authorization_grant_profiles_supported": [ID_JAG_PROFILE] if assertions else None,
        "token_endpoint_auth_methods_supported": methods,
        "token_endpoint_auth_signing_alg_values_supported": signing,
        "dpop_signing_alg_values_supported": list(authorization.proof_algorithms),
        "revocation_endpoint": service.url("revoke_token"),
        "revocation_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_signing_alg_values_supported": signing,
        "introspection_endpoint": service.url("introspect_token"),
        "introspection_endpoint_auth_methods_supported": proven,
        "introspection_endpoint_auth_signing_alg_values_supported": signing,
        "service_documentation": f"{service.base}/auth.md",
        "op_policy_uri": f"{service.base}/privacy",
        "op_tos_uri": f"{service.base}/terms",
    }
    document["agent_auth"] = agent_auth(service, assertions, authorization.events, authorization.registrations)
    return {name: value for name, value in document.items() if value is not None}


def openid_configuration(service: ServiceDescription, authorization: AuthorizationServerInfo) -> dict[str, Any]:
    """The metadata of OpenID Discovery 1.0 §3."""
    return {
        **authorization_server(service, authorization),
        **({"userinfo_endpoint": told} if (told := service.url("get_userinfo")) else {}),
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": list(authorization.id_token_algorithms),
        "claim_types_supported": ["normal"],
        "claims_supported": [*_ID_TOKEN_CLAIMS, *authorization.claims],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }


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
