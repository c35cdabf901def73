"""The chapters of the demo: access, a negotiation, memory and a call, tools for agents, company sign-in.

In the negotiation Grace buys a used car with advice, the example case `used_car`. The seller's lines are written here;
every figure and every sentence of advice comes from the server.
"""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2

from negotiator.agents.schemas import ID_JAG
from negotiator.base.scopes import ANONYMOUS, ASSISTANT
from negotiator.cli.demo.context import TIMEOUT, DemoChapter, DemoContext, DemoPrinter, JsonObject
from negotiator.cli.demo.examples import read_case
from negotiator.cli.demo.server import DemoFailed
from negotiator.directory.schemas_listing import TOOLS_PATH
from negotiator.discovery.authorization_metadata import RESOURCE_PATH, SERVER_PATH
from negotiator.memory.schemas_memories import MEMORIES_PATH, MEMORY_SEARCH_PATH
from negotiator.memory.schemas_wins import BENCHMARKS_PATH, WINS_PATH
from negotiator.negotiations.routes import NEGOTIATIONS_PATH
from negotiator.negotiations.tactic_routes import TACTICS_PATH
from negotiator.teleprompter.session_view import SESSIONS_PATH

_AGENT_CLIENT_ID: Final = "demo-agent"
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
_OF_A_LIMIT: Final = ("18", "12000", "12,000")


def _discover(journey: DemoContext) -> None:
    journey.step("An agent that knows nothing but the address requests its negotiations.")
    journey.get(NEGOTIATIONS_PATH, token="", show=("error",), status=401, error="invalid_token")
    journey.check(RESOURCE_PATH in journey.headers.get("www-authenticate", ""), f"The refusal names {RESOURCE_PATH}")
    journey.step("That document names the authorization server.")
    resource = journey.get(RESOURCE_PATH, token="", show=("resource", "authorization_servers"))
    journey.step("The server's metadata says how agents get access.")
    members = ("issuer", "token_endpoint", "agent_auth")
    journey.metadata = journey.get(SERVER_PATH, token="", show=members)
    issuer = journey.metadata["issuer"]
    journey.check(
        resource["resource"] == issuer and resource["authorization_servers"] == [issuer],
        "Resource and authorization server have the same name, byte for byte",
    )


def _register(journey: DemoContext, name: str, **more: Any) -> dict[str, Any]:
    body = {"agent_name": name, "identity_type": "anonymous"}
    return journey.post(journey.metadata["agent_auth"]["register_uri"], body, token="", status=201, **more)


def _anonymous_access(journey: DemoContext) -> None:
    journey.step("The agent registers with only a name.")
    journey.agent = _register(journey, "demo walker")
    journey.check(
        journey.agent["scopes"] == list(ANONYMOUS), "The token is ephemeral and grants the four anonymous scopes"
    )
    journey.step("With that token it opens a negotiation.")
    issue = {"name": "price_per_seat", "type": "money", "direction": "lower"}
    body = {"title": "200 licence seats", "role": "buyer", "issues": [issue]}
    journey.negotiation = journey.post(NEGOTIATIONS_PATH, body, status=201, show=("id", "title", "state", "revision"))
    journey.step("It finds the negotiation in its list.")
    journey.check(_listed(journey), "The list has this negotiation and none of another agent")
    left = journey.headers.get("x-ratelimit-remaining", "")
    journey.check(left.isdigit(), "Every answer says how many requests are left")
    journey.step("It tries to store a tactic of its own.")
    effect = {"on": "claim", "size": "small", "evidence": "practice"}
    body = {"name": "Wait", "family": "time", "summary": "Say nothing.", "effect": effect}
    journey.post(TACTICS_PATH, body, status=403, error="insufficient_scope")
    journey.check(
        'scope="memories:write"' in journey.headers["www-authenticate"],
        "Stored data needs an owner: the refusal names memories:write",
    )


def _listed(journey: DemoContext) -> bool:
    """Whether the agent's list has the negotiation that it opened, alone."""
    items = journey.get(NEGOTIATIONS_PATH, show=())["items"]
    return [item["id"] for item in items] == [journey.negotiation["id"]]


