"""A recognition in a worker: it outlives the worker that hears it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from negotiator.telemetry import logger
from negotiator.teleprompter.speech.doubt import Doubt
from negotiator.teleprompter.speech.engines.engine import Heard, named
from negotiator.teleprompter.speech.events import Event, Problem
from negotiator.teleprompter.speech.streams.backlog import PER_MS
from negotiator.teleprompter.speech.streams.channel import Channel
from negotiator.teleprompter.speech.workers.frames import Frame, Tell, frame
from negotiator.teleprompter.speech.workers.worker import Worker

_WINDOW: Final = 400 * PER_MS
"""Samples on their way to a worker at once: enough to keep it busy, little enough to drop elsewhere."""
_PIECE: Final = 100 * PER_MS
_HANGS_SECONDS: Final = 30.0
_RESTARTS: Final = 3
_WITHIN_SECONDS: Final = 60.0
log = logger(__name__)


class Hearing:
    """One channel; `over` is called once, when it needs no worker any more."""

    def __init__(
        self,
        channel: Channel,
        language: str,
        *,
        doubt: Doubt,
        over: Callable[["Hearing"], None],
    ) -> None:
        self._channel = channel
        self._language = language
        self._doubt = doubt
        self._over = over
        self._worker: Worker | None = None
        self._number = 0
        self._names: dict[int, str] = {}
        self._finishing = False
        self._asked_to_finish = False
        self._again_until = 0
        self._moved = 0.0
        self._restarts: list[float] = []

    def attach(self, worker: Worker) -> None:
        """This worker hears it from now on, beginning with what is still to be heard."""
        self._worker = worker
        self._names = {}
        self._asked_to_finish = False
        self._number = worker.attach(self, self._language)
        self._moved = asyncio.get_running_loop().time()
        self._pump()

    def orphaned(self) -> bool:
        """The worker is gone; whether another should be found."""
        self._worker = None
        now = asyncio.get_running_loop().time()
        self._restarts = [at for at in self._restarts if now - at < _WITHIN_SECONDS] + [now]
        if len(self._restarts) > _RESTARTS:
            self.fail("engine_failed", "The speech engine keeps failing; nothing more is heard.")
            return False
        self._again_until = self._channel.backlog.heard_until
        description = "The speech engine was restarted; the last seconds are heard again."
        self._channel.again(Problem("engine_restarted", description))
        return True

    def fail(self, code: str, description: str) -> None:
        """Nothing more will be heard: say so and end."""
        self._channel.telling.say(Problem(code, description, fatal=True))
        self._end()

    async def push(self, pcm16k: bytes) -> None:
        """Take audio; see `Recognition`."""
        self._channel.put(pcm16k)
        self._pump()
        self._watch()

    async def caught_up(self, within_ms: int = 0) -> None:
        """Wait until it was heard."""
        await self._channel.caught_up(within_ms)

    async def finish(self) -> None:
        """Have the rest heard; the events end after it."""
        self._finishing = True
        self._pump()

    async def close(self) -> None:
        """Drop everything."""
        if not self._channel.telling.ended:
            self._channel.drop()
            self._leave()

    def events(self) -> AsyncIterator[Event]:
        """What is heard."""
        return self._channel.telling.events()

    def on(self, told: Frame) -> None:
        """What the worker says."""
        match told.kind:
            case Tell.HEARD:
                self._moved = asyncio.get_running_loop().time()
                self._channel.heard(told.position)
                self._pump()
            case Tell.REPORT:
                self._report(*told.json())
            case Tell.OVER:
                self._end()
            case _:
                log.warning("a speech engine failed", detail=told.payload.decode(errors="replace"))
                self.fail("engine_failed", "The speech engine failed; nothing more is heard.")

    def _pump(self) -> None:
        backlog, worker = self._channel.backlog, self._worker
        if worker is None or self._channel.telling.ended:
            return
        while backlog.untaken and backlog.in_flight < _WINDOW:
            at, pcm = backlog.take(_PIECE)
            # What is heard again would first take back what was already read.
            interim = bytes([self._channel.interim and at >= self._again_until])
            worker.send(frame(Tell.AUDIO, self._number, position=at, payload=interim + pcm))
        if self._finishing and not self._asked_to_finish and not backlog.untaken:
            self._asked_to_finish = True
            worker.send(frame(Tell.FINISH, self._number))

    def _watch(self) -> None:
        """A worker that answers nothing is ended, and what follows is what follows any death."""
        hangs = asyncio.get_running_loop().time() - self._moved > _HANGS_SECONDS
        if self._worker is not None and self._channel.backlog.in_flight >= _WINDOW and hangs:
            self._worker.kill()

    def _report(self, kind: str, number: int, *rest: Any) -> None:
        telling = self._channel.telling
        if kind == "start":
            self._names[number] = telling.began(rest[0])
            return
        name = self._names[number]
        match kind:
            case "partial":
                telling.partial(name, *rest)
            case "end":
                telling.voice_ended(name, rest[0], forced=rest[1])
            case _:
                text, _began, until, words, confidence = rest
                telling.final(name, Heard(text, named(words), confidence), until)
                del self._names[number]
                self._channel.settled(until)
                if notice := self._doubt.heard(confidence):
                    telling.say(notice)

    def _end(self) -> None:
        self._channel.end()
        self._leave()

    def _leave(self) -> None:
        if self._worker is not None:
            if self._worker.attached.pop(self._number, None):
                self._worker.send(frame(Tell.CLOSE, self._number))
            self._worker = None
        self._over(self)
