"""`/auth.md`: how an agent gets in, written for it to read, with commands that work as they stand."""

from dataclasses import asdict

from negotiator.discovery.authorization_metadata import ID_JAG
from negotiator.discovery.site import (
    CLAIM_PATH,
    ENROL_PATH,
    IDENTITY_PATH,
    REGISTER_PATH,
    SiteDescription,
)
from negotiator.scopes import ANONYMOUS


def auth_md(site: SiteDescription) -> str:
    """The page: a part for each way in that is open here, then what holds for all."""
    parts = [_HEAD.replace("{base}", site.base).replace("{name}", site.name)]
    if site.service.at(REGISTER_PATH, "POST"):
        parts.append(_ASSISTANT.replace("{anonymous}", ", ".join(f"`{s}`" for s in ANONYMOUS)))
    if site.service.at(CLAIM_PATH, "POST"):
        parts.append(_CLAIM)
    if site.service.at(IDENTITY_PATH, "POST"):
        parts.append(_IDENTITY)
    if site.service.at(ENROL_PATH, "POST"):
        parts.append(_DIRECTORY)
        if rates := site.rates:
            parts.append(_RATES.format(**asdict(rates)))
    scopes = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in site.service.scopes.items())
    parts.append(_REST + scopes + "\n")
    return "\n".join(parts).replace("{base}", site.base).replace("{id_jag}", ID_JAG)