def _claim(journey: DemoContext) -> None:
    grace = journey.email("grace")
    journey.step("Grace gets an account and creates a delegation code for that agent.")
    user = journey.operate("users", "add", grace)
    journey.undo.append(("users", "disable", grace))
    code = journey.operate("delegations", "create", "--user", grace, "--label", "demo")["code"]
    journey.step("Grace gives the code to the agent, which sends it with its own token.")
    claim, anonymous = journey.metadata["agent_auth"]["claim_uri"], journey.agent
    journey.agent = anonymous | journey.post(claim, {"claim_token": code})
    journey.check(
        journey.agent["client_id"] == anonymous["client_id"] and journey.agent["identity"]["user_id"] == user["id"],
        "The same agent now works for Grace, with the scopes they approved",
    )
    journey.step("The token from before the claim is tried once more.")
    journey.check_refused(anonymous["access_token"], "The old token is revoked")
    journey.step("The new token works for an hour. The agent renews it with the refresh token of the claim.")
    used = journey.agent["refresh_token"]
    form = {"grant_type": "refresh_token", "client_id": journey.agent["client_id"], "refresh_token": used}
    renewed = journey.send_form("token_endpoint", form, show=("token_type", "expires_in", "scope"))
    journey.agent |= renewed
    journey.check(
        renewed["refresh_token"] != used,
        "A refresh token works once and returns the next; Grace can revoke it at any time",
    )
    journey.step("The negotiation that it opened before the claim:")
    journey.check(_listed(journey), "It moved to Grace in the transaction of the claim")
    journey.step("Another agent tries the same code.")
    late = _register(journey, "demo latecomer", show=("client_id",))
    body = {"claim_token": code}
    journey.post(claim, body, token=late["access_token"], show=("error",), status=409, error="claim_used")
    journey.check(True, "A code works for one agent")


def _memory(journey: DemoContext) -> None:
    journey.step("Grace's agent stores what it has learned.")
    lesson = "Cloudwerk's account manager gives way on price in the last round, not before."
    body = {"text": lesson, "kind": "counterparty", "counterparty": "Cloudwerk"}
    stored = journey.post(MEMORIES_PATH, body, status=201, show=("id", "status", "trust", "source"))
    journey.check(
        journey.post(MEMORIES_PATH, body, show=("id",))["id"] == stored["id"], "Sent twice, it is stored once"
    )
    journey.step("A year later the agent searches for it in other words.")
    query = {"query": "When does the vendor give in on price?", "limit": 3}
    found = journey.post(MEMORY_SEARCH_PATH, query, show=("mode", "model"))
    for hit in found["items"]:
        journey.printer.event(f"{hit['score']:.3f}  {hit['memory']['text']}")
    journey.check(found["items"][0]["memory"]["id"] == stored["id"], "It is found by its meaning")
    journey.step("The renewal is recorded as a win, measured against the previous price.")
    win = journey.post(WINS_PATH, _WIN, status=201, show=("savings_total", "savings_rate"))
    journey.check(win["savings_total"] == "22000.00", "The server computes the savings to the cent")
    marks = journey.get(f"{BENCHMARKS_PATH}?category=saas&role=buyer", show=("n_deals", "p50"))
    journey.check(marks["n_deals"] >= 1, "Grace's benchmarks count it, those of other users do not")


def _call(journey: DemoContext) -> None:
    journey.step("Before the call: its subject, and who consented to the analysis.")
    talk = journey.post(NEGOTIATIONS_PATH, _TALK, status=201, show=("id", "state"))
    opening = {"negotiation_id": talk["id"], "consent": {"basis": "all_parties", "confirmed_by": "Grace"}}
    session = journey.post(SESSIONS_PATH, opening, status=201, show=("id", "state", "keep", "notice_text"))
    journey.check(session["notice_text"] != "", "There is a notice to read to the others first")
    one = f"{SESSIONS_PATH}/{session['id']}"
    journey.step("They object.")
    card = _card(journey, one, "Honestly, that is way over our budget.")
    journey.check(card["family"] == "budget", "The card answers the objection that was made")
    journey.step("They name a figure beyond Grace's limit.")
    card = _card(journey, one, "We could do it for twenty five thousand euros a year.")
    journey.check(card["source"] == "plan", "A figure past the limit takes precedence over phrases")
    words = " ".join((card["title"], card["say"], card["why"]))
    journey.check(not any(limit in words for limit in _OF_A_LIMIT), "The card does not reveal a limit")
    offers = journey.get(f"{NEGOTIATIONS_PATH}/{talk['id']}/offers", show=())["items"]
    journey.check(
        [offer["status"] for offer in offers] == ["unconfirmed"],
        "A heard offer stays unconfirmed until the user confirms it",
    )
    journey.step("Someone reads out a card number.")
    _utter(journey, one, "Just charge it to 4111 1111 1111 1111.")
    journey.post(f"{one}/end", {}, show=("state", "forget_at"))
    lines = journey.get(f"{one}/transcript", show=())["lines"]
    for line in lines:
        journey.printer.event(f"{line['speaker']}: {line['text']}")
    journey.check("4111" not in str(lines), "The card number was removed before the transcript was stored")
    journey.call("DELETE", one, status=204)
    journey.get(one, show=("error",), status=404, error="not_found")
    journey.check(True, "After deletion the call and its transcript are gone")


