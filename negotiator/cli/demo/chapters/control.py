"""How clients with a secret are served, how access ends, and what is left to read afterwards."""

from typing import Any

from negotiator.cli.demo.chapters.people import assertion, subject
from negotiator.cli.demo.journey import Chapter, Journey
from negotiator.tokens.clients import JWT_BEARER

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


def _clients(journey: Journey) -> None:
    step, check = journey.narrator.step, journey.check
    step("The operator adds a client that may read negotiations and nothing else.")
    journey.client = journey.operate(
        "clients", "add", "demo client", "--scope", "negotiations:read"
    )
    client_id = journey.client["client_id"]
    journey.tidy.append(("clients", "remove", client_id))
    endpoint = journey.metadata["token_endpoint"]
    secret = (client_id, journey.client["client_secret"])
    step("It gets a token for itself.")
    answer = journey.ask("POST", endpoint, form={"grant_type": "client_credentials"}, secret=secret)
    own = journey.answered(answer, 200)
    check(own["scope"] == "negotiations:read", "The token carries what the client was given")
    step("With it, it tries to write.")
    body = {"title": "Not mine to open", "role": "buyer", "issues": [{"name": "price"}]}
    refused = journey.ask("POST", "/api/negotiations", body=body, token=own["access_token"])
    journey.answered(refused, 403, "insufficient_scope")
    check(
        'scope="negotiations:write"' in refused.headers["www-authenticate"],
        "The refusal names the scope that is missing",
    )
    step("The company's provider lets it act for Ada: an ID-JAG made out to this client.")
    form = {
        "grant_type": JWT_BEARER,
        "assertion": journey.provider.sign(assertion(journey, client_id)),
    }
    answer = journey.ask("POST", endpoint, form=form, secret=secret)
    journey.client_token = journey.answered(answer, 200)
    step("It asks what that token is.")
    introspection = journey.metadata["introspection_endpoint"]
    form = {"token": journey.client_token["access_token"]}
    answer = journey.ask("POST", introspection, form=form, secret=secret)
    described = journey.answered(answer, 200)
    check(
        described["active"] and described["sub"] == journey.enterprise["identity"]["user_id"],
        "The token is Ada's, held by the client",
    )


def _end(journey: Journey) -> None:
    step, check = journey.narrator.step, journey.check
    step(
        "Grace's agent is done and ends its own token; it has no secret, holding the token is enough."
    )
    token = journey.claimed["access_token"]
    form = {"token": token}
    journey.answered(journey.ask("POST", journey.metadata["revocation_endpoint"], form=form), 200)
    check(_is_dead(journey, token), "The token is dead at the next request, on every worker")
    step("Ada leaves the company: the operator cuts her off.")
    journey.operate("issuers", "revoke", journey.provider.name, subject(journey))
    check(
        _is_dead(journey, journey.enterprise["access_token"])
        and _is_dead(journey, journey.client_token["access_token"]),
        "Her agent's token and the client's token for her died together",
    )


def _account(journey: Journey) -> None:
    journey.narrator.step("The operator reads the trail.")
    events: list[dict[str, Any]] = journey.operate("audit", "--limit", "100")
    for event in events[:8]:
        journey.narrator.event(f"{event['at']}  {event['event']:22}  {event['subject']}")
    known = {
        journey.walker["client_id"],
        journey.enterprise["client_id"],
        journey.client["client_id"],
    }
    journey.check(
        {event["event"] for event in events} >= _EXPECTED
        and {event["subject"] for event in events} >= known,
        "Every step of this journey is in the trail, newest first",
    )
    tokens = [
        held["access_token"]
        for held in (journey.walker, journey.claimed, journey.enterprise, journey.client_token)
    ]
    secrets = [*tokens, journey.client["client_secret"]]
    journey.check(
        not any(secret in str(events) for secret in secrets), "And not one secret is in it"
    )


def _is_dead(journey: Journey, token: str) -> bool:
    answer = journey.ask("GET", "/api/negotiations", token=token, show=("error",))
    return answer.status_code == 401


CLIENTS = Chapter(
    "clients",
    "The standard doors",
    "Software that has a secret uses OAuth as it is written: RFC 6749, RFC 7523, RFC 7662.",
    _clients,
)
END = Chapter(
    "revocation",
    "Ending it",
    "What was granted can be taken back, at once and for everything that stands on it.",
    _end,
)
ACCOUNT = Chapter(
    "audit",
    "The trail",
    "Whoever answers for the service can say what happened.",
    _account,
)
