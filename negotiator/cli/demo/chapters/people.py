"""How an agent gets to work for somebody: by a company's word, or by a code from its user's hand."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from negotiator import settings
from negotiator.agents.schemas import ID_JAG
from negotiator.cli.demo.journey import Chapter, Journey, Json
from negotiator.scopes import ASSISTANT

AGENT = "demo-agent"


def subject(journey: Journey) -> str:
    """The demo's employee, by his `sub` at the identity provider."""
    return f"ada-{journey.run}"


def email(journey: Journey, person: str) -> str:
    """An address that no other run uses."""
    return f"{person}-{journey.run}@demo.example"


def assertion(journey: Journey, client_id: str) -> Json:
    """The claims of an ID-JAG about the demo's employee, for this client and this service."""
    return journey.provider.claims(
        aud=journey.metadata["issuer"],
        sub=subject(journey),
        client_id=client_id,
        email=email(journey, "ada"),
        email_verified=True,
        name="Ada",
    )


def _by_the_company(journey: Journey) -> None:
    step, check = journey.narrator.step, journey.check
    step("The operator decides to believe the company's identity provider.")
    _trust(journey)
    step("The provider signs an assertion about Ada for her agent. Its claims:")
    claims = assertion(journey, AGENT)
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
    journey.tidy.append(("users", "disable", email(journey, "ada")))
    check(
        journey.enterprise["identity"]["subject"] == claims["sub"],
        "The agent is Ada's from its first moment; her account was made just in time",
    )
    check(journey.enterprise["scopes"] == list(ASSISTANT), "It has what her company may grant")
    step("Whoever overheard the assertion and sends it again gets nothing.")
    journey.answered(journey.ask("POST", register, body=body), 400, "replay_detected")
    check(True, "An assertion is good for one use")
    step("Nor does one that was made for another service.")
    strange = journey.provider.sign({**claims, "aud": "https://elsewhere.example", "jti": "other"})
    answer = journey.ask("POST", register, body={**body, "assertion": strange})
    journey.answered(answer, 400, "invalid_audience")
    check(True, "An assertion is good for one service")


def _by_the_user(journey: Journey) -> None:
    step, check = journey.narrator.step, journey.check
    grace = email(journey, "grace")
    step("Grace gets an account, and makes a delegation code for the agent of the second chapter.")
    user = journey.operate("users", "add", grace)
    journey.tidy.append(("users", "disable", grace))
    code = journey.operate("delegations", "create", "--user", grace, "--label", "demo")["code"]
    step("She shows it the code; it sends the code together with its own token.")
    claim = journey.metadata["agent_auth"]["claim_uri"]
    old = journey.walker["access_token"]
    answer = journey.ask("POST", claim, body={"claim_token": code}, token=old)
    journey.claimed = journey.answered(answer, 200)
    check(
        journey.claimed["client_id"] == journey.walker["client_id"]
        and journey.claimed["identity"]["user_id"] == user["id"],
        "The same agent now works for Grace, with the scopes she approved",
    )
    step("The token from before the claim is tried once more.")
    dead = journey.ask("GET", "/api/negotiations", token=old, show=("error",))
    journey.answered(dead, 401, "invalid_token")
    check(True, "The old token is dead: whoever saw it inherits nothing")
    step(
        "The new token lives an hour. The agent renews it by itself, with no secret but what the claim answered."
    )
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
        "A refresh token is good for one use and answers the next; Grace can end it at any moment",
    )
    step("And the negotiation it opened while it was nobody's?")
    new = journey.claimed["access_token"]
    listed = journey.ask("GET", "/api/negotiations", token=new, show=())
    ids = [item["id"] for item in journey.answered(listed, 200)["items"]]
    check(ids == [journey.negotiation["id"]], "It moved to Grace in the claim's own transaction")
    step("Another agent tries the same code.")
    body = {"agent_name": "demo latecomer", "identity_type": "anonymous"}
    register = journey.metadata["agent_auth"]["register_uri"]
    late = journey.answered(journey.ask("POST", register, body=body, show=("client_id",)), 201)
    again = journey.ask(
        "POST", claim, body={"claim_token": code}, token=late["access_token"], show=("error",)
    )
    journey.answered(again, 409, "claim_used")
    check(True, "A code is good for one agent")


def _trust(journey: Journey) -> None:
    """Trust the provider: by discovery where loopback may be fetched, else by its key file."""
    provider = journey.provider
    loopback = journey.site.is_own or settings.load().allow_loopback_fetch
    if loopback:
        journey.operate(
            "issuers",
            "add",
            provider.name,
            "--discover",
            "--algorithm",
            "ES256",
            "--client-id",
            AGENT,
        )
    else:
        provider.name = f"https://idp-{journey.run}.demo.example"
        with TemporaryDirectory() as folder:
            file = Path(folder) / "jwks.json"
            file.write_text(json.dumps(provider.jwks()))
            journey.operate(
                *("issuers", "add", provider.name, "--jwks-file", str(file)),
                *("--algorithm", "ES256", "--client-id", AGENT),
            )
    journey.tidy.append(("issuers", "remove", provider.name))
    journey.check(True, f"{provider.name} is trusted, with ES256 only and for one client")


COMPANY = Chapter(
    "enterprise",
    "Coming with a company's word",
    "An ID-JAG lets a company's own sign-in vouch for its people's agents: no consent page, no new password.",
    _by_the_company,
)
USER = Chapter(
    "claim",
    "Getting to work for somebody",
    "A person binds an agent by a short code, read out or pasted; nothing the agent did before is lost.",
    _by_the_user,
)
