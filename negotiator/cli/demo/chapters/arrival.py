"""How an agent gets in by itself: it finds the door, walks up, and works."""

from negotiator.cli.demo.journey import Chapter, Journey
from negotiator.discovery.metadata import RESOURCE_PATH, SERVER_PATH
from negotiator.scopes import ANONYMOUS


def _discover(journey: Journey) -> None:
    step, check = journey.narrator.step, journey.check
    step("An agent that knows nothing but the address asks for its negotiations.")
    knock = journey.ask("GET", "/api/negotiations", show=("error",))
    journey.answered(knock, 401, "invalid_token")
    challenge = knock.headers.get("www-authenticate", "")
    check(RESOURCE_PATH in challenge, f"The refusal itself names {RESOURCE_PATH}")
    step("There it learns which authorization server to ask.")
    told = ("resource", "authorization_servers")
    resource = journey.answered(journey.ask("GET", RESOURCE_PATH, show=told), 200)
    step("And there, how agents get in.")
    told = ("issuer", "token_endpoint", "agent_auth")
    journey.metadata = journey.answered(journey.ask("GET", SERVER_PATH, show=told), 200)
    issuer = journey.metadata["issuer"]
    check(
        resource["resource"] == issuer and resource["authorization_servers"] == [issuer],
        "Resource and authorization server are one name, byte for byte",
    )


def _walk_up(journey: Journey) -> None:
    step, check = journey.narrator.step, journey.check
    step("It registers with nothing but a name.")
    body = {"agent_name": "demo walker", "identity_type": "anonymous"}
    register = journey.metadata["agent_auth"]["register_uri"]
    journey.walker = journey.answered(journey.ask("POST", register, body=body), 201)
    token = journey.walker["access_token"]
    check(
        journey.walker["scopes"] == list(ANONYMOUS),
        "The token is ephemeral and grants the four anonymous scopes",
    )
    step("With that token it opens a negotiation.")
    seats = {"name": "price_per_seat", "type": "money", "direction": "lower"}
    body = {"title": "200 licence seats", "role": "buyer", "issues": [seats]}
    told = ("id", "title", "state", "revision")
    opened = journey.ask("POST", "/api/negotiations", body=body, token=token, show=told)
    journey.negotiation = journey.answered(opened, 201)
    step("And finds it again in its list.")
    listed = journey.ask("GET", "/api/negotiations", token=token, show=())
    items = journey.answered(listed, 200)["items"]
    check(
        [item["id"] for item in items] == [journey.negotiation["id"]],
        "The list holds that negotiation and nobody else's",
    )
    left = listed.headers.get("x-ratelimit-remaining", "")
    check(left.isdigit(), "Every answer says how many requests are left")
    step("It would like to keep a tactic of its own, too.")
    effect = {"on": "claim", "size": "small", "evidence": "practice"}
    body = {"name": "Wait", "family": "time", "summary": "Say nothing.", "effect": effect}
    refused = journey.ask("POST", "/api/tactics", body=body, token=token)
    journey.answered(refused, 403, "insufficient_scope")
    check(
        'scope="memories:write"' in refused.headers["www-authenticate"],
        "What stays needs somebody it stays with: the refusal names memories:write",
    )


DISCOVERY = Chapter(
    "discovery",
    "Finding the door",
    "Nothing has to be configured: a refused request leads to all an agent needs.",
    _discover,
)
WALK_UP = Chapter(
    "anonymous",
    "Walking up",
    "No account and no human is needed to begin.",
    _walk_up,
)
