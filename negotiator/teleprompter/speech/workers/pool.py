"""The workers of one server process: started when first wanted, shared by channels, replaced when they die."""

import asyncio
from typing import Any

from negotiator.errors import Unavailable
from negotiator.teleprompter.speech.recognizer import Busy
from negotiator.teleprompter.speech.streams.channel import Channel
from negotiator.teleprompter.speech.workers.hearing import Hearing
from negotiator.teleprompter.speech.workers.worker import Worker


class Pool:
    """At most `size` processes and `most` channels; `load` is what each process is told to load."""

    def __init__(self, load: dict[str, Any], *, size: int, most: int) -> None:
        self._load = load
        self._size = size
        self._most = most
        self._workers: list[Worker] = []
        self._hearings: set[Hearing] = set()
        self._starting = asyncio.Lock()
        self._repairs: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The processes."""
        return [worker.pid for worker in self._workers]

    async def open(self, channel: Channel, language: str) -> Hearing:
        """A worker for this channel; `Busy` when all streams are taken."""
        if self._closed:
            raise Unavailable("The speech engine is closing.")
        if len(self._hearings) >= self._most:
            raise Busy("every speech stream is taken")
        hearing = Hearing(channel, language, over=self._hearings.discard)
        self._hearings.add(hearing)  # before the first wait, so that the bound holds
        try:
            hearing.attach(await self._worker())
        except BaseException:
            self._hearings.discard(hearing)
            raise
        return hearing

    async def close(self) -> None:
        """End every channel, then every process."""
        self._closed = True
        for hearing in list(self._hearings):
            await hearing.close()
        for repair in self._repairs:
            repair.cancel()
        await asyncio.gather(*self._repairs, return_exceptions=True)
        async with self._starting:
            await asyncio.gather(*(worker.close() for worker in self._workers))
            self._workers.clear()

    async def _worker(self) -> Worker:
        """The one with the fewest channels; a new one while there is room and none is idle."""
        async with self._starting:
            least = min(self._workers, key=lambda worker: len(worker.attached), default=None)
            if least is None or (least.attached and len(self._workers) < self._size):
                least = await Worker.start(self._load, self._gone)
                self._workers.append(least)
            return least

    def _gone(self, worker: Worker) -> None:
        self._workers.remove(worker)
        lost = [channel for channel in worker.attached.values() if isinstance(channel, Hearing)]
        waiting = [hearing for hearing in lost if hearing.orphaned()]
        if waiting and not self._closed:
            repair = asyncio.create_task(self._repair(waiting))
            self._repairs.add(repair)
            repair.add_done_callback(self._repairs.discard)

    async def _repair(self, waiting: list[Hearing]) -> None:
        for hearing in waiting:
            try:
                worker = await self._worker()
            except Unavailable:
                hearing.fail("engine_failed", "The speech engine cannot be started again.")
            else:
                if hearing in self._hearings:  # it may have been closed meanwhile
                    hearing.attach(worker)
