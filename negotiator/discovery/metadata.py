"""Authorization-server and protected-resource metadata (RFC 8414, RFC 9728, OpenID Discovery, auth.md)."""

from dataclasses import dataclass
from typing import Any, Final

from negotiator.discovery.agent_auth import agent_auth
from negotiator.edge.operation import Service

ID_JAG_PROFILE: Final = "urn:ietf:params:oauth:grant-profile:id-jag"
ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
JWKS_PATH: Final = "/.well-known/jwks.json"
RESOURCE_PATH: Final = "/.well-known/oauth-protected-resource"
SERVER_PATH: Final = "/.well-known/oauth-authorization-server"
OPENID_PATH: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class Authorization:
    """What the authorization server can do, as its own slices say it."""

    grants: tuple[str, ...]
    client_auth_methods: tuple[str, ...]
    assertion_types: tuple[str, ...]


def protected_resource(service: Service) -> dict[str, Any]:
    """RFC 9728 §2. `resource`, issuer and base are one string (contract §0)."""
    return {
        "resource": service.base,
        "authorization_servers": [service.base],
        "jwks_uri": f"{service.base}{JWKS_PATH}",
        "scopes_supported": list(service.scopes),
        "bearer_methods_supported": ["header"],
        "resource_name": "Negotiator",
        "resource_documentation": f"{service.base}/auth.md",
    }


def authorization_server(service: Service, authorization: Authorization) -> dict[str, Any]:
    """RFC 8414 §2, with the ID-JAG grant profile and auth.md's `agent_auth` block."""
    methods = list(authorization.client_auth_methods)
    assertions = authorization.assertion_types
    document: dict[str, Any] = {
        "issuer": service.base,
        "token_endpoint": service.url("issue_token"),
        "jwks_uri": f"{service.base}{JWKS_PATH}",
        "scopes_supported": list(service.scopes),
        "response_types_supported": [],
        "grant_types_supported": list(authorization.grants),
        "authorization_grant_profiles_supported": [ID_JAG_PROFILE] if assertions else None,
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint": service.url("revoke_token"),
        "revocation_endpoint_auth_methods_supported": [*methods, "none"],
        "introspection_endpoint": service.url("introspect_token"),
        "introspection_endpoint_auth_methods_supported": methods,
        "service_documentation": f"{service.base}/auth.md",
    }
    document["agent_auth"] = agent_auth(service, assertions)
    return {name: value for name, value in document.items() if value is not None}


def openid_configuration(service: Service, authorization: Authorization) -> dict[str, Any]:
    """OpenID Discovery §3, as far as the service goes: no ID token is issued yet, so none is described."""
    return {
        **authorization_server(service, authorization),
        "subject_types_supported": ["public"],
    }
