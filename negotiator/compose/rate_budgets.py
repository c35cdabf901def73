"""Every rate budget of the service, made from the settings, and the place where they are kept."""

from negotiator.agents.delegation import WRONG_CODES_BY_ADDRESS, WRONG_CODES_OVERALL
from negotiator.agents.schemas import ANONYMOUS_BUDGET, ASSERTION_BUDGET
from negotiator.agents.security_event_routes import EVENTS_BUDGET
from negotiator.console.password_check import PASSWORDS_BY_ACCOUNT, SIGN_INS_BY_ADDRESS
from negotiator.directory.accounts_routes import (
    DAILY_BUDGET,
    DIRECTORY_BASELINE_BUDGET,
    HOURLY_BUDGET,
)
from negotiator.discovery import health_routes
from negotiator.http.limit_stores import DatabaseLimitStore, FileLimitStore, RedisLimitStore
from negotiator.http.limits import (
    BASELINE_BUDGET,
    DEFAULT_BUDGET,
    LimitStore,
    RateBudget,
    RateLimits,
)
from negotiator.metrics import MetricRegistry
from negotiator.settings import Settings
from negotiator.store.store import Store
from negotiator.teleprompter.session_routes import TELEPROMPTER_BUDGET
from negotiator.tokens.client_registration_routes import CLIENT_BUDGET
from negotiator.trust.client_url_fetch import FETCHES, HOSTS

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_SIXTH = 6
"""Of an hour's passwords, how many may be tried at once: one in six."""
_TENTH = 10
"""Of a minute's utterances, how many may come at once: one in ten."""
_QUARTER = 4
"""Of a minute's fetches, how many may run at once: one in four."""


def rate_budgets(chosen: Settings) -> tuple[RateBudget, ...]:
    """All budgets by name; tests/contract/http/test_budgets.py holds each against measured headers."""
    fetches = max(1, chosen.limit_fetch_rpm // _QUARTER)
    by_address, by_account = chosen.sign_in_limit_address, chosen.sign_in_limit_account
    utterances = chosen.limit_teleprompter_rpm
    return (
        RateBudget(
            DEFAULT_BUDGET, chosen.limit_rpm, _MINUTE, chosen.limit_burst or chosen.limit_rpm
        ),
        _whole(BASELINE_BUDGET, chosen.limit_baseline_rpm, _MINUTE),
        _whole(ANONYMOUS_BUDGET, chosen.register_limit_anonymous, _HOUR),
        _whole(ASSERTION_BUDGET, chosen.register_limit_assertion, _HOUR),
        RateBudget(TELEPROMPTER_BUDGET, utterances, _MINUTE, utterances // _TENTH),
        _whole(EVENTS_BUDGET, chosen.limit_events_rpm, _MINUTE),
        _whole(CLIENT_BUDGET, chosen.register_limit_clients, _HOUR),
        _whole(health_routes.HEALTH_BUDGET, chosen.limit_health_rpm, _MINUTE),
        _whole(DIRECTORY_BASELINE_BUDGET, chosen.limit_directory_rpm, _MINUTE),
        _whole(HOURLY_BUDGET, chosen.register_limit_directory, _HOUR),
        _whole(DAILY_BUDGET, chosen.register_limit_directory_daily, _DAY),
        _whole(WRONG_CODES_BY_ADDRESS, chosen.claim_failures_per_address, _HOUR),
        _whole(WRONG_CODES_OVERALL, chosen.claim_failures_per_hour, _HOUR),
        RateBudget(FETCHES, chosen.limit_fetch_rpm, _MINUTE, fetches),
        RateBudget(HOSTS, chosen.limit_fetch_rpm, _MINUTE, fetches),
        RateBudget(SIGN_INS_BY_ADDRESS, by_address, _HOUR, by_address // _SIXTH),
        RateBudget(PASSWORDS_BY_ACCOUNT, by_account, _HOUR, by_account // _SIXTH),
    )


def build_limits(
    chosen: Settings, store: Store, meters: MetricRegistry, *, pepper: bytes
) -> RateLimits:
    """The budgets, and a counter of refusals for each."""
    limiter: LimitStore
    if chosen.redis_url:
        limiter = RedisLimitStore(chosen.redis_url)
    elif chosen.database_url.startswith("sqlite"):
        limiter = FileLimitStore(chosen.data_dir / "limits", pepper)
    else:
        limiter = DatabaseLimitStore(store)
    made = {budget.name: budget for budget in rate_budgets(chosen)}
    name, meaning = "negotiator_limit_refusals_total", "Calls that found their budget empty"
    refusals = {each: meters.counter(name, meaning, budget=each) for each in made}
    return RateLimits(limiter, made, refused=lambda budget: refusals[budget].add())


def _whole(name: str, quota: int, window: int) -> RateBudget:
    """A budget that may be spent at once."""
    return RateBudget(name, quota, window, quota)
