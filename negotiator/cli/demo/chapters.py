"""The chapters of the demo around the negotiation: access, memory and a call, tools for agents, company sign-in."""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2

from negotiator.agents.schemas import ID_JAG
from negotiator.base.scopes import ANONYMOUS, ASSISTANT
from negotiator.cli.demo.context import TIMEOUT, DemoChapter, DemoContext
from negotiator.cli.demo.server import DemoFailed
from negotiator.cli.running_servers import command_sources
from negotiator.config import settings
from negotiator.directory.schemas_listing import TOOLS_PATH
from negotiator.discovery.authorization_metadata import RESOURCE_PATH, SERVER_PATH
from negotiator.memory.schemas_memories import MEMORIES_PATH, MEMORY_SEARCH_PATH
from negotiator.memory.schemas_wins import BENCHMARKS_PATH, WINS_PATH
from negotiator.negotiations.routes import NEGOTIATIONS_PATH
from negotiator.negotiations.tactic_routes import TACTICS_PATH
from negotiator.teleprompter.session_view import SESSIONS_PATH

AGENT_CLIENT_ID: Final = "demo-agent"
_LESSON: Final = "Cloudwerk's account manager gives way on price in the last round, not before."
_QUESTION: Final = "When does the vendor give in on price?"
_WIN: Final = {
    "category": "saas",
    "kind": "renewal",
    "role": "buyer",
    "counterparty": "Cloudwerk",
    "currency": "EUR",
    "baseline": {"kind": "previous_price", "amount": "116000.00"},
    "achieved": {"amount": "94000.00"},
    "period_months": 12,
}
_TALK: Final = {
    "title": "CRM add-on",
    "role": "buyer",
    "category": "saas",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": 8_000, "max": 30_000, "step": 500}}],
    "target": {"package": {"price": 12_000}},
    "walk_away": {"package": {"price": 18_000}},
}
_CONSENT: Final = {"basis": "all_parties", "confirmed_by": "Grace"}


def _discover(journey: DemoContext) -> None:
    step, check = journey.printer.step, journey.check
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
    step, check = journey.printer.step, journey.check
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


def _claim(journey: DemoContext) -> None:
    step, check = journey.printer.step, journey.check
    grace = _email(journey, "grace")
    step("Grace gets an account and creates a delegation code for that agent.")
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


def _email(journey: DemoContext, person: str) -> str:
    """An address that no other run uses."""
    return f"{person}-{journey.run}@demo.example"


def _memory(journey: DemoContext) -> None:
    step, check = journey.printer.step, journey.check
    step("Grace's agent stores what it has learned.")
    body = {"text": _LESSON, "kind": "counterparty", "counterparty": "Cloudwerk"}
    members = ("id", "status", "trust", "source")
    stored = journey.post(MEMORIES_PATH, body, status=201, show=members)
    again = journey.post(MEMORIES_PATH, body, show=("id",))
    check(again["id"] == stored["id"], "Sent twice, it is stored once")
    step("A year later the agent searches for it in other words.")
    query = {"query": _QUESTION, "limit": 3}
    found = journey.post(MEMORY_SEARCH_PATH, query, show=("mode", "model"))
    for hit in found["items"]:
        journey.printer.event(f"{hit['score']:.3f}  {hit['memory']['text']}")
    check(found["items"][0]["memory"]["id"] == stored["id"], "It is found by its meaning")
    step("The renewal is recorded as a win, measured against the previous price.")
    members = ("savings_total", "savings_rate")
    win = journey.post(WINS_PATH, _WIN, status=201, show=members)
    check(win["savings_total"] == "22000.00", "The server computes the savings to the cent")
    marks = journey.get(f"{BENCHMARKS_PATH}?category=saas&role=buyer", show=("n_deals", "p50"))
    check(marks["n_deals"] >= 1, "Grace's benchmarks count it, those of other users do not")


