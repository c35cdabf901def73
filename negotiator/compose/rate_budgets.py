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
_REGISTRATIONS = "registrations from one address"


def rate_budgets(settings: Settings) -> tuple[RateBudget, ...]:
    """All budgets; tests/contract/http/test_budgets.py compares each with the headers of real answers."""
    rate, registrations = settings.limit_rpm, settings.register_limit_anonymous
    apart = max(rate, 600)  # who gives agents little must not keep monitors, issuers and calls out with them
    fetches, tries = settings.limit_fetch_rpm, settings.sign_in_limit_address
    return (
        RateBudget(DEFAULT_BUDGET, rate, _MINUTE, settings.limit_burst or rate),
        _budget(BASELINE_BUDGET, settings.limit_baseline_rpm, _MINUTE),
        _budget(ANONYMOUS_BUDGET, registrations, _HOUR, counted=_REGISTRATIONS),
        _budget(ASSERTION_BUDGET, settings.register_limit_assertion, _HOUR, counted=_REGISTRATIONS),
        _budget(TELEPROMPTER_BUDGET, 5 * apart, _MINUTE, part=10),
        _budget(EVENTS_BUDGET, apart, _MINUTE),
        _budget(CLIENT_BUDGET, registrations, _HOUR, counted=_REGISTRATIONS),
        _budget(health_routes.HEALTH_BUDGET, apart, _MINUTE),
        _budget(DIRECTORY_BASELINE_BUDGET, settings.limit_directory_rpm, _MINUTE),
        _budget(HOURLY_BUDGET, settings.register_limit_directory, _HOUR, counted=_REGISTRATIONS),
        _budget(DAILY_BUDGET, settings.register_limit_directory_daily, _DAY, counted=_REGISTRATIONS),
        _budget(WRONG_CODES_BY_ADDRESS, settings.claim_failures_per_address, _HOUR),
        _budget(WRONG_CODES_OVERALL, settings.claim_failures_per_hour, _HOUR),
        _budget(FETCHES, fetches, _MINUTE, part=4),
        _budget(HOSTS, fetches, _MINUTE, part=4),
        _budget(SIGN_INS_BY_ADDRESS, tries, _HOUR, part=6),
        _budget(PASSWORDS_BY_ACCOUNT, tries // 5, _HOUR, part=6),
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


def _budget(name: str, quota: int, window: int, *, part: int = 1, counted: str = "requests") -> RateBudget:
    """A budget of which this part of the quota, a half or a tenth, may be used at once."""
    return RateBudget(name, quota, window, max(1, quota // part), counted)
