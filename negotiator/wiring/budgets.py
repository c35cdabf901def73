"""Every rate budget of the service, made from the settings, and the place where they are kept."""

from negotiator.agents.claims import ADDRESS_FAILURES, ALL_FAILURES
from negotiator.agents.schemas import ANONYMOUS_BUDGET, ASSERTION_BUDGET
from negotiator.agents.signals.routes import BUDGET as EVENT_BUDGET
from negotiator.console.entry.passwords import BY_ACCOUNT, BY_ADDRESS
from negotiator.directory.accounts.routes import BASELINE, DAILY_BUDGET, HOURLY_BUDGET
from negotiator.discovery import health
from negotiator.limits.budgets import Budget, Limiter, Limits
from negotiator.limits.places import InDatabase, InRedis, SharedTable
from negotiator.metrics.meters import Meters
from negotiator.settings import Settings
from negotiator.store.store import Store
from negotiator.teleprompter.routes import BUDGET as TELEPROMPTER
from negotiator.tokens.registration.routes import CLIENT_BUDGET
from negotiator.trust.named_hosts import FETCHES, HOSTS

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_SIXTH = 6
"""Of an hour's passwords, how many may be tried at once: one in six."""
_TENTH = 10
"""Of a minute's utterances, how many may come at once: one in ten."""
_QUARTER = 4
"""Of a minute's fetches, how many may run at once: one in four."""


def budgets(chosen: Settings) -> tuple[Budget, ...]:
    """All budgets by name; tests/contract/ground/test_budgets.py holds each against measured headers."""
    fetches = max(1, chosen.limit_fetch_rpm // _QUARTER)
    by_address, by_account = chosen.sign_in_limit_address, chosen.sign_in_limit_account
    utterances = chosen.limit_teleprompter_rpm
    return (
        Budget("default", chosen.limit_rpm, _MINUTE, chosen.limit_burst or chosen.limit_rpm),
        _whole("baseline", chosen.limit_baseline_rpm, _MINUTE),
        _whole(ANONYMOUS_BUDGET, chosen.register_limit_anonymous, _HOUR),
        _whole(ASSERTION_BUDGET, chosen.register_limit_assertion, _HOUR),
        Budget(TELEPROMPTER, utterances, _MINUTE, utterances // _TENTH),
        _whole(EVENT_BUDGET, chosen.limit_events_rpm, _MINUTE),
        _whole(CLIENT_BUDGET, chosen.register_limit_clients, _HOUR),
        _whole(health.BUDGET, chosen.limit_health_rpm, _MINUTE),
        _whole(BASELINE, chosen.limit_directory_rpm, _MINUTE),
        _whole(HOURLY_BUDGET, chosen.register_limit_directory, _HOUR),
        _whole(DAILY_BUDGET, chosen.register_limit_directory_daily, _DAY),
        _whole(ADDRESS_FAILURES, chosen.claim_failures_per_address, _HOUR),
        _whole(ALL_FAILURES, chosen.claim_failures_per_hour, _HOUR),
        Budget(FETCHES, chosen.limit_fetch_rpm, _MINUTE, fetches),
        Budget(HOSTS, chosen.limit_fetch_rpm, _MINUTE, fetches),
        Budget(BY_ADDRESS, by_address, _HOUR, by_address // _SIXTH),
        Budget(BY_ACCOUNT, by_account, _HOUR, by_account // _SIXTH),
    )


def make_limits(chosen: Settings, store: Store, meters: Meters, *, pepper: bytes) -> Limits:
    """The budgets, and a counter of refusals for each."""
    limiter: Limiter
    if chosen.redis_url:
        limiter = InRedis(chosen.redis_url)
    elif chosen.database_url.startswith("sqlite"):
        limiter = SharedTable(chosen.data_dir / "limits", pepper)
    else:
        limiter = InDatabase(store)
    made = {budget.name: budget for budget in budgets(chosen)}
    name, meaning = "negotiator_limit_refusals_total", "Calls that found their budget empty"
    refusals = {each: meters.counter(name, meaning, budget=each) for each in made}
    return Limits(limiter, made, refused=lambda budget: refusals[budget].add())


def _whole(name: str, quota: int, window: int) -> Budget:
    """A budget that may be spent at once."""
    return Budget(name, quota, window, quota)
