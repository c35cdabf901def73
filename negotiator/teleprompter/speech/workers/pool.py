"""The workers of one server process: started when wanted, shared by channels, replaced when they die, ended when
idle."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from negotiator.errors import Unavailable
from negotiator.teleprompter.speech.doubt import Doubt
from negotiator.teleprompter.speech.recognizer import Busy
from negotiator.teleprompter.speech.streams.channel import Channel
from negotiator.teleprompter.speech.workers.hearing import Hearing
from negotiator.teleprompter.speech.workers.worker import Worker

_IDLE_SECONDS: Final = 300.0


class Pool:
    """At most `size` processes and `most` channels; `load` is what each process is told to load."""

    idle_seconds = _IDLE_SECONDS
    """How long processes outlive the last channel: each holds 90 MB and more."""

    def __init__(
        self, load: dict[str, Any], *, size: int, most: int, doubtful: float | None
    ) -> None:
        self._load = load
        self._doubtful = doubtful
        self._size = size
        self._most = most
        self.workers: list[Worker] = []
        self._hearings: set[Hearing] = set()
        self._starting = asyncio.Lock()
        self._repairs: set[asyncio.Task[None]] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The processes."""
        return [worker.pid for worker in self.workers]

    async def open(self, channel: Channel, language: str) -> Hearing:
        """A worker for this channel; `Busy` when all streams are taken."""
        if self._closed:
            raise Unavailable("The speech engine is closing.")
        if len(self._hearings) >= self._most:
            raise Busy("every speech stream is taken")
        hearing = Hearing(channel, language, doubt=Doubt(self._doubtful), over=self._over)
        self._hearings.add(hearing)  # before the first wait, so that the bound holds
        try:
            hearing.attach(await self._worker())
        except BaseException:
            self._over(hearing)
            raise
        return hearing

    async def close(self) -> None:
        """End every channel, then every process."""
        self._closed = True
        for hearing in list(self._hearings):
            await hearing.close()
        if self._idle is not None:
            self._idle.cancel()
        for repair in self._repairs:
            repair.cancel()
        await asyncio.gather(*self._repairs, return_exceptions=True)
        async with self._starting:
            await asyncio.gather(*(worker.close() for worker in self.workers))
            self.workers.clear()

    async def _worker(self) -> Worker:
        """The one with the fewest channels; a new one while there is room and none is idle."""
        async with self._starting:
            least = min(self.workers, key=lambda worker: len(worker.attached), default=None)
            if least is None or (least.attached and len(self.workers) < self._size):
                least = await Worker.start(self._load, self._gone)
                self.workers.append(least)
            return least

    def _over(self, hearing: Hearing) -> None:
        self._hearings.discard(hearing)
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(self.idle_seconds, self._rest)

    def _rest(self) -> None:
        if not self._hearings:
            workers, self.workers = self.workers, []
            for worker in workers:
                self._aside(worker.close())

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._repairs.add(task)
        task.add_done_callback(self._repairs.discard)

    def _gone(self, worker: Worker) -> None:
        self.workers.remove(worker)
        lost = [channel for channel in worker.attached.values() if isinstance(channel, Hearing)]
        waiting = [hearing for hearing in lost if hearing.orphaned()]
        if waiting and not self._closed:
            self._aside(self._repair(waiting))

    async def _repair(self, waiting: list[Hearing]) -> None:
        for hearing in waiting:
            try:
                worker = await self._worker()
            except Unavailable:
                hearing.fail("engine_failed", "The speech engine cannot be started again.")
            else:
                if hearing in self._hearings:  # it may have been closed meanwhile
                    hearing.attach(worker)