def _live(journey: DemoContext) -> None:
    step, check = journey.printer.step, journey.check
    step("Before the call: its subject, and who consented to the analysis.")
    talk = journey.post(NEGOTIATIONS_PATH, _TALK, status=201, show=("id", "state"))
    opening = {"negotiation_id": talk["id"], "consent": _CONSENT}
    session = journey.post(SESSIONS_PATH, opening, status=201, show=("id", "state", "keep", "notice_text"))
    check(session["notice_text"] != "", "There is a notice to read to the others first")
    one = f"{SESSIONS_PATH}/{session['id']}"
    step("They object.")
    card = _utter(journey, one, "u1", "Honestly, that is way over our budget.")
    check(card["family"] == "budget", "The card answers the objection that was made")
    step("They name a figure beyond Grace's limit.")
    card = _utter(journey, one, "u2", "We could do it for twenty five thousand euros a year.")
    check(card["source"] == "plan", "A figure past the limit takes precedence over phrases")
    limits = ("18", "12000", "12,000")
    words = " ".join((card["title"], card["say"], card["why"]))
    check(not any(limit in words for limit in limits), "The card does not reveal a limit")
    offers = journey.get(f"{NEGOTIATIONS_PATH}/{talk['id']}/offers", show=())["items"]
    check(
        [offer["status"] for offer in offers] == ["unconfirmed"],
        "A heard offer stays unconfirmed until the user confirms it",
    )
    step("Someone reads out a card number.")
    _utter(journey, one, "u3", "Just charge it to 4111 1111 1111 1111.", shown=False)
    journey.post(f"{one}/end", {}, show=("state", "forget_at"))
    lines = journey.get(f"{one}/transcript", show=())["lines"]
    for line in lines:
        journey.printer.event(f"{line['speaker']}: {line['text']}")
    check("4111" not in str(lines), "The card number was removed before the transcript was stored")
    token = journey.claimed["access_token"]
    journey.ask("DELETE", one, token=token)
    journey.answered(journey.ask("GET", one, token=token, show=("error",)), 404, "not_found")
    check(True, "After deletion the call and its transcript are gone")


def _utter(journey: DemoContext, one: str, name: str, text: str, *, shown: bool = True) -> Any:
    """Send an utterance; returns the first card, or None unless a card is expected (`shown`)."""
    body = {"utterance_id": name, "speaker": "them", "text": text}
    answer = journey.post(f"{one}/utterances", body, show=("seq",))
    for card in answer["cues"]:
        journey.printer.event(f"{card['title']}: “{card['say']}” ({card['why']})")
    if shown:
        journey.check(answer["cues"] != [], f"“{text}” raises a card at once")
        return answer["cues"][0]
    return None


def _tools(journey: DemoContext) -> None:
    step, check = journey.printer.step, journey.check
    step("Anyone may search the directory for a tool by its purpose.")
    path = f"{TOOLS_PATH}?query=turn+a+podcast+into+text&limit=3"
    found = journey.answered(journey.ask("GET", path, show=()), 200)
    for tool in found["items"]:
        journey.printer.event(f"{tool['name']}: {tool['summary']}")
    names = " ".join(tool["summary"].lower() for tool in found["items"])
    check("speech" in names or "transcri" in names, "A purpose in plain words finds suitable tools")


def _over_mcp(journey: DemoContext) -> None:
    step, check = journey.printer.step, journey.check
    step("The official MCP client connects with the token that the agent already has.")
    listed, found = asyncio.run(_call_mcp(journey.site.url, journey.claimed["access_token"]))
    journey.printer.event(f"{len(listed)} tools: {', '.join(listed[:6])} …")
    check("next_move" in listed, "The tools are the operations of the API")
    stored = {item["id"] for item in found["items"]}
    journey.printer.event(f"list_negotiations: {len(stored)} found")
    check(journey.negotiation["id"] in stored, "MCP and HTTP show the same negotiations")


async def _call_mcp(base: str, token: str) -> tuple[list[str], dict[str, Any]]:
    # Imported here: the SDK is slow to load, and only this chapter needs its client.
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=TIMEOUT) as http,
        Client(streamable_http_client(f"{base}/mcp", http_client=http)) as client,
    ):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("list_negotiations", {"limit": 50})
    found = result.structured_content
    if result.is_error or found is None:
        raise DemoFailed("list_negotiations over MCP was refused.")
    return tools, found


