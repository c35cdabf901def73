"""The threads of the process: a call has a bounded place and time in them, and a slow value is built once on one."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from negotiator.base.errors import RequestAborted, Unavailable
from negotiator.runtime.metrics import MetricRegistry, prometheus_text
from negotiator.runtime.thread_pools import BuiltOnce, ClientPresence, ThreadPool, answer_for
from tests.house.source_tree import PACKAGE, label, sources

TIME = "negotiator.runtime.thread_pools.time.monotonic"


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(TIME, clock)
    return clock


@pytest.fixture
def gate() -> Generator[threading.Event]:
    """Calls that wait for it end at the end of the test at the latest."""
    gate = threading.Event()
    yield gate
    gate.set()


@contextlib.asynccontextmanager
async def occupied(pool: ThreadPool, gate: threading.Event) -> AsyncGenerator[None]:
    """The only thread of the pool is busy until the gate opens."""
    begun = threading.Event()

    def hold() -> None:
        begun.set()
        gate.wait()

    holding = asyncio.create_task(pool.run(hold))
    while not begun.is_set():
        await asyncio.sleep(0)
    yield
    gate.set()
    await holding


def raise_fault() -> None:
    raise ValueError("of the function")


@pytest.mark.asyncio
async def test_a_call_gives_what_the_function_gives_or_raises() -> None:
    pool = ThreadPool("test", 1)
    assert await pool.run(divmod, 7, 2) == (3, 1)
    with pytest.raises(ValueError, match="of the function"):
        await pool.run_unhurried(raise_fault)
    assert pool.state() == "ok"


@pytest.mark.asyncio
async def test_a_call_that_would_wait_longer_than_a_second_is_refused_at_once_and_told_when_to_return(
    clock: Clock, gate: threading.Event
) -> None:
    pool = ThreadPool("test", 1)
    async with occupied(pool, gate):
        clock.now += 2.5
        with pytest.raises(Unavailable) as refused:
            await pool.run(int)
        assert refused.value.retry_after == 3
        assert pool.state() == "full"
    assert await pool.run(int) == 0
    clock.now += 5
    assert pool.state() == "ok"


@pytest.mark.asyncio
async def test_a_call_that_waited_for_its_time_is_refused_and_never_begun(
    monkeypatch: pytest.MonkeyPatch, gate: threading.Event
) -> None:
    monkeypatch.setattr("negotiator.runtime.thread_pools.PATIENCE", 0.01)
    pool, ran = ThreadPool("test", 1), list[int]()
    async with occupied(pool, gate):
        with pytest.raises(Unavailable):
            await pool.run(ran.append, 1)
        late = asyncio.create_task(pool.run_unhurried(ran.append, 2))
        await asyncio.sleep(0.02)
    await late
    assert ran == [2]


@pytest.mark.asyncio
async def test_a_cancelled_call_that_has_not_begun_is_not_run(gate: threading.Event) -> None:
    pool, ran = ThreadPool("test", 1), list[int]()
    async with occupied(pool, gate):
        waiting = asyncio.create_task(pool.run(ran.append, 1))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    await pool.run(ran.append, 2)
    assert ran == [2]


@pytest.mark.asyncio
async def test_a_call_whose_client_left_before_it_began_is_not_run(gate: threading.Event) -> None:
    pool, ran, client = ThreadPool("test", 1), list[str](), ClientPresence()

    async def request() -> "asyncio.Task[None]":
        answer_for(client)
        background = asyncio.create_task(pool.run(ran.append, "outlives its request"))
        with pytest.raises(RequestAborted):
            await pool.run(ran.append, "for the client")
        return background

    async with occupied(pool, gate):
        answering = asyncio.create_task(request())
        client.answered_by(answering)
        await asyncio.sleep(0)
        client.gone = True
    await (await answering)
    assert ran == ["outlives its request"]


@pytest.mark.asyncio
async def test_metrics_show_the_depth_the_waits_and_the_refusals(
    tmp_path: Path, clock: Clock, gate: threading.Event
) -> None:
    pool, meters = ThreadPool("test", 1), MetricRegistry(tmp_path)
    pool.measure(meters)
    meters.open()
    async with occupied(pool, gate):
        clock.now += 2
        with pytest.raises(Unavailable):
            await pool.run(int)
        during = prometheus_text(meters.snapshot(), ())
    after = prometheus_text(meters.snapshot(), ())
    meters.close()
    assert 'negotiator_thread_calls{pool="test"} 1\n' in during
    assert 'negotiator_thread_calls{pool="test"} 0\n' in after
    assert 'negotiator_thread_refusals_total{pool="test"} 1\n' in after
    assert 'negotiator_thread_wait_seconds_count{pool="test"} 1\n' in after


@pytest.mark.asyncio
async def test_a_thousand_calls_one_after_another_start_no_more_threads_than_the_pool_has() -> None:
    pool, before = ThreadPool("test", 2), threading.active_count()
    began = time.monotonic()
    for _ in range(1000):
        await pool.run(int)
    assert threading.active_count() <= before + 2
    assert time.monotonic() - began < 5


def test_no_module_uses_the_threads_that_name_lookups_need() -> None:
    """Commands of the operator, `cli` and `backup`, have the process for themselves."""
    shared = ("asyncio.to_thread", "run_in_executor(None", "run_in_threadpool", "ThreadPoolExecutor(")
    own = {
        "negotiator/runtime/thread_pools.py",
        "negotiator/memory/embedding/minilm_embedder.py",
        "negotiator/trust/fetch.py",
    }
    found = [
        f"{label(path)}: {each}"
        for path in sources(PACKAGE)
        for each in shared
        if each in path.read_text()
        and label(path) not in own
        and path.relative_to(PACKAGE).parts[0] not in {"cli", "backup"}
    ]
    assert found == []


@pytest.mark.asyncio
async def test_many_first_uses_build_one_engine_on_a_thread() -> None:
    builders: list[int] = []

    def build() -> object:
        builders.append(threading.get_ident())
        time.sleep(0.01)
        return object()

    engine = BuiltOnce(build)
    found = await asyncio.gather(*(engine.get() for _ in range(8)))
    assert len({id(each) for each in [*found, engine.now()]}) == 1
    assert len(builders) == 1
    assert builders[0] != threading.get_ident()


@pytest.mark.asyncio
async def test_a_failed_build_is_tried_again() -> None:
    faults = [ValueError("broken")]

    def build() -> int:
        if faults:
            raise faults.pop()
        return 7

    engine = BuiltOnce(build)
    with pytest.raises(ValueError, match="broken"):
        await engine.get()
    assert await engine.get() == 7