def _utter(journey: DemoContext, one: str, text: str) -> list[dict[str, Any]]:
    """Send what the others said; returns the cards that it raised."""
    body = {"utterance_id": f"u{len(text)}", "speaker": "them", "text": text}
    cards: list[dict[str, Any]] = journey.post(f"{one}/utterances", body, show=("seq",))["cues"]
    for card in cards:
        journey.printer.event(f"{card['title']}: “{card['say']}” ({card['why']})")
    return cards


def _card(journey: DemoContext, one: str, text: str) -> dict[str, Any]:
    cards = _utter(journey, one, text)
    journey.check(cards != [], f"“{text}” raises a card at once")
    return cards[0]


def _tools(journey: DemoContext) -> None:
    journey.step("Anyone may search the directory for a tool by its purpose.")
    found = journey.get(f"{TOOLS_PATH}?query=turn+a+podcast+into+text&limit=3", token="", show=())
    for tool in found["items"]:
        journey.printer.event(f"{tool['name']}: {tool['summary']}")
    names = " ".join(tool["summary"].lower() for tool in found["items"])
    journey.check("speech" in names or "transcri" in names, "A purpose in plain words finds suitable tools")


def _over_mcp(journey: DemoContext) -> None:
    journey.step("The official MCP client connects with the token that the agent already has.")
    listed, found = asyncio.run(_call_mcp(journey.site.url, journey.agent["access_token"]))
    journey.printer.event(f"{len(listed)} tools: {', '.join(listed[:6])} …")
    journey.check("next_move" in listed, "The tools are the operations of the API")
    stored = {item["id"] for item in found["items"]}
    journey.printer.event(f"list_negotiations: {len(stored)} found")
    journey.check(journey.negotiation["id"] in stored, "MCP and HTTP show the same negotiations")


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
    provider, ada = journey.provider, journey.email("ada")
    journey.step("The operator trusts the company's identity provider.")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "jwks.json"
        file.write_text(json.dumps(provider.jwks()), "utf-8")
        journey.operate(
            *("issuers", "add", provider.name, "--jwks-file", str(file)),
            *("--algorithm", "ES256", "--client-id", _AGENT_CLIENT_ID),
        )
    journey.undo.append(("issuers", "remove", provider.name))
    journey.check(True, f"{provider.name} is trusted, with ES256 only and for one client")
    journey.step("The provider signs an assertion about Ada for their agent. Its claims:")
    claims = provider.claims(
        aud=journey.metadata["issuer"],
        sub=f"ada-{journey.run}",
        client_id=_AGENT_CLIENT_ID,
        email=ada,
        email_verified=True,
        name="Ada",
    )
    journey.printer.data(claims)
    journey.step("The agent registers with it.")
    register = journey.metadata["agent_auth"]["register_uri"]
    body = {
        "agent_name": "demo enterprise agent",
        "identity_type": "identity_assertion",
        "assertion_type": ID_JAG,
        "assertion": provider.sign(claims),
    }
    enterprise = journey.post(register, body, token="", status=201)
    journey.undo.append(("users", "disable", ada))
    journey.check(
        enterprise["identity"]["subject"] == claims["sub"],
        "The agent works for Ada from the start; their account was created on the way",
    )
    journey.check(enterprise["scopes"] == list(ASSISTANT), "It has the scopes that their company may grant")
    journey.step("Sent a second time, the assertion is refused.")
    journey.post(register, body, token="", status=400, error="replay_detected")
    journey.check(True, "An assertion works once")
    journey.step("An assertion for another service is refused too.")
    foreign = provider.sign({**claims, "aud": "https://elsewhere.example", "jti": "other"})
    journey.post(register, {**body, "assertion": foreign}, token="", status=400, error="invalid_audience")
    journey.check(True, "An assertion works at one service")
    journey.step("Ada leaves the company: the operator revokes their access.")
    journey.operate("issuers", "revoke", provider.name, claims["sub"])
    journey.check_refused(enterprise["access_token"], "Their agent's token is revoked")
    journey.step("The operator reads the audit trail.")
    events: list[dict[str, Any]] = journey.operate("audit", "--limit", "100")
    for event in events[:8]:
        journey.printer.event(f"{event['at']}  {event['event']:22}  {event['subject']}")
    journey.check(events[0]["event"] == "issuer.subject_revoked", "It has every step, newest first")
    journey.check("eyJ" not in str(events), "It contains no secret")


