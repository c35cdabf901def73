"""Every rate budget of the service, made from the settings, and the store of their state."""

from negotiator.agents.delegation import WRONG_CODES_BY_ADDRESS, WRONG_CODES_OVERALL
from negotiator.agents.schemas import ANONYMOUS_BUDGET, ASSERTION_BUDGET
from negotiator.agents.security_event_routes import EVENTS_BUDGET
from negotiator.config.settings import Settings
from negotiator.console.people.password_check import PASSWORDS_BY_ACCOUNT, SIGN_INS_BY_ADDRESS
from negotiator.directory.accounts_routes import DAILY_BUDGET, DIRECTORY_BASELINE_BUDGET, HOURLY_BUDGET
from negotiator.discovery import health_routes
from negotiator.http.limit_stores import DatabaseLimitStore, FileLimitStore, RedisLimitStore
from negotiator.http.limits import BASELINE_BUDGET, DEFAULT_BUDGET, LimitStore, RateBudget, RateLimits
from negotiator.runtime.metrics import MetricRegistry
from negotiator.store.store import Store
from negotiator.teleprompter.session_view import TELEPROMPTER_BUDGET
from negotiator.tokens.client_registration_routes import CLIENT_BUDGET
from negotiator.trust.client_url_fetch import FETCHES, HOSTS

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_SIXTH = 6
"""The burst of password attempts is a sixth of an hour's quota."""
_TENTH = 10
"""The burst of utterances is a tenth of a minute's quota."""
_REGISTRATIONS = "registrations from one address"
_QUARTER = 4
"""The burst of fetches is a quarter of a minute's quota."""


def rate_budgets(settings: Settings) -> tuple[RateBudget, ...]:
    """All budgets; tests/contract/http/test_budgets.py compares each with the headers of real answers."""
    fetches = max(1, settings.limit_fetch_rpm // _QUARTER)
    by_address, by_account = settings.sign_in_limit_address, settings.sign_in_limit_account
    utterances = settings.limit_teleprompter_rpm
    return (
        RateBudget(DEFAULT_BUDGET, settings.limit_rpm, _MINUTE, settings.limit_burst or settings.limit_rpm),
        _whole(BASELINE_BUDGET, settings.limit_baseline_rpm, _MINUTE),
        _whole(ANONYMOUS_BUDGET, settings.register_limit_anonymous, _HOUR, _REGISTRATIONS),
        _whole(ASSERTION_BUDGET, settings.register_limit_assertion, _HOUR, _REGISTRATIONS),
        RateBudget(TELEPROMPTER_BUDGET, utterances, _MINUTE, utterances // _TENTH),
        _whole(EVENTS_BUDGET, settings.limit_events_rpm, _MINUTE),
        _whole(CLIENT_BUDGET, settings.register_limit_clients, _HOUR, _REGISTRATIONS),
        _whole(health_routes.HEALTH_BUDGET, settings.limit_health_rpm, _MINUTE),
        _whole(DIRECTORY_BASELINE_BUDGET, settings.limit_directory_rpm, _MINUTE),
        _whole(HOURLY_BUDGET, settings.register_limit_directory, _HOUR, _REGISTRATIONS),
        _whole(DAILY_BUDGET, settings.register_limit_directory_daily, _DAY, _REGISTRATIONS),
        _whole(WRONG_CODES_BY_ADDRESS, settings.claim_failures_per_address, _HOUR),
        _whole(WRONG_CODES_OVERALL, settings.claim_failures_per_hour, _HOUR),
        RateBudget(FETCHES, settings.limit_fetch_rpm, _MINUTE, fetches),
        RateBudget(HOSTS, settings.limit_fetch_rpm, _MINUTE, fetches),
        RateBudget(SIGN_INS_BY_ADDRESS, by_address, _HOUR, by_address // _SIXTH),
        RateBudget(PASSWORDS_BY_ACCOUNT, by_account, _HOUR, by_account // _SIXTH),
    )


def build_limits(settings: Settings, store: Store, meters: MetricRegistry, *, pepper: bytes) -> RateLimits:
    """The rate limits over all budgets, with a counter of refusals for each."""
    limiter: LimitStore
    file = FileLimitStore(settings.data_dir / "limits", pepper)
    if settings.redis_url:
        limiter = RedisLimitStore(settings.redis_url, file)
    elif settings.database_url.startswith("sqlite"):
        limiter = file
    else:
        limiter = DatabaseLimitStore(store)
    made = {budget.name: budget for budget in rate_budgets(settings)}
    name, meaning = "negotiator_limit_refusals_total", "Calls that found their budget empty"
    refusals = {each: meters.counter(name, meaning, budget=each) for each in made}
    # The health check has to answer while the database hangs.
    own = {health_routes.HEALTH_BUDGET: file} if isinstance(limiter, DatabaseLimitStore) else {}
    return RateLimits(limiter, made, refused=lambda budget: refusals[budget].add(), stores=own)


def _whole(name: str, quota: int, window: int, counted: str = "requests") -> RateBudget:
    """A budget whose whole quota may be used at once."""
    return RateBudget(name, quota, window, quota, counted)