def _company_sign_in(journey: DemoContext) -> None:
    step, check = journey.printer.step, journey.check
    step("The operator trusts the company's identity provider.")
    _trust(journey)
    step("The provider signs an assertion about Ada for their agent. Its claims:")
    subject = f"ada-{journey.run}"
    claims = journey.provider.claims(
        aud=journey.metadata["issuer"],
        sub=subject,
        client_id=AGENT_CLIENT_ID,
        email=_email(journey, "ada"),
        email_verified=True,
        name="Ada",
    )
    journey.printer.data(claims)
    step("The agent registers with it.")
    register = journey.metadata["agent_auth"]["register_uri"]
    body = {
        "agent_name": "demo enterprise agent",
        "identity_type": "identity_assertion",
        "assertion_type": ID_JAG,
        "assertion": journey.provider.sign(claims),
    }
    enterprise = journey.answered(journey.ask("POST", register, body=body), 201)
    journey.undo.append(("users", "disable", _email(journey, "ada")))
    check(
        enterprise["identity"]["subject"] == claims["sub"],
        "The agent works for Ada from the start; their account was created on the way",
    )
    check(enterprise["scopes"] == list(ASSISTANT), "It has the scopes that their company may grant")
    step("Sent a second time, the assertion is refused.")
    journey.answered(journey.ask("POST", register, body=body), 400, "replay_detected")
    check(True, "An assertion works once")
    step("An assertion for another service is refused too.")
    foreign_assertion = journey.provider.sign({**claims, "aud": "https://elsewhere.example", "jti": "other"})
    answer = journey.ask("POST", register, body={**body, "assertion": foreign_assertion})
    journey.answered(answer, 400, "invalid_audience")
    check(True, "An assertion works at one service")
    step("Ada leaves the company: the operator revokes their access.")
    journey.operate("issuers", "revoke", journey.provider.name, subject)
    check(_is_refused(journey, enterprise["access_token"]), "Their agent's token is revoked")
    step("The operator reads the audit trail.")
    events: list[dict[str, Any]] = journey.operate("audit", "--limit", "100")
    for event in events[:8]:
        journey.printer.event(f"{event['at']}  {event['event']:22}  {event['subject']}")
    check(events[0]["event"] == "issuer.subject_revoked", "It has every step, newest first")
    check("eyJ" not in str(events), "It contains no secret")


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


def leave(journey: DemoContext) -> None:
    """Grace's agent revokes its token; then it is told how it got in."""
    journey.printer.step("Grace's agent is done and revokes its own token, without a client secret.")
    token = journey.claimed["access_token"]
    form = {"token": token}
    journey.answered(journey.ask("POST", journey.metadata["revocation_endpoint"], form=form), 200)
    journey.check(_is_refused(journey, token), "The token is refused from the next request on, by every worker")
    journey.printer.line()
    journey.printer.line("How the agent got in")
    scopes = len(journey.anonymous_agent["scopes"])
    for line in (
        "It asked without a token. The refusal named the document that says how to get one.",
        f"It registered with only a name, for one hour and {scopes} scopes.",
        "Grace gave it a code that works once. It has worked for Grace since, and kept what it had begun.",
        "The car is bought: it gave its token back, and its next request was refused.",
    ):
        journey.printer.line(f"  · {line}")


def _is_refused(journey: DemoContext, token: str) -> bool:
    answer = journey.ask("GET", NEGOTIATIONS_PATH, token=token, show=("error",))
    return answer.status_code == 401


def _access(journey: DemoContext) -> None:
    _discover(journey)
    _anonymous_access(journey)
    _claim(journey)


def _memory_and_call(journey: DemoContext) -> None:
    _memory(journey)
    _live(journey)


def _tools_and_mcp(journey: DemoContext) -> None:
    _tools(journey)
    _over_mcp(journey)


ACCESS = DemoChapter(
    "access",
    "An agent gets in",
    "A refused request leads to everything an agent needs; a user binds it by a code, and it keeps what it did.",
    _access,
)
MEMORY_AND_CALL = DemoChapter(
    "memory",
    "Memory and a call",
    "Memories are found by their meaning; a card answers their sentence, and the transcript is deleted in time.",
    _memory_and_call,
)
TOOLS_AND_MCP = DemoChapter(
    "tools", "Tools and MCP", "Tools are searched by purpose; HTTP and MCP share operations.", _tools_and_mcp
)
COMPANY = DemoChapter(
    "company",
    "Company sign-in",
    "With an ID-JAG, a company's sign-in vouches for its users' agents, without consent page or new password.",
    _company_sign_in,
)