def leave(journey: DemoContext) -> None:
    """Grace's agent revokes its token; then it is told how it got in."""
    journey.step("Grace's agent is done and revokes its own token, without a client secret.")
    token = journey.agent["access_token"]
    journey.send_form("revocation_endpoint", {"token": token})
    journey.check_refused(token, "The token is refused from the next request on, by every worker")
    for line in (
        "",
        "How the agent got in",
        "  · It asked without a token. The refusal named the document that says how to get one.",
        f"  · It registered with only a name, for one hour and {len(ANONYMOUS)} scopes.",
        "  · Grace gave it a code that works once. It has worked for Grace since, and kept what it had begun.",
        "  · The car is bought: it gave its token back, and its next request was refused.",
    ):
        journey.printer.line(line)


ACCESS = DemoChapter(
    "access",
    "An agent gets in",
    "A refused request leads to everything an agent needs; a user binds it by a code, and it keeps what it did.",
    (_discover, _anonymous_access, _claim),
)
MEMORY_AND_CALL = DemoChapter(
    "memory",
    "Memory and a call",
    "Memories are found by their meaning; a card answers their sentence, and the transcript is deleted in time.",
    (_memory, _call),
)
TOOLS_AND_MCP = DemoChapter(
    "tools", "Tools and MCP", "Tools are searched by purpose; HTTP and MCP share operations.", (_tools, _over_mcp)
)
COMPANY = DemoChapter(
    "company",
    "Company sign-in",
    "With an ID-JAG, a company's sign-in vouches for its users' agents, without consent page or new password.",
    (_company_sign_in,),
)


_SELLER: Final = (
    (14_900, "€14,900, as in the listing. There is a lot of interest."),
    (14_300, "I could come down to €14,300. The tyres are nearly new."),
    (13_700, "€13,700. That is my final offer, take it or leave it."),
)
_SETTLES: Final = "All right, €{price:,} it is."
_TOO_MUCH: Final = 14_000


def introduce(out: DemoPrinter) -> None:
    """Say what the talk is about, while the server starts."""
    case = _case()
    listed, most = Decimal(case["baseline"]["value"]), case["walk_away"]["package"]["price"]
    aim, rival = case["target"]["package"]["price"], case["batna"]["value"]["package"]["price"]
    out.line("One negotiation. The server and each call are real; the seller is made up.", "italic")
    out.line()
    out.line(
        f"Grace wants a used VW Golf, listed at €{listed:,}; a dealer asks €{rival:,} for another. Their agent alone "
        f"knows that €{aim:,} would be a success and €{most:,} is the most that they pay."
    )


def _case() -> JsonObject:
    return read_case("used_car", datetime.now(UTC)).negotiation


def _negotiate(journey: DemoContext) -> None:
    """Run the talk from the listing to the signed deal."""
    case = _case()
    most: int = case["walk_away"]["package"]["price"]
    opened = journey.post(NEGOTIATIONS_PATH, case, status=201, show=("id", "state", "missing"))
    journey.check(opened["missing"] == [], "Nothing that advice needs is missing")
    one = f"{NEGOTIATIONS_PATH}/{opened['id']}"
    plan = journey.post(f"{one}/battle-plans", {}, status=201, show=("id", "version", "stale"))
    journey.printer.event(plan["summary"]["text"])
    journey.check(len(plan["concession_schedule"]) > 1, "The battle plan has the steps of the price")
    standing = journey.post(f"{one}/leverage", {}, show=("summary",))["summary"]
    journey.printer.line()
    journey.printer.said("Advice", standing["room"])
    made = [_turn(journey, one, price, words, limit=most) for price, words in _SELLER]
    _refused(journey, one)
    steps = [after - before for before, after in pairwise(made)]
    journey.check(
        all(step >= 0 for step in steps) and steps == sorted(steps, reverse=True),
        "The advised steps go one way and never grow",
    )
    agreed = _settle(journey, one, made[-1])
    stored = journey.get(f"{one}/battle-plans/{plan['id']}", show=("version", "stale"))
    journey.check(stored == {**plan, "stale": True}, "The plan is stored unchanged and marked as stale")
    _count(journey, listed=Decimal(case["baseline"]["value"]), agreed=agreed, limit=Decimal(most))