_HEAD = """# auth.md

How an agent gets a token at {base}, the {name}, and what it may do with it. The machine-readable form is at
`{base}/.well-known/oauth-authorization-server`, in the block `agent_auth`.
"""
_ASSISTANT = """## Register anonymously

    curl -s {base}/api/agent/register -H 'Content-Type: application/json' \\
      -d '{"agent_name": "my agent", "identity_type": "anonymous"}'

The answer (201) carries `client_id`, `access_token`, `token_type`, `expires_in` and `scopes`. The token is
ephemeral and grants {anonymous}. Send it as `Authorization: Bearer …`.

## Register with an identity assertion

    curl -s {base}/api/agent/register -H 'Content-Type: application/json' \\
      -d '{"agent_name": "my agent", "identity_type": "identity_assertion",
           "assertion_type": "{id_jag}", "assertion": "<SIGNED_JWT_ASSERTION>"}'

The assertion is an ID-JAG: a JWT of `typ` `oauth-id-jag+jwt` from an identity provider that this service's operator
trusts, with `aud` exactly `{base}`, at most ten minutes old, used once. With the `assertion_type`
`verified_email`, the assertion is such a JWT about an e-mail address, or the address itself:
then its owner is asked by mail.

A client with a secret presents the same ID-JAG to `{base}/oauth/token` with the grant
`urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523).
"""
_CLAIM = """## Bind the agent to a user

Your user makes a delegation code and shows it to you. Send it with the token you have:

    curl -s {base}/api/agent/claim -H 'Content-Type: application/json' -H 'Authorization: Bearer <ACCESS_TOKEN>' \\
      -d '{"claim_token": "<USER_DELEGATION_CODE>"}'

The answer carries a new token with the scopes your user approved; the old one is dead. It also carries a
`refresh_token`. Before the token ends, exchange it; you need no secret, your `client_id` is enough:

    curl -s {base}/oauth/token -d grant_type=refresh_token -d 'client_id=<CLIENT_ID>' \\
      -d 'refresh_token=<REFRESH_TOKEN>'

The answer carries the next `access_token` and the next `refresh_token`. Each refresh token is good for one use: store
the new one before you use it, since a second use of an old one ends everything your user gave you. It lives 30 days
without use and 180 days in all, unless the operator chose otherwise; your user can end it at any moment.
"""
_IDENTITY = """## Get an identity first, and tokens for it

The same ways in, as the newer auth.md has them: the answer (200) is an identity, which you exchange for access tokens
as often as you need one, until it ends.

    curl -s {base}/api/agent/identity -H 'Content-Type: application/json' -d '{"type": "anonymous"}'

It carries `id`, `identity.assertion`, `identity.expires_at`, `scopes` and `claim` (`token`, `expires_at`, `url`).
With an ID-JAG:

    curl -s {base}/api/agent/identity -H 'Content-Type: application/json' \\
      -d '{"type": "identity_assertion", "assertion_type": "{id_jag}",
           "assertion": "<SIGNED_JWT_ASSERTION>"}'

If you know your user's address, ask him at once; you get no identity before he has said yes:

    curl -s {base}/api/agent/identity -H 'Content-Type: application/json' \\
      -d '{"type": "service_auth", "login_hint": "user@example.com"}'

Exchange the identity:

    curl -s {base}/oauth/token -d 'grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer' \\
      -d 'assertion=<IDENTITY_ASSERTION>'

To be claimed, ask for a page and show its address, `attempt.verification_uri`, to your user:

    curl -s {base}/api/agent/identity/claim -H 'Content-Type: application/json' \\
      -d '{"type": "service_auth", "claim_token": "<CLAIM_TOKEN>", "login_hint": "user@example.com"}'

He signs in there, chooses what you may do, and reads you a code. Send it; what you held before is dead:

    curl -s {base}/api/agent/identity/claim/complete -H 'Content-Type: application/json' \\
      -d '{"claim_token": "<CLAIM_TOKEN>", "user_code": "<USER_CODE>"}'

The answer carries a new `identity` with a `refresh_token`, whose `value` is good for one use:

    curl -s {base}/api/agent/identity -H 'Content-Type: application/json' \\
      -d '{"type": "refresh", "refresh_token": "<REFRESH_TOKEN>"}'

## Bind your tokens to a key

Send a `DPoP` header (RFC 9449) with any of these requests, and what you get is bound to its key: then send it as
`Authorization: DPoP …` with a fresh proof each time. Nobody can use it without the key, as a bearer token or at all.

## Report what happened to a user

An identity provider that is trusted here reports revocations as security event tokens (RFC 8417, RFC 8935) to
`{base}/api/agent/events`. They count at once.
"""
_DIRECTORY = """## Get a key for the tools directory

Reading the directory needs no credential. A key allows more requests and lets you save and submit:

    curl -s {base}/api/auth/register -H 'Content-Type: application/json' \\
      -d '{"agent_name": "my agent", "identity_type": "email", "identity_value": "agent@example.com",
           "requested_scopes": ["tools:read", "categories:read"]}'

The answer (201) carries `client_id`, `api_key`, `scopes` and `rate_limit`. The key is shown once; send it as
`Authorization: Bearer …`. `identity_type` is `did`, `agent_id` or `email`. An identity you prove
(`POST {base}/api/auth/challenge`, then `POST {base}/api/auth/verify`) is trusted more and allows more requests.

End a key at `POST {base}/api/auth/revoke` with `{"token": "<API_KEY>", "token_type_hint": "api_key"}`.
"""
_RATES = """| Who reads the directory | Requests per minute |
| :--- | :--- |
| no credential, per address | {anonymous} |
| an agent with a key | {unproven} |
| an agent that proved its identity | {proven} |
| an agent that the operator vetted | {vetted} |
"""
_REST = """## Limits

Every answer of an API path says in `X-RateLimit-Limit`, `-Remaining` and `-Reset` what is left. A request is charged
to its credential if that is valid, also when it lacks a scope; every other request to the client address. A path that
needs no credential never allows fewer requests with one than without.

## Refusals

Every refusal is JSON: `error` (a stable word), `error_description`, `request_id`. A 401 carries `WWW-Authenticate`;
a 403 with `insufficient_scope` names every scope the operation needs; a 429 says in `Retry-After` when to come back.
End a token at `{base}/oauth/revoke` (RFC 7009).

## Scopes

| Scope | Meaning |
| :--- | :--- |
"""
