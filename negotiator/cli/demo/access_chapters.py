"""Chapters about access: discovery, anonymous and claimed agents, company sign-in, OAuth clients, revocation, audit."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from negotiator.agents.schemas import ID_JAG
from negotiator.base.scopes import ANONYMOUS, ASSISTANT, NEGOTIATIONS_READ
from negotiator.cli.demo.context import DemoChapter, DemoContext, JsonObject
from negotiator.cli.running_servers import command_sources
from negotiator.config import settings
from negotiator.discovery.authorization_metadata import RESOURCE_PATH, SERVER_PATH
from negotiator.negotiations.routes import NEGOTIATIONS_PATH
from negotiator.negotiations.tactic_routes import TACTICS_PATH
from negotiator.tokens.clients import JWT_BEARER


def _discover(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("An agent that knows nothing but the address requests its negotiations.")
    refused = journey.ask("GET", NEGOTIATIONS_PATH, show=("error",))
    journey.answered(refused, 401, "invalid_token")
    challenge = refused.headers.get("www-authenticate", "")
    check(RESOURCE_PATH in challenge, f"The refusal names {RESOURCE_PATH}")
    step("That document names the authorization server.")
    members = ("resource", "authorization_servers")
    resource = journey.answered(journey.ask("GET", RESOURCE_PATH, show=members), 200)
    step("The server's metadata says how agents get access.")
    members = ("issuer", "token_endpoint", "agent_auth")
    journey.metadata = journey.answered(journey.ask("GET", SERVER_PATH, show=members), 200)
    issuer = journey.metadata["issuer"]
    check(
        resource["resource"] == issuer and resource["authorization_servers"] == [issuer],
        "Resource and authorization server have the same name, byte for byte",
    )


def _anonymous_access(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("The agent registers with only a name.")
    body = {"agent_name": "demo walker", "identity_type": "anonymous"}
    register = journey.metadata["agent_auth"]["register_uri"]
    journey.anonymous_agent = journey.answered(journey.ask("POST", register, body=body), 201)
    token = journey.anonymous_agent["access_token"]
    check(
        journey.anonymous_agent["scopes"] == list(ANONYMOUS),
        "The token is ephemeral and grants the four anonymous scopes",
    )
    step("With that token it opens a negotiation.")
    issue = {"name": "price_per_seat", "type": "money", "direction": "lower"}
    body = {"title": "200 licence seats", "role": "buyer", "issues": [issue]}
    members = ("id", "title", "state", "revision")
    opened = journey.ask("POST", NEGOTIATIONS_PATH, body=body, token=token, show=members)
    journey.negotiation = journey.answered(opened, 201)
    step("It finds the negotiation in its list.")
    listed = journey.ask("GET", NEGOTIATIONS_PATH, token=token, show=())
    items = journey.answered(listed, 200)["items"]
    check(
        [item["id"] for item in items] == [journey.negotiation["id"]],
        "The list has this negotiation and none of another agent",
    )
    left = listed.headers.get("x-ratelimit-remaining", "")
    check(left.isdigit(), "Every answer says how many requests are left")
    step("It tries to store a tactic of its own.")
    effect = {"on": "claim", "size": "small", "evidence": "practice"}
    body = {"name": "Wait", "family": "time", "summary": "Say nothing.", "effect": effect}
    refused = journey.ask("POST", TACTICS_PATH, body=body, token=token)
    journey.answered(refused, 403, "insufficient_scope")
    check(
        'scope="memories:write"' in refused.headers["www-authenticate"],
        "Stored data needs an owner: the refusal names memories:write",
    )


DISCOVERY = DemoChapter(
    "discovery",
    "Discovery",
    "Nothing has to be configured: a refused request leads to everything an agent needs.",
    _discover,
)
ANONYMOUS_ACCESS = DemoChapter(
    "anonymous", "Anonymous access", "An agent can begin without an account or a person.", _anonymous_access
)


AGENT_CLIENT_ID = "demo-agent"


def demo_subject(journey: DemoContext) -> str:
    """The demo employee's `sub` at the identity provider."""
    return f"ada-{journey.run}"


def demo_email(journey: DemoContext, person: str) -> str:
    """An address that no other run uses."""
    return f"{person}-{journey.run}@demo.example"


def demo_assertion(journey: DemoContext, client_id: str) -> JsonObject:
    """The claims of an ID-JAG about the demo employee, for this client and this server."""
    return journey.provider.claims(
        aud=journey.metadata["issuer"],
        sub=demo_subject(journey),
        client_id=client_id,
        email=demo_email(journey, "ada"),
        email_verified=True,
        name="Ada",
    )


