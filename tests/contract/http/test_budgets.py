"""Every documented budget, held against what a running application answers."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from starlette.applications import Starlette

from negotiator.base.caller import anonymous_caller
from negotiator.compose.application import build_application
from negotiator.compose.services import rate_budgets
from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from tests.conftest import Change, Mint, Register, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.directory_identity import (
    CHALLENGE,
    REGISTER,
    REVOKE,
    FakeWeb,
    StatementSigner,
    key_header,
    prove,
    register_account,
    registration_body,
)

DOCS: Final = Path(__file__).parents[3] / "docs"
GUIDES: Final = DOCS.parent / "negotiator" / "console" / "guides"
HOUR, DAY = 3600, 86_400
WINDOWS: Final = {"per minute": 60, "per hour": HOUR, "per day": DAY}
ANONYMOUS: Final = {"agent_name": "a", "identity_type": "anonymous"}
ASSERTED: Final = {
    "agent_name": "a",
    "identity_type": "identity_assertion",
    "assertion_type": "urn:ietf:params:oauth:token-type:id-jag",
    "assertion": "a.b.c",
}
CLIENT: Final = {"client_name": "App", "redirect_uris": ["https://app.example/cb"]}
SPOKEN: Final = {"utterance_id": "u1", "speaker": "them", "text": "Hello."}
WRONG: Final = {"claim_token": "BBBB-BBBB-BBBB"}


@dataclass
class RunningService:
    """A running application and short ways into it."""

    application: Starlette
    client: httpx2.AsyncClient
    register: Register
    mint: Mint
    change: Change
    web: FakeWeb
    calls: int = 0

    async def agent(self) -> dict[str, str]:
        """The headers of a fresh agent."""
        return bearer((await self.client.post("/api/agent/register", json=ANONYMOUS)).json())

    async def claimed(self, *scopes: str) -> dict[str, str]:
        """The headers of an agent that a user lets do this."""
        _, code = await self.mint(scopes=list(scopes))
        sent = {"claim_token": code}
        agent = await self.agent()
        return bearer((await self.client.post("/api/agent/claim", json=sent, headers=agent)).json())

    async def level(self, level: int) -> dict[str, str]:
        """The headers of an agent of the directory."""
        signer = StatementSigner()
        record = await register_account(self.client, "did", signer.did)
        if level >= accounts_queries.PROVEN:
            await prove(self.client, record, signer.statement(record))
        if level == accounts_queries.VETTED:
            await self.change(lambda tx: accounts_queries.vet(tx, record["client_id"], vetted=True))
        return key_header(record)


Probe = Callable[[RunningService], Awaitable[httpx2.Response]]


@dataclass(frozen=True)
class Shown:
    """A budget that the headers of an answer show: its documented setting, and a call that is charged to it."""

    setting: str
    window: int
    probe: Probe
    policy: str = ""
    burst_part: int = 1
    times: int = 1
    """Of the setting's value."""


@dataclass(frozen=True)
class Counted:
    """A budget that no header shows: calls go through until it is empty, then the answer is 429."""

    setting: str
    window: int
    probe: Probe | None = None
    burst_part: int = 1
    share: int = 1
    """Of the setting's value, one of this many parts."""
    times: int = 1


def get(path: str) -> Probe:
    return lambda service: service.client.get(path)


def post(path: str, sent: dict[str, Any]) -> Probe:
    return lambda service: service.client.post(path, json=sent)


async def reading(service: RunningService) -> httpx2.Response:
    return await service.client.get("/api/negotiations", headers=await service.agent())


async def hearing(service: RunningService) -> httpx2.Response:
    who = await service.claimed("teleprompter:stream")
    path = "/api/teleprompter/sessions/live_1/utterances"
    return await service.client.post(path, json=SPOKEN, headers=who)


async def telling(service: RunningService) -> httpx2.Response:
    sent = {"content-type": "application/secevent+jwt"}
    return await service.client.post("/api/agent/events", content=b"a.b.c", headers=sent)


def challenged(level: int) -> Probe:
    async def probe(service: RunningService) -> httpx2.Response:
        return await service.client.post(CHALLENGE, headers=await service.level(level))

    return probe