def _offer(journey: DemoContext, one: str, **offer: Any) -> JsonObject:
    return journey.post(f"{one}/offers", offer, status=201, show=("seq", "status"))


def _turn(journey: DemoContext, one: str, price: int, words: str, *, limit: int) -> Decimal:
    """Record the seller's offer, ask what to do, and make the advised counter-offer; returns its price."""
    move = _advice(journey, one, price, words)
    offer = Decimal(move["offer"]["price"])
    journey.check(
        move["action"] == "counter" and offer <= limit,
        f"Against €{price:,} the advice is a counter-offer within the limit",
    )
    journey.check(f"{limit:,}" not in move["say"], "The sentence to say does not name the limit")
    journey.printer.said("Grace", f"“{move['say']}”")
    made = _offer(journey, one, by="me", kind="counter", package=move["offer"])
    journey.check(made["status"] == "live", f"Offer {made['seq']} is live")
    return offer


def _advice(journey: DemoContext, one: str, price: int, words: str) -> JsonObject:
    """Record the seller's offer and print it with the advice on it; returns the next move."""
    journey.printer.line()
    journey.printer.said("Jens", f"“{words}”")
    _offer(journey, one, by="them", package={"price": price}, rationale=words)
    heard = journey.post(f"{one}/suggestions", {"utterance": words, "phase": "bargain"}, show=("summary",))
    move = journey.post(f"{one}/next-move", {"utterance": words}, show=("action", "offer", "my_utility", "floor"))
    tactic = _sentences(heard["summary"], 1) if heard["recognised"] else ""
    journey.printer.said("Advice", f"{tactic} {_sentences(move['summary'], 2)}".strip())
    return move


def _refused(journey: DemoContext, one: str) -> None:
    """Grace is tempted, and an offer past their limit is refused."""
    body = {"by": "me", "kind": "counter", "package": {"price": _TOO_MUCH}}
    refused = journey.post(f"{one}/offers", body, status=409, error="below_walk_away")
    journey.check(True, "An offer past the limit is refused")
    journey.printer.line()
    journey.printer.said("Grace", f"is tempted to offer €{_TOO_MUCH:,}.")
    journey.printer.said("Advice", f"Refused. {_sentences(refused['error_description'], 1)}")


def _settle(journey: DemoContext, one: str, price: Decimal) -> Decimal:
    """The seller takes Grace's price, Grace accepts, and the contract is signed."""
    move = _advice(journey, one, int(price), _SETTLES.format(price=int(price)))
    journey.check(move["action"] == "accept", "A price as good as the next step is accepted")
    journey.printer.said("Grace", f"“{move['say']}”")
    theirs = journey.get(f"{one}/offers?limit=1", show=())["items"][0]
    _offer(journey, one, by="me", kind="acceptance", in_reply_to=theirs["id"])
    won = journey.post(f"{one}/state", {"to": "won"}, show=("state", "outcome"))
    paid = Decimal(won["outcome"]["package"]["price"])
    journey.check(won["state"] == "won" and paid == price, "The deal is stored as it was accepted")
    return paid


def _count(journey: DemoContext, *, listed: Decimal, agreed: Decimal, limit: Decimal) -> None:
    """Record the win and print what it brought."""
    body: dict[str, Any] = {
        "category": "other",
        "kind": "new_purchase",
        "role": "buyer",
        "currency": "EUR",
        "baseline": {"kind": "list_price", "amount": str(listed)},
        "achieved": {"amount": str(agreed)},
    }
    win = journey.post(WINS_PATH, body, status=201, show=("savings_total", "savings_rate"))
    saved = Decimal(win["savings_total"])
    journey.check(saved == listed - agreed, "The server computes the savings to the cent")
    journey.printer.line()
    journey.printer.line(
        f"Deal at €{agreed:,.0f}: €{saved:,.0f} or {saved / listed:.0%} below the listing, and "
        f"€{limit - agreed:,.0f} better than the limit, which Jens never heard.",
        "bold",
    )


def _sentences(text: str, count: int) -> str:
    """The first sentences of a text."""
    parts: Sequence[str] = text.split(". ")
    return ". ".join(parts[:count]).rstrip(".") + "."


NEGOTIATION = DemoChapter(
    "negotiation",
    "A negotiation",
    "Plan, leverage, tactics, the next move: words to say, figures that can be checked, limits that hold.",
    (_negotiate,),
)