def _company_sign_in(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("The operator trusts the company's identity provider.")
    _trust(journey)
    step("The provider signs an assertion about Ada for their agent. Its claims:")
    claims = demo_assertion(journey, AGENT_CLIENT_ID)
    journey.narrator.data(claims)
    step("The agent registers with it.")
    register = journey.metadata["agent_auth"]["register_uri"]
    body = {
        "agent_name": "demo enterprise agent",
        "identity_type": "identity_assertion",
        "assertion_type": ID_JAG,
        "assertion": journey.provider.sign(claims),
    }
    journey.enterprise = journey.answered(journey.ask("POST", register, body=body), 201)
    journey.undo.append(("users", "disable", demo_email(journey, "ada")))
    check(
        journey.enterprise["identity"]["subject"] == claims["sub"],
        "The agent works for Ada from the start; their account was created on the way",
    )
    check(journey.enterprise["scopes"] == list(ASSISTANT), "It has the scopes that their company may grant")
    step("Sent a second time, the assertion is refused.")
    journey.answered(journey.ask("POST", register, body=body), 400, "replay_detected")
    check(True, "An assertion works once")
    step("An assertion for another service is refused too.")
    foreign_assertion = journey.provider.sign({**claims, "aud": "https://elsewhere.example", "jti": "other"})
    answer = journey.ask("POST", register, body={**body, "assertion": foreign_assertion})
    journey.answered(answer, 400, "invalid_audience")
    check(True, "An assertion works at one service")


def _claim(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    grace = demo_email(journey, "grace")
    step("Grace gets an account and creates a delegation code for the agent of the second chapter.")
    user = journey.operate("users", "add", grace)
    journey.undo.append(("users", "disable", grace))
    code = journey.operate("delegations", "create", "--user", grace, "--label", "demo")["code"]
    step("Grace gives the code to the agent, which sends it with its own token.")
    claim = journey.metadata["agent_auth"]["claim_uri"]
    old = journey.anonymous_agent["access_token"]
    answer = journey.ask("POST", claim, body={"claim_token": code}, token=old)
    journey.claimed = journey.answered(answer, 200)
    check(
        journey.claimed["client_id"] == journey.anonymous_agent["client_id"]
        and journey.claimed["identity"]["user_id"] == user["id"],
        "The same agent now works for Grace, with the scopes they approved",
    )
    step("The token from before the claim is tried once more.")
    refused_token = journey.ask("GET", NEGOTIATIONS_PATH, token=old, show=("error",))
    journey.answered(refused_token, 401, "invalid_token")
    check(True, "The old token is revoked")
    step("The new token works for an hour. The agent renews it with the refresh token of the claim.")
    form = {
        "grant_type": "refresh_token",
        "client_id": journey.claimed["client_id"],
        "refresh_token": journey.claimed["refresh_token"],
    }
    endpoint = journey.metadata["token_endpoint"]
    answer = journey.ask("POST", endpoint, form=form, show=("token_type", "expires_in", "scope"))
    journey.claimed = {**journey.claimed, **journey.answered(answer, 200)}
    check(
        journey.claimed["refresh_token"] != form["refresh_token"],
        "A refresh token works once and returns the next; Grace can revoke it at any time",
    )
    step("The negotiation that it opened before the claim:")
    new = journey.claimed["access_token"]
    listed = journey.ask("GET", NEGOTIATIONS_PATH, token=new, show=())
    ids = [item["id"] for item in journey.answered(listed, 200)["items"]]
    check(ids == [journey.negotiation["id"]], "It moved to Grace in the transaction of the claim")
    step("Another agent tries the same code.")
    body = {"agent_name": "demo latecomer", "identity_type": "anonymous"}
    register = journey.metadata["agent_auth"]["register_uri"]
    late = journey.answered(journey.ask("POST", register, body=body, show=("client_id",)), 201)
    again = journey.ask("POST", claim, body={"claim_token": code}, token=late["access_token"], show=("error",))
    journey.answered(again, 409, "claim_used")
    check(True, "A code works for one agent")


def _trust(journey: DemoContext) -> None:
    """Trust the provider: by discovery where loopback may be fetched, else by its key file."""
    provider = journey.provider
    loopback = journey.site.is_own or settings.load(command_sources()).allow_loopback_fetch
    if loopback:
        journey.operate(
            "issuers", "add", provider.name, "--discover", "--algorithm", "ES256", "--client-id", AGENT_CLIENT_ID
        )
    else:
        provider.name = f"https://idp-{journey.run}.demo.example"
        with TemporaryDirectory() as folder:
            file = Path(folder) / "jwks.json"
            file.write_text(json.dumps(provider.jwks()))
            journey.operate(
                *("issuers", "add", provider.name, "--jwks-file", str(file)),
                *("--algorithm", "ES256", "--client-id", AGENT_CLIENT_ID),
            )
    journey.undo.append(("issuers", "remove", provider.name))
    journey.check(True, f"{provider.name} is trusted, with ES256 only and for one client")


ENTERPRISE_ACCESS = DemoChapter(
    "enterprise",
    "Access by company sign-in",
    "With an ID-JAG, a company's sign-in vouches for its users' agents, without consent page or new password.",
    _company_sign_in,
)
CLAIMED_ACCESS = DemoChapter(
    "claim",
    "Claiming an agent",
    "A user binds an agent by a short code; the agent keeps everything it did before.",
    _claim,
)


_EXPECTED = frozenset(
    {
        "issuer.added",
        "agent.registered",
        "assertion.refused",
        "user.created",
        "user.linked",
        "delegation.created",
        "agent.claimed",
        "delegation.refused",
        "client.added",
        "token.issued",
        "token.revoked",
        "issuer.subject_revoked",
    }
)


def _clients(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("The operator adds a client that may read negotiations and nothing else.")
    journey.client = journey.operate("clients", "add", "demo client", "--scope", NEGOTIATIONS_READ)
    client_id = journey.client["client_id"]
    journey.undo.append(("clients", "remove", client_id))
    endpoint = journey.metadata["token_endpoint"]
    secret = (client_id, journey.client["client_secret"])
    step("It gets a token for itself.")
    answer = journey.ask("POST", endpoint, form={"grant_type": "client_credentials"}, secret=secret)
    own = journey.answered(answer, 200)
    check(own["scope"] == NEGOTIATIONS_READ, "The token has the scope of the client")
    step("With this token it tries to write.")
    body = {"title": "Not mine to open", "role": "buyer", "issues": [{"name": "price"}]}
    refused = journey.ask("POST", NEGOTIATIONS_PATH, body=body, token=own["access_token"])
    journey.answered(refused, 403, "insufficient_scope")
    check('scope="negotiations:write"' in refused.headers["www-authenticate"], "The refusal names the missing scope")
    step("The company's provider lets it act for Ada: an ID-JAG for this client.")
    form = {"grant_type": JWT_BEARER, "assertion": journey.provider.sign(demo_assertion(journey, client_id))}
    answer = journey.ask("POST", endpoint, form=form, secret=secret)
    journey.client_token = journey.answered(answer, 200)
    step("It introspects that token.")
    introspection = journey.metadata["introspection_endpoint"]
    form = {"token": journey.client_token["access_token"]}
    answer = journey.ask("POST", introspection, form=form, secret=secret)
    described = journey.answered(answer, 200)
    check(
        described["active"] and described["sub"] == journey.enterprise["identity"]["user_id"],
        "The token is Ada's, held by the client",
    )


def revoke_own_token(journey: DemoContext) -> None:
    """Grace's agent revokes its token, and the next request with it is refused."""
    journey.narrator.step("Grace's agent is done and revokes its own token, without a client secret.")
    token = journey.claimed["access_token"]
    form = {"token": token}
    journey.answered(journey.ask("POST", journey.metadata["revocation_endpoint"], form=form), 200)
    journey.check(_is_refused(journey, token), "The token is refused from the next request on, by every worker")


def _revoke(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    revoke_own_token(journey)
    step("Ada leaves the company: the operator revokes their access.")
    journey.operate("issuers", "revoke", journey.provider.name, demo_subject(journey))
    check(
        _is_refused(journey, journey.enterprise["access_token"])
        and _is_refused(journey, journey.client_token["access_token"]),
        "Their agent's token and the client's token for them are both revoked",
    )


def _audit_trail(journey: DemoContext) -> None:
    journey.narrator.step("The operator reads the audit trail.")
    events: list[dict[str, Any]] = journey.operate("audit", "--limit", "100")
    for event in events[:8]:
        journey.narrator.event(f"{event['at']}  {event['event']:22}  {event['subject']}")
    known = {journey.anonymous_agent["client_id"], journey.enterprise["client_id"], journey.client["client_id"]}
    journey.check(
        {event["event"] for event in events} >= _EXPECTED and {event["subject"] for event in events} >= known,
        "The audit trail has every step of this demo, newest first",
    )
    tokens = [
        held["access_token"]
        for held in (journey.anonymous_agent, journey.claimed, journey.enterprise, journey.client_token)
    ]
    secrets = [*tokens, journey.client["client_secret"]]
    journey.check(not any(secret in str(events) for secret in secrets), "It contains no secret")


def _is_refused(journey: DemoContext, token: str) -> bool:
    answer = journey.ask("GET", NEGOTIATIONS_PATH, token=token, show=("error",))
    return answer.status_code == 401


OAUTH_CLIENTS = DemoChapter(
    "clients",
    "OAuth clients",
    "Software with a client secret uses standard OAuth: RFC 6749, RFC 7523, RFC 7662.",
    _clients,
)
REVOCATION = DemoChapter(
    "revocation", "Revocation", "A grant can be revoked at once, with everything that depends on it.", _revoke
)
AUDIT_TRAIL = DemoChapter("audit", "The audit trail", "The operator can see what happened.", _audit_trail)
