"""The pages written for agents: `/auth.md`, `/llms.txt`, `/robots.txt`."""

from typing import Final

from negotiator.discovery.metadata import ID_JAG, Authorization
from negotiator.edge.operation import Operation, Service
from negotiator.scopes import ANONYMOUS, ordered

_CRAWLERS: Final = (
    "*",
    "GPTBot",
    "OAI-SearchBot",
    "ChatGPT-User",
    "ClaudeBot",
    "Claude-Web",
    "anthropic-ai",
    "Google-Extended",
    "PerplexityBot",
    "Amazonbot",
    "Bytespider",
    "CCBot",
    "Applebot-Extended",
)


def auth_md(service: Service, authorization: Authorization) -> str:
    """How an agent gets in, step by step, with commands that work as they stand."""
    register, claim = service.url("register_agent"), service.url("claim_agent")
    scopes = "\n".join(f"| `{scope}` | {meaning} |" for scope, meaning in service.scopes.items())
    return f"""# auth.md

How an agent gets a bearer token at {service.base}, and what it may do with it. The machine-readable form is at
`{service.base}/.well-known/oauth-authorization-server`, in the block `agent_auth`.

## Register anonymously

    curl -s {register} -H 'Content-Type: application/json' \\
      -d '{{"agent_name": "my agent", "identity_type": "anonymous"}}'

The answer (201) carries `client_id`, `access_token`, `token_type`, `expires_in` and `scopes`. The token is
ephemeral and grants {", ".join(f"`{scope}`" for scope in ANONYMOUS)}. Send it as `Authorization: Bearer …`.

## Register with an identity assertion

    curl -s {register} -H 'Content-Type: application/json' \\
      -d '{{"agent_name": "my agent", "identity_type": "identity_assertion",
           "assertion_type": "{ID_JAG}", "assertion": "<SIGNED_JWT_ASSERTION>"}}'

The assertion is an ID-JAG: a JWT of `typ` `oauth-id-jag+jwt` from an identity provider that this service's operator
trusts, with `aud` exactly `{service.base}`, at most ten minutes old, used once. With the `assertion_type`
`verified_email`, the assertion is such a JWT about an e-mail address, or the address itself:
then its owner is asked by mail.

A client with a secret presents the same ID-JAG to `{service.url("issue_token")}` with the grant
`urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523).

## Bind the agent to a user

Your user makes a delegation code and shows it to you. Send it with the token you have:

    curl -s {claim} -H 'Content-Type: application/json' -H 'Authorization: Bearer <ACCESS_TOKEN>' \\
      -d '{{"claim_token": "<USER_DELEGATION_CODE>"}}'

The answer carries a new token with the scopes your user approved; the old one is dead.

## Refusals

Every refusal is JSON: `error` (a stable word), `error_description`, `request_id`. A 401 carries `WWW-Authenticate`;
a 403 with `insufficient_scope` names every scope the operation needs; a 429 says in `Retry-After` when to come back.
End a token at `{service.url("revoke_token")}` (RFC 7009).

## Scopes

| Scope | Meaning |
| :--- | :--- |
{scopes}
"""


def llms_txt(service: Service) -> str:
    """The short map of the service for language models."""
    operations = "\n".join(_line(service, operation) for operation in service.operations)
    return f"""# Negotiator

> A negotiation assistant that any agent can walk up to: register, get a token, open negotiations.

## Start here

- [auth.md]({service.base}/auth.md): how to get a token
- [OpenAPI]({service.base}/openapi.json): every operation with its schemas
- [API catalogue]({service.base}/.well-known/api-catalog): the same as a linkset

## Operations

{operations}
"""


def robots_txt(service: Service) -> str:
    """Everybody may read the public documents; the API itself is no page."""
    closed = "".join(f"Disallow: {path}\n" for path in ("/api/", "/oauth/", "/approve/"))
    rules = f"Content-Signal: search=yes, ai-input=yes, ai-train=no\n{closed}Allow: /\n"
    return "\n".join(f"User-agent: {crawler}\n{rules}" for crawler in _CRAWLERS)


def _line(service: Service, operation: Operation) -> str:
    needs = f" (needs {' '.join(ordered(operation.scopes))})" if operation.scopes else ""
    return f"- `{operation.method} {service.base}{operation.path}`: {operation.summary}{needs}"