async def guessing(service: RunningService) -> httpx2.Response:
    return await service.client.post("/api/agent/claim", json=WRONG, headers=await service.agent())


async def guessing_from_everywhere(service: RunningService) -> httpx2.Response:
    service.calls += 1
    async with connect(service.application, f"198.51.100.{service.calls}") as client:
        agent = bearer((await client.post("/api/agent/register", json=ANONYMOUS)).json())
        return await client.post("/api/agent/claim", json=WRONG, headers=agent)


async def naming_hosts(service: RunningService) -> httpx2.Response:
    service.calls += 1
    named = {"client_id": f"https://host{service.calls}.example/c", "response_type": "code"}
    return await service.client.get("/oauth/authorize", params=named)


async def naming_one_host(service: RunningService) -> httpx2.Response:
    service.calls += 1
    named = {"client_id": f"https://one.example/{service.calls}", "response_type": "code"}
    async with connect(service.application, f"198.51.100.{service.calls}") as client:
        return await client.get("/oauth/authorize", params=named)


SHOWN: Final[dict[str, Shown]] = {
    "default": Shown("limit_rpm", 60, reading),
    "baseline": Shown("limit_baseline_rpm", 60, get("/api/negotiations")),
    "registrations": Shown("register_limit_anonymous", HOUR, post("/api/agent/register", ANONYMOUS)),
    "assertions": Shown("register_limit_assertion", HOUR, post("/api/agent/register", ASSERTED)),
    "teleprompter": Shown("limit_rpm", 60, hearing, burst_part=10, times=5),
    "events": Shown("limit_rpm", 60, telling),
    "client-registration": Shown("register_limit_anonymous", HOUR, post("/oauth/register", CLIENT)),
    "health": Shown("limit_rpm", 60, get("/api/health")),
    "revocations": Shown("limit_rpm", 60, post(REVOKE, {"token": "unknown"})),
    "directory": Shown("limit_directory_rpm", 60, get("/api/v1/categories")),
    "accounts": Shown("register_limit_directory", HOUR, post(REGISTER, registration_body())),
}
LEVELS: Final[dict[str, Shown]] = {
    "unproven": Shown("limit_unproven_rpm", 60, challenged(1), "default"),
    "proven": Shown("limit_unproven_rpm", 60, challenged(2), "default", times=2),
    "vetted": Shown("limit_rpm", 60, challenged(3), "default"),
}
COUNTED: Final[dict[str, Counted]] = {
    "wrongcodes": Counted("claim_failures_per_address", HOUR, guessing),
    "allwrongcodes": Counted("claim_failures_per_hour", HOUR, guessing_from_everywhere),
    "fetches": Counted("limit_fetch_rpm", 60, naming_hosts, 4),
    "hosts": Counted("limit_fetch_rpm", 60, naming_one_host, 4),
    "signins": Counted("sign_in_limit_address", HOUR, burst_part=6),
    "passwords": Counted("sign_in_limit_address", HOUR, burst_part=6, share=5),
    "daily": Counted("register_limit_directory", DAY, times=4),
}
ROWS: Final = {**SHOWN, **LEVELS, **COUNTED}
BESIDE: Final = {"limit_burst"}
"""Settings of the same kind that are no budget of their own."""


def documented() -> dict[str, tuple[str, str]]:
    """Default and meaning of every setting, as negotiator/console/guides/settings.md has them."""
    text = (GUIDES / "settings.md").read_text()
    found = re.findall(r"^\| `NEGOTIATOR_(\w+)` \| `?([^|`]*)`? \|[^|]*\| (.*) \|$", text, re.M)
    return {name.lower(): (default, meaning) for name, default, meaning in found}


def defaults(settings: Settings, **overrides: Any) -> Settings:
    """Settings in which every budget has its default."""
    plain = {row.setting: Settings.model_fields[row.setting].default for row in ROWS.values()}
    return make_settings(settings.data_dir, settings.keys_dir, **{**plain, **overrides})


def test_every_budget_has_a_row_and_every_documented_rate_a_budget(settings: Settings) -> None:
    assert {budget.name for budget in rate_budgets(settings)} == SHOWN.keys() | COUNTED.keys()
    rates = {name for name, (_, said) in documented().items() if re.search("|".join(WINDOWS), said)}
    assert rates - BESIDE == {row.setting for row in ROWS.values()}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", [*SHOWN, *LEVELS])
