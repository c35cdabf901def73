"""The manifest: every rule of the two seeds and of the wire contract, by id.

The id says where a rule stands: `assistant:5.2:…` is §5.2 of that seed, `contract:1.2:…` §1.2 of the contract, `ours:…`
a decision of ours where both are silent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from tests.contract.directory.account_rules import ACCOUNTS
from tests.contract.directory.catalogue_rules import CATALOGUE
from tests.contract.directory.submission_rules import WRITING
from tests.contract.discovery.discovery_rules import DISCOVERY
from tests.contract.mcp.mcp_rules import MCP
from tests.contract.teleprompter.teleprompter_rules import TELEPROMPTER

Test = TypeVar("Test", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule: where it stands, and what it asks of the service."""

    source: str
    behaviour: str


_SEED: Final = {
    "assistant:1:anonymous": "agents register anonymously for an ephemeral token",
    "assistant:1:assertion": "agents register with a signed identity assertion",
    "assistant:1:claim-later": "an agent binds an identity later with a delegation code",
    "assistant:1:one-identifier": "resource identifier and authorization server are the base",
    "assistant:1:documents": "the discovery documents answer GET",
    "assistant:2:result": "the registration result has five members of the given types",
    "assistant:4:json": "requests with a body carry application/json",
    "assistant:4:created": "anonymous registration answers 201",
    "assistant:4:variants": "identity_type selects the variant on one path",
    "assistant:4:claim-token": "claim requires the ephemeral token of registration",
    "assistant:4:list": "GET /api/negotiations answers the bearer of a token",
    "assistant:5.1:bearer": "every API request sends its token as Authorization: Bearer",
    "assistant:5.2:lifetime": "the ephemeral token lives as long as expires_in says",
    "assistant:5.2:anonymous-scopes": "the anonymous result lists the four scopes",
    "assistant:5.3:id-jag": "a signed ID-JAG registers an agent",
    "assistant:5.3:verified-email": "a verified-email claim registers an agent",
    "assistant:5.4:claim": "the bearer of an ephemeral token posts a delegation code",
    "assistant:5.5:types": "the identity types are anonymous and identity_assertion",
    "assistant:5:scope-openid": "openid and profile give identity and user metadata",
    "assistant:5:scopes": "the eight scopes exist, with their meaning, and are advertised",
    "assistant:5:scope-read": "negotiations:read opens reading and no more",
    "assistant:5:scope-write": "negotiations:write opens writing and no more",
    "assistant:8:expires-in": "expires_in is in seconds, per response",
    "assistant:9:no-version": "paths carry no version segment",
}
_GROUND: Final = {
    "contract:0:base": "the base comes from settings, never from a header",
    "contract:0:one-base": "issuer, resource and authorization_servers[0] are the base, byte for byte",
    "contract:0:json-object": "a top level that is no object is 400 invalid_request",
    "contract:0:json-strict": "duplicate keys, NaN, Infinity and other encodings are 400",
    "contract:0:json-depth": "more than 20 levels are 400",
    "contract:0:media-type": "a wrong media type is 415",
    "contract:0:size-entry": "registration and claim take 8 KiB",
    "contract:0:size-others": "other bodies take 64 KiB",
    "contract:0:size-reading": "the limit is enforced while reading, without a declared length",
    "contract:0:unknown-ignored": "unknown members are ignored in seed-defined bodies",
    "contract:0:unknown-refused": "unknown members are 422 elsewhere",
    "contract:0:refusal-shape": "every refusal has error, error_description and request_id",
    "contract:0:refusal-fields": "field errors carry JSON pointers",
    "contract:0:refusal-405": "a method that is not there is 405 with Allow",
    "contract:0:refusal-404": "somebody else's object is 404, as one that never was",
    "contract:0:never-500": "bad input is never a 500",
    "contract:0:no-echo": "a refusal never repeats a secret",
    "contract:0:challenge-none": "no credential: 401 with a challenge that names no error",
    "contract:0:challenge-token": "a bad credential: 401 with error=invalid_token",
    "contract:0:challenge-scope": "too little: 403 with every scope the operation needs",
    "contract:0:ids": "ids are a prefix and a lower-case ULID",
    "contract:0:time": "times are RFC 3339 in UTC with milliseconds and Z",
    "contract:0:list-shape": "lists are items and next_cursor, newest first",
    "contract:0:list-limit": "limit is 1 to 100 and 20 by default",
    "contract:0:cursor": "a foreign or altered cursor is 400 invalid_cursor",
    "contract:0:etag": "mutable resources carry revision and a strong ETag",
    "contract:0:if-match": "PATCH and DELETE honour If-Match with 412",
    "contract:0:if-none-match": "GET honours If-None-Match with 304",
    "contract:0:once": "the same Idempotency-Key and body give the first answer again",
    "contract:0:once-other": "the same Idempotency-Key with another body is 422",
    "contract:0:once-caller": "an Idempotency-Key belongs to its caller and lives 24 h",
    "contract:0:ownership": "what an agent owns is nobody else's",
    "contract:0:claim-moves": "claiming moves everything the agent owned to the user",
    "contract:0:limit-headers": "every response of an API path carries the five limit headers",
    "contract:0:limit-429": "an empty budget is 429 with Retry-After",
    "contract:0:references": "a reference to somebody else's negotiation is a 404, like one to none",
    "contract:0:limit-key": "limits are kept by the credential if it stands, else by client address",
    "contract:0:limit-scope": "a valid token without the scope is charged itself and always gets its 403",
    "contract:0:limit-never-less": "a key never gives less than anonymous",
    "contract:0:budgets": "every documented budget is the one that is measured",
    "contract:0:request-id": "X-Request-Id goes in and out",
    "contract:0:no-store": "what carries a secret is no-store",
    "contract:0:header-bounds": "header bytes and count are capped with 431",
    "contract:0:slow-requests": "slow requests end with 408",
    "contract:0:hsts": "HSTS when the base is https",
    "contract:0:cors": "CORS * without credentials for documents, public pages, operations and /mcp",
    "contract:0:no-cookies": "no operation reads a cookie",
    "contract:0:openapi": "/openapi.json is OpenAPI 3.1 of every operation, its scope and errors",
    "contract:0:health": "GET /api/health says ok, version, services and checks",
    "contract:0:examples": "every operation in OpenAPI has an example; /docs shows it",
    "contract:0:services": "NEGOTIATOR_SERVICES serves one service alone, in both directions",
    "contract:0:metrics": "GET /metrics, off the public port or behind a token",
}
_ENTRY: Final = {
    "contract:1.1:alias": "type is an alias of identity_type; both, differing, are 400",
    "contract:1.1:auth-md": "asked with type, the answer carries the members of auth.md v0.1",
    "contract:1.1:name": "agent_name has 1 to 100 characters, none of them control or bidi",
    "contract:1.1:created": "every variant answers 201, no-store",
    "contract:1.1:five": "anonymous answers exactly the five members",
    "contract:1.1:no-assertion": "an anonymous request with an assertion is 400",
    "contract:1.1:retention": "an unclaimed agent's data outlives its token",
    "contract:1.1:jag-answer": "an ID-JAG answers the five members and the identity",
    "contract:1.1:jag-policy": "scopes are what the issuer's policy allows, all eight by default",
    "contract:1.1:jag-scope": "an assertion's scope claim cuts the scopes",
    "contract:1.1:jag-no-refresh": "no refresh token is given",
    "contract:1.1:jag-user": "an unknown (iss, sub) makes a user, a known one finds him again",
    "contract:1.1:jag-link": "an e-mail of an existing account never links silently: 401",
    "contract:1.1:email-signed": "a signed verified_email from a configured verifier registers",
    "contract:1.1:email-domain": "the issuer's allowed e-mail domains are checked",
    "contract:1.1:email-bare": "a bare address answers pending and sends a mail",
    "contract:1.1:email-same": "the answer is the same whether or not the account exists",
    "contract:1.1:email-approve": "the owner approves by his password and gets a delegation code",
    "contract:1.1:invalid_request": "malformed bodies, fields, typ and JWTs are invalid_request",
    "contract:1.1:unsupported_assertion_type": "another assertion type is refused by name",
    "contract:1.1:invalid_signature": "key, algorithm or signature",
    "contract:1.1:issuer_not_enabled": "an issuer that is not trusted",
    "contract:1.1:invalid_audience": "another audience, or more than one",
    "contract:1.1:expired": "expired, not yet valid, too long-lived, before the watermark",
    "contract:1.1:replay_detected": "a jti is used once",
    "contract:1.1:replay-undone": "a refused registration spends nothing",
    "contract:1.1:invalid_client_id": "a client that is not on the issuer's list",
    "contract:1.1:missing_verified_email": "an e-mail that is not verified",
    "contract:1.1:login_required": "a stale login is 401 with max_age",
    "contract:1.1:access_denied": "an account that is closed is 403",
    "contract:1.1:temporarily_unavailable": "keys out of reach are 503 with Retry-After",
    "contract:1.1:rate_limit_exceeded": "registrations are budgeted per hour and address",
    "contract:1.2:code": "a code is XXXX-XXXX-XXXX over twenty consonants, shown once",
    "contract:1.2:life": "a code lives 600 s by default and 3600 s at most",
    "contract:1.2:spelling": "case, spaces and dashes do not matter",
    "contract:1.2:claimed": "claim answers five members, status and identity",
    "contract:1.2:console": "a user makes, sees and revokes codes and agents in the console",
    "contract:1.2:new-token": "the new token has the approved scopes; the old one is dead",
    "contract:1.2:bearer": "no bearer or a bad one is 401",
    "contract:1.2:invalid_claim_token": "an unknown or malformed code is 400",
    "contract:1.2:claim_expired": "an expired code is 410",
    "contract:1.2:claim_revoked": "a revoked code is 410",
    "contract:1.2:claim_used": "a used code is 409",
    "contract:1.2:refresh": "a claim's refresh token is redeemed at /oauth/token; rotated, reuse ends the family",
    "contract:1.2:refresh-life": "it lives 30 idle days, and its family 180 days at most",
    "contract:1.2:ended": "revoking the agent, its code or its user ends the family at once",
    "contract:1.2:already_claimed": "a bound agent is 409",
    "contract:1.2:too_many_attempts": "after five failures an agent is 429",
    "contract:1.2:global-budget": "wrong codes are budgeted by address, then over all agents; right ones pass",
    "contract:1.2:origin": "what an agent made before its claim shows its origin, and the claim is an event",
    "contract:1.2:one-wins": "of fifty agents redeeming one code at once one wins",
    "ours:claim-only-agents": "a client that is no registered agent cannot be claimed",
}
_TOKENS: Final = {
    "contract:1.3:jwt-bearer": "a client exchanges an ID-JAG for a token",
    "contract:1.3:invalid_grant": "everything wrong with the assertion is invalid_grant",
    "contract:1.3:client_credentials": "a client gets a token for itself",
    "contract:1.3:narrowed": "client_credentials grants what the client may have of what it requests",
    "contract:1.3:unverified-email": "an ID-JAG's unverified address is ignored at the token endpoint",
    "contract:1.3:token-errors": "the token endpoint speaks RFC 6749's errors",
    "contract:1.3:client-auth": "a client proves its secret, one way per request, else 401",
    "contract:1.3:resource": "resource is the base, its /mcp or /api/v1, else invalid_target",
    "contract:1.3:audience": "aud is the resource asked for, and the token opens that resource only",
    "contract:1.3:revoke": "RFC 7009: dead at once, 200 for unknown tokens too",
    "contract:1.3:introspect": "RFC 7662: a client's own live tokens, else only active: false",
    "contract:1.3:jwks": "jwks.json has public keys only, the current and the next",
    "contract:1.3:at-jwt": "access tokens are RFC 9068 JWTs that others verify offline",
    "contract:1.3:dead-at-once": "a token dies with its row, agent, client, user or issuer",
    "contract:1.3:dead-streams": "a revoked token opens no socket, and an open one writes nothing and is told nothing",
    "ours:one-spelling": "a signed token is read in one spelling only, ours included",
    "contract:1.3:namespaces": "user ids and client ids share no namespace",
    "contract:1.3:authorize": "code flow with PKCE, consent and iss",
    "contract:1.3:refresh": "refresh tokens rotate; reuse kills the family",
    "contract:1.3:register": "RFC 7591 registration and client id metadata documents",
    "contract:1.3:userinfo": "userinfo answers OpenID claims",
    "contract:1.3:dpop": "a token bound to a key is worth nothing without a proof of that key",
    "contract:1.3:dpop-assertion": "an ID-JAG with cnf wants the proof of its key",
    "contract:1.3:dpop-refresh": "refresh tokens of clients without a secret are bound to their key",
    "contract:1.3:private-key-jwt": "a client may prove itself by a key of its own, once for each assertion",
    "contract:1.3:dpop-code": "a code that was asked for with dpop_jkt wants the proof of that key",
    "contract:1.3:discovery": "both documents describe the code flow as it is",
}
_AUTH_MD: Final = {
    "authmd:g1:claim": "auth.md v0.1: a credential, a claim token, a user asked by mail",
    "authmd:g3:register": "the newer auth.md: an identity, exchanged for tokens",
    "authmd:g3:service-auth": "an agent that names its user gets an identity once he has approved",
    "authmd:g3:claim": "a claim is completed once, ends what was held before, and can be renewed",
}
_EVENTS: Final = {
    "contract:5:events": "a trusted issuer's report ends what its person's agents hold, on every worker at once",
    "contract:5:events-closed": "a closed account stays out until the issuer opens it",
    "contract:5:events-login": "after a lost credential only a later login counts",
    "contract:5:events-once": "an event counts once; one told again is taken and changes nothing",
    "contract:5:events-refused": "RFC 8935: an event that is not believed is refused by name",
}
_OPERATOR: Final = {
    "contract:2:environment": "settings come from NEGOTIATOR_ variables, .env or TOML",
    "contract:2:defaults": "the defaults are the contract's",
    "contract:2:unknown": "an unknown setting stops with one clear line and exit 2",
    "contract:2:ill-typed": "an ill-typed setting stops with one clear line and exit 2",
    "contract:2:made": "keys and pepper are made on first start, 0600",
    "contract:2:users": "users add, list, disable",
    "contract:2:first-user": "serve prints a one-time link that makes the first user",
    "contract:2:delegations": "delegations create, list, revoke",
    "contract:2:issuers": "issuers add, list, remove, revoke",
    "contract:2:clients": "clients add, list, remove",
    "contract:2:keys": "keys list, rotate",
    "contract:2:trail": "audit, migrate and openapi",
    "contract:2:json": "every command takes --json",
    "contract:2:refusal": "a refusal is one line and exit 1",
    "contract:2:misuse": "misuse is exit 2",
    "contract:2:beside": "commands work while the server runs",
}
_NEGOTIATIONS: Final = {
    "contract:3:open": "POST answers 201 with the negotiation",
    "contract:3:required": "title, role and one issue are required and enough",
    "contract:3:filters": "state, category and query filter the list",
    "contract:3:read": "GET answers one negotiation",
    "contract:3:patch": "PATCH is a JSON merge patch",
    "contract:3:delete": "DELETE erases it, 204",
}
_MEMORY: Final = {
    "assistant:1:memory": "a vector memory per user",
    "assistant:5:scope-memories-read": "memories:read queries memory",
    "assistant:5:scope-memories-write": "memories:write opens writing memories and no more",
    "contract:0:size-import": "an import takes 5 MiB",
    "contract:4:memory": "a memory has the members of the contract; source and trust are the server's",
    "contract:4:text": "a memory's text has at most 4,000 characters",
    "contract:4:kinds": "kinds and statuses are the contract's",
    "contract:4:search": "search takes query, filters, limit, mode and explain",
    "contract:4:history": "a memory's history answers what it was",
    "contract:4:export": "export is NDJSON of everything, import reads it back line by line",
    "contract:4:erase": "erasing everything needs the count",
    "contract:4:dedup": "the same text is kept once, nothing said is lost",
    "contract:4:claim": "claiming moves memories to the user, untrusted until reviewed",
    "contract:4:quarantine": "what speaks to a model is kept out of sight and shown to its owner",
}
_WORKING: Final = {
    "assistant:3:states": "the update operation changes a session's state",
    "assistant:5:scope-tactics": "ai:tactics runs leverage and suggestions",
    "assistant:1:plans": "battle plans and tactics are kept and generated",
    "contract:0:money": "money is a decimal string with a currency",
    "contract:0:limit-workers": "limits are exact across workers",
    "contract:2:directory": "directory submissions list, approve and reject",
    "contract:2:serve": "serve drains on SIGTERM",
    "contract:2:demo": "demo tells the whole journey",
}


def _source(name: str) -> str:
    document, section, _ = name.split(":") if name.count(":") == 2 else (name, "", "")
    return f"{document} §{section}" if section else "ours"


_PARTS: Final = (
    *(_SEED, _GROUND, _ENTRY, _TOKENS, DISCOVERY, _OPERATOR, _NEGOTIATIONS, _MEMORY),
    *(_AUTH_MD, _EVENTS, ACCOUNTS, CATALOGUE, WRITING, MCP, TELEPROMPTER, _WORKING),
)
REQUIREMENTS: Final = {
    name: Requirement(_source(name), behaviour)
    for part in _PARTS
    for name, behaviour in part.items()
}
CITED: Final[dict[str, set[str]]] = {}


def covers(*names: str) -> Callable[[Test], Test]:
    """Marks a test as the proof of these requirements."""

    def cite(test: Test) -> Test:
        for name in names:
            CITED.setdefault(name, set()).add(f"{test.__module__}.{test.__name__}")
        return test

    return cite
