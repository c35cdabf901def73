"""Documents at URLs that clients name: what is charged to whom, what is remembered, how many run at once."""

import asyncio
from collections import Counter

import pytest

from negotiator.base.errors import TooManyRequests, Unavailable
from negotiator.runtime.circuit_breaker import FAILURES
from negotiator.trust.client_url_fetch import (
    AT_ONCE,
    FAILURE_SECONDS,
    FETCHES,
    HOST_AT_ONCE,
    HOSTS,
    REMEMBERED,
    ClientUrlFetcher,
)
from negotiator.trust.fetch import FetchedDocument, FetchFailed, HostFailing
from negotiator.trust.fetcher import Fetcher
from tests.helpers.loopback_server import free_hosts

pytestmark = pytest.mark.asyncio
HERE, THERE = "203.0.113.7", "203.0.113.8"
URL = "https://agents.example/a"


class Pool(Fetcher):
    """A web in which URLs that hold `bad` have no document; `slow` lets fetches wait for `gate`."""

    def __init__(self, *, slow: bool = False) -> None:
        super().__init__(allow_loopback=False)
        self.asked: list[str] = []
        self.slow, self.gate = slow, asyncio.Event()

    async def document(self, url: str, *, limit: int = 65_536) -> FetchedDocument:
        self.asked.append(url)
        if self.slow:
            await self.gate.wait()
        if "hung" in url:
            raise HostFailing("no answer")
        if "bad" in url:
            raise FetchFailed("not there")
        return FetchedDocument({"limit": limit}, None)


class Budgets:
    """Counts what is charged; a key may be charged `most` times."""

    def __init__(self, most: int) -> None:
        self.most, self.charged = most, Counter[tuple[str, str]]()

    async def __call__(self, budget: str, key: str) -> int:
        self.charged[budget, key] += 1
        return 0 if self.charged[budget, key] <= self.most else 7


async def test_a_fetch_is_charged_to_the_address_and_to_the_host_over_all_clients() -> None:
    budgets, pool = Budgets(3), Pool()
    hosts = ClientUrlFetcher(pool, budgets, clock=lambda: 0)
    for number in range(3):
        await hosts.document(f"{URL}{number}", limit=9, address=HERE)
    with pytest.raises(TooManyRequests) as refused:
        await hosts.document("https://other.example/", limit=9, address=HERE)
    assert refused.value.retry_after == 7
    with pytest.raises(TooManyRequests):
        await hosts.document("https://AGENTS.example.:443/z", limit=9, address=THERE)
    assert budgets.charged[HOSTS, "agents.example"] == 4
    assert budgets.charged[FETCHES, HERE] == 4
    assert budgets.charged[HOSTS, "other.example"] == 0, "the address is charged first"
    assert len(pool.asked) == 3


async def test_new_urls_of_a_host_do_not_crowd_out_one_that_was_believed() -> None:
    pool = Pool()
    hosts = ClientUrlFetcher(pool, Budgets(2), clock=lambda: 0)
    await hosts.document(URL, limit=9, address=HERE)
    hosts.accept(URL)
    for number in range(4):
        address = f"203.0.113.{number}"
        try:
            await hosts.document(f"{URL}/bad{number}", limit=9, address=address)
        except (FetchFailed, TooManyRequests):
            continue
    assert len(pool.asked) == 2, "the host's budget is empty"
    assert (await hosts.document(URL, limit=9, address=THERE)).body == {"limit": 9}


async def test_a_failure_is_remembered_for_a_minute_and_costs_nothing_meanwhile() -> None:
    pool, budgets, at = Pool(), Budgets(9), [0]
    hosts = ClientUrlFetcher(pool, budgets, clock=lambda: at[0])
    for moment in (0, 1, FAILURE_SECONDS * 1000 - 1):
        at[0] = moment
        with pytest.raises(FetchFailed):
            await hosts.document(f"{URL}bad", limit=9, address=HERE)
    assert (len(pool.asked), budgets.charged[FETCHES, HERE]) == (1, 1)
    at[0] = FAILURE_SECONDS * 1000
    with pytest.raises(FetchFailed):
        await hosts.document(f"{URL}bad", limit=9, address=HERE)
    assert len(pool.asked) == 2
    at[0] -= 3_600_000  # a clock that was an hour ahead
    with pytest.raises(FetchFailed):
        await hosts.document(f"{URL}bad", limit=9, address=HERE)
    assert len(pool.asked) == 3


async def test_only_so_many_failures_are_remembered() -> None:
    pool = Pool()
    hosts = free_hosts(pool)
    for number in (*range(REMEMBERED + 1), REMEMBERED, 0):
        with pytest.raises(FetchFailed):
            await hosts.document(f"{URL}bad{number}", limit=9, address=HERE)
    assert len(pool.asked) == REMEMBERED + 2, "the oldest was forgotten, the newest was not"


async def test_a_look_of_our_own_is_charged_to_nobody_and_sees_the_document_itself() -> None:
    pool, budgets = Pool(), Budgets(0)
    hosts = ClientUrlFetcher(pool, budgets, clock=lambda: 0)
    hosts.reject(URL, "a client's fetch failed")
    assert await hosts.json(URL, limit=9, address=None) == {"limit": 9}
    assert not budgets.charged


async def test_many_who_ask_for_one_url_wait_for_one_fetch() -> None:
    pool = Pool(slow=True)
    hosts = free_hosts(pool)
    waiting = [asyncio.create_task(hosts.document(URL, limit=9, address=HERE)) for _ in range(3 * AT_ONCE)]
    await asyncio.sleep(0)
    pool.gate.set()
    assert len(await asyncio.gather(*waiting)) == 3 * AT_ONCE
    assert pool.asked == [URL]


async def test_a_crowd_of_slow_hosts_is_answered_503_and_no_host_is_blamed_for_it() -> None:
    pool = Pool(slow=True)
    hosts = free_hosts(pool)
    slow = [
        asyncio.create_task(hosts.document(f"https://slow{number}.example/", limit=9, address=HERE))
        for number in range(AT_ONCE)
    ]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await hosts.document(URL, limit=9, address=THERE)
    pool.gate.set()
    await asyncio.gather(*slow)
    assert await hosts.document(URL, limit=9, address=THERE)
    await hosts.close()


async def test_one_host_takes_no_more_than_its_share_of_the_fetches() -> None:
    pool = Pool(slow=True)
    hosts = free_hosts(pool)
    slow = [
        asyncio.create_task(hosts.document(f"{URL}{number}", limit=9, address=HERE)) for number in range(HOST_AT_ONCE)
    ]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(Unavailable) as refused:
        await hosts.document(f"{URL}more", limit=9, address=HERE)
    assert refused.value.retry_after == 1
    pool.gate.set()
    assert await hosts.document("https://other.example/", limit=9, address=THERE)
    await asyncio.gather(*slow)


async def test_a_host_that_does_not_answer_is_left_alone_but_not_for_urls_that_were_believed() -> None:
    pool = Pool()
    hosts = free_hosts(pool)
    await hosts.document(URL, limit=9, address=HERE)
    hosts.accept(URL)
    for number in range(FAILURES + 3):
        with pytest.raises(FetchFailed, match="no answer"):
            await hosts.document(f"{URL}/hung{number}", limit=9, address=HERE)
    assert len(pool.asked) == 1 + FAILURES
    assert await hosts.document(URL, limit=9, address=HERE)
    assert await hosts.document("https://other.example/", limit=9, address=HERE)