@covers("1.10:budgets")
async def test_the_headers_show_the_documented_budget(
    settings: Settings, name: str, register: Register, mint: Mint, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {**SHOWN, **LEVELS}[name]
    value, meaning = documented()[row.setting]
    default = str(int(value) * row.times)
    assert row.window in [window for word, window in WINDOWS.items() if word in meaning]
    async with running(defaults(settings)) as application, connect(application, "192.0.2.7") as client:
        service = RunningService(application, client, register, mint, change, FakeWeb(monkeypatch))
        answer = await row.probe(service)
    assert answer.headers["ratelimit-policy"] == f'"{row.policy or name}";q={default};w={row.window}'
    assert answer.headers["x-ratelimit-limit"] == default
    burst, left = int(default) // row.burst_part, int(answer.headers["x-ratelimit-remaining"])
    # An agent of the directory has made some calls to get to its level.
    assert burst - (20 if name in LEVELS else 2) <= left < burst


@pytest.mark.asyncio
@pytest.mark.parametrize("name", COUNTED)
@covers("1.10:budgets")
async def test_a_budget_without_headers_is_empty_after_as_many_calls_as_documented(
    settings: Settings, name: str, register: Register, mint: Mint, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = COUNTED[name]
    default, meaning = documented()[row.setting]
    assert row.window in [window for word, window in WINDOWS.items() if word in meaning]
    whole = next(budget for budget in rate_budgets(defaults(settings)) if budget.name == name)
    assert (whole.quota, whole.window) == (int(default) * row.times // row.share, row.window)
    quota, passed = 60, 0
    small = make_settings(settings.data_dir, settings.keys_dir, **{row.setting: quota})
    if row.probe is None:
        house = build_application(small)
        while (await house.pipeline.limits.charge(anonymous_caller("somebody"), name)).taken:
            passed += 1
        await house.pipeline.limits.close()
    else:
        async with running(small) as application, connect(application, "192.0.2.7") as client:
            service = RunningService(application, client, register, mint, change, FakeWeb(monkeypatch))
            while (answer := await row.probe(service)).status_code != 429:
                passed += 1
                assert passed <= quota
        assert 1 <= int(answer.headers["retry-after"]) <= row.window // quota
    assert passed == quota * row.times // row.share // row.burst_part


@pytest.mark.asyncio
async def test_the_decisions_and_the_page_for_agents_name_the_same_rates(settings: Settings) -> None:
    said = {name: default for name, (default, _) in documented().items()}
    unproven = int(said["limit_unproven_rpm"])
    levels = [str(unproven), str(2 * unproven), said["limit_rpm"]]
    decisions = (DOCS / "contract" / "decisions.md").read_text()
    (rate,) = re.findall(r"^\| The rate without a credential \| (.*)$", decisions, re.M)
    assert f"{said['limit_directory_rpm']} a minute and address" in rate
    assert f"{said['limit_baseline_rpm']} elsewhere" in rate
    assert f"burst = rate, {', '.join(levels)} for levels 1, 2, 3" in decisions
    (codes,) = re.findall(r"^\| Wrong delegation codes \| (.*)$", decisions, re.M)
    assert f"({said['claim_failures_per_address']} an hour)" in codes
    assert f"({said['claim_failures_per_hour']} an hour)" in codes
    (fetches,) = re.findall(r"^\| Documents at URLs that clients name .*$", decisions, re.M)
    assert fetches.count(f"{said['limit_fetch_rpm']} a minute") == 2
    guide = (GUIDES / "directory-agents.md").read_text()
    shown = re.findall(r"^\| an [^|]+ \| (\d+) \|$", guide, re.M)
    assert shown == [said["limit_directory_rpm"], *levels[:2]]
    async with running(defaults(settings)) as application, connect(application) as client:
        page = (await client.get("/auth.md")).text
    table = re.findall(r"^\| [^|]+ \| (\d+) \|$", page, re.M)
    assert table == [said["limit_directory_rpm"], *levels]
