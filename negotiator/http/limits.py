"""Rate limits: GCRA budgets, their remaining calls, and the headers that tell them.

One number is stored per key, the theoretical arrival time in microseconds (ITU-T I.371). A `LimitStore` stores it: in
a file shared by this machine's workers, in the database, or in Redis (docs/decisions/0004-limits.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from negotiator.base.caller import Caller, CallerRate
from negotiator.base.errors import TooManyRequests
from negotiator.runtime.fault_log import close_all

DEFAULT_BUDGET: Final = "default"
"""The budget of callers with a credential."""
BASELINE_BUDGET: Final = "baseline"
"""The budget of callers without a credential, where an operation names no other."""
REVOCATION_BUDGET: Final = "revocations"
"""What ends a credential is charged to it alone: nobody's reads keep a stolen key alive."""

_WINDOWS: Final = {60: "a minute", 3600: "an hour", 86_400: "a day"}


@dataclass(frozen=True, slots=True)
class RateBudget:
    """A named budget: `quota` calls in every `window` seconds, `burst` of them at once.

    `counted` says in a refusal what the calls are, such as `registrations from one address`. `interval` is the time
    until one used call is available again, in microseconds, at least one.
    """

    name: str
    quota: int
    window: int
    burst: int
    counted: str = "requests"
    interval: int = field(init=False)
    header_lines: bytes = field(init=False, repr=False)
    """The limit headers, with placeholders for what changes: remaining, reset, remaining and seconds to wait."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "interval", max(1, self.window * 1_000_000 // self.quota))
        name = self.name.encode()
        lines = (
            b"x-ratelimit-limit: %d\r\nx-ratelimit-remaining: %%d\r\nx-ratelimit-reset: %%d\r\n"
            b'ratelimit-policy: "%s";q=%d;w=%d\r\nratelimit: "%s";r=%%d;t=%%d\r\n'
        )
        rendered = lines % (self.quota, name, self.quota, self.window, name)
        object.__setattr__(self, "header_lines", rendered)


class BudgetState(NamedTuple):
    """A budget after one call: `arrival` and `at` in microseconds; `taken` is False when the budget was empty."""

    budget: RateBudget
    arrival: int
    at: int
    taken: bool

    @property
    def remaining(self) -> int:
        """Calls that may follow immediately."""
        interval = self.budget.interval
        return max(0, (interval * self.budget.burst - (self.arrival - self.at)) // interval)

    @property
    def retry_after(self) -> int:
        """Whole seconds until a call is available again, at least one."""
        budget = self.budget
        wait = self.arrival - budget.interval * (budget.burst - 1) - self.at
        return max(1, -(-wait // 1_000_000))

    def header_lines(self) -> bytes:
        """The limit headers (docs/contract 1.10), the IETF pair of draft-ietf-httpapi-ratelimit-headers-10 included."""
        remaining = self.remaining
        reset = -(-max(self.arrival, self.at) // 1_000_000)
        wait = 0 if remaining else self.retry_after
        return self.budget.header_lines % (remaining, reset, remaining, wait)


def take_one(budget: RateBudget, arrival: int, now: int) -> BudgetState:
    """The state after one call at the time `now`, for a key whose arrival time is `arrival`, both in microseconds."""
    if arrival < now or arrival > now + budget.interval * budget.burst:
        # Later than a burst can be: stored before the clock was set back.
        arrival = now
    if arrival > now + budget.interval * (budget.burst - 1):
        return BudgetState(budget, arrival, now, taken=False)
    return BudgetState(budget, arrival + budget.interval, now, taken=True)


class LimitStore(Protocol):
    """Stores the state of budgets; exact over all workers that share it."""

    async def take(self, budget: RateBudget, key: str) -> BudgetState:
        """Take one call of this key's budget."""
        ...

    def state(self) -> str:
        """`ok`, or a few words for the health check."""
        ...

    async def close(self) -> None: ...


class RateLimits:
    """Charges calls to budgets: the operation's own, else the credential's, else the address's."""

    def __init__(
        self,
        limiter: LimitStore,
        budgets: Mapping[str, RateBudget],
        *,
        refused: Callable[[str], None] = lambda _name: None,
        stores: Mapping[str, LimitStore] | None = None,
    ) -> None:
        self._limiter = limiter
        self._stores = stores or {}
        """The stores of budgets, by name, that `limiter` does not hold."""
        self._refused = refused
        self._budgets = budgets

    async def charge(
        self, caller: Caller, name: str | None = None, *, baseline: str = BASELINE_BUDGET, public: bool = False
    ) -> BudgetState:
        """Charge one call to the named budget, else to the caller's own, or to `baseline` without a credential.

        Budgets are kept by credential, by client for clients with their own rate, by address without a credential.
        `public` means that the operation needs no credential: a caller with one then gets at least `baseline`.
        """
        budget = self._budgets[name] if name else self._own(caller, baseline)
        key = f"{budget.name}:{caller.limit_key}"
        if public and name is None and (raised := _at_least(budget, self._budgets[baseline])):
            budget, key = raised, f"{key}:public"
        reading = await self._stores.get(budget.name, self._limiter).take(budget, key)
        if not reading.taken:
            self._refused(budget.name)
        return reading

    def _own(self, caller: Caller, baseline: str) -> RateBudget:
        if caller.kind == "nobody":
            return self._budgets[baseline]
        if rate := caller.rate:
            return _own_budget(rate)
        return self._budgets[DEFAULT_BUDGET]

    def state(self) -> str:
        """The health check of what stores the budgets."""
        return self._limiter.state()

    async def close(self) -> None:
        await close_all(self._limiter.close, *(store.close for store in self._stores.values()))


@lru_cache(64)
def _own_budget(rate: CallerRate) -> RateBudget:
    return RateBudget(DEFAULT_BUDGET, rate.requests_per_minute, 60, rate.burst)


@lru_cache(256)
def _at_least(budget: RateBudget, other: RateBudget) -> RateBudget | None:
    """The budget raised to what the other one allows; None if it already allows as much."""
    quota, burst = max(budget.quota, other.quota), max(budget.burst, other.burst)
    if (quota, burst) == (budget.quota, budget.burst):
        return None
    return RateBudget(budget.name, quota, budget.window, burst)


def too_many_requests(reading: BudgetState) -> TooManyRequests:
    """The refusal of a call that found its budget empty."""
    budget = reading.budget
    window = _WINDOWS.get(budget.window, f"in {budget.window} seconds")
    return TooManyRequests(
        f"Too many: at most {budget.quota} {budget.counted} {window}. Wait as long as Retry-After says.",
        retry_after=reading.retry_after,
    )
