"""A Deepgram-style service: audio goes up a WebSocket as it comes, results come down while somebody speaks.

A text KeepAlive goes every four seconds without audio (it closes after ten). When the connection drops, another is
made and the last unsettled seconds go up it again; times are shifted by where it began, since the service counts from
zero.
"""

import asyncio
import json
from typing import Final
from urllib.parse import urlencode, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from negotiator.errors import Unavailable
from negotiator.telemetry import logger
from negotiator.teleprompter.speech.events import Problem
from negotiator.teleprompter.speech.recognizer import RATE, Busy, Caps, Recognition, StreamConfig
from negotiator.teleprompter.speech.remote.results import Results
from negotiator.teleprompter.speech.streams.backlog import PER_MS
from negotiator.teleprompter.speech.streams.channel import Channel
from negotiator.teleprompter.speech.streams.driven import Deaf, Driven

_PIECE: Final = 100 * PER_MS
_QUIET_SECONDS: Final = 4.0
_CONNECT_SECONDS: Final = 10.0
_LAST_SECONDS: Final = 10.0
_DROPS: Final = 3
_PAUSE_SECONDS: Final = 0.25
_USUAL_MS: Final = 1_000
"""What such a service keeps to itself between two answers, which is no lag."""
_ALIVE: Final = '{"type": "KeepAlive"}'
_CLOSE: Final = '{"type": "CloseStream"}'
_GONE: Final = "The speech service cannot be reached; nothing more is heard."
_FAULTS: Final = (OSError, TimeoutError, InvalidHandshake, ConnectionClosed)
log = logger(__name__)


class Deepgram:
    """Hears by `url`, for example `wss://host/v1/listen`, with one connection for each channel."""

    def __init__(self, url: str, *, key: str, model: str, hangover_ms: int, streams: int) -> None:
        host = urlsplit(url).hostname or url
        self._caps = Caps(
            "deepgram",
            "streaming",
            interim=True,
            word_times=True,
            languages=(),
            offline=False,
            quality_note=f"All audio of the call goes to {host} ({model}) as it is spoken: quality is that model's.",
            third_party=host,
        )
        self._url = url
        self._key = key
        self._wishes = {
            "model": model,
            "encoding": "linear16",
            "sample_rate": RATE,
            "channels": 1,
            "punctuate": "true",
            "endpointing": hangover_ms,
            "utterance_end_ms": max(1000, hangover_ms),
        }
        self._most = streams
        self._open: set[Driven] = set()

    @property
    def caps(self) -> Caps:
        """What it is."""
        return self._caps

    async def open(self, config: StreamConfig) -> Recognition:
        """A new channel, connected; `Unavailable` when the service does not take it."""
        if len(self._open) >= self._most:
            raise Busy("every speech stream is taken")
        line = _Line(self._address(config), self._key)
        try:
            await line.connect()
        except _FAULTS as fault:
            raise Unavailable(
                "The speech service cannot be used now.", detail=str(fault)
            ) from fault
        driven = Driven(Channel(interim=config.interim), line.hear, self._open.discard)
        self._open.add(driven)
        return driven

    async def close(self) -> None:
        """End every channel."""
        for driven in list(self._open):
            await driven.close()

    def _address(self, config: StreamConfig) -> str:
        wishes = self._wishes | {
            "language": config.language,
            "interim_results": "true",  # without them it tells of no utterance's end
        }
        return f"{self._url}?{urlencode(wishes)}"


class _Line:
    """One channel's way to the service, over as many connections as it takes."""

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Token {key}"} if key else {}
        self._socket: ClientConnection | None = None
        self._drops = 0

    async def connect(self) -> ClientConnection:
        """A connection; raises one of `_FAULTS`."""
        self._socket = await connect(
            self._address,
            additional_headers=self._headers,
            open_timeout=_CONNECT_SECONDS,
            close_timeout=1,
            compression=None,
            proxy=None,
        )
        return self._socket

    async def hear(self, driven: Driven) -> None:
        """Until the channel is finished; `Deaf` after too many drops in a row."""
        results = Results(driven.channel.telling)
        while not await self._tried(driven, results):
            self._drops += 1
            if self._drops > _DROPS:
                raise Deaf(_GONE)
            notice = (
                "The connection to the speech service dropped; the last seconds are sent again."
            )
            driven.channel.again(Problem("engine_restarted", notice))
            await asyncio.sleep(_PAUSE_SECONDS * 2 ** (self._drops - 1))

    async def _tried(self, driven: Driven, results: Results) -> bool:
        """One connection from its first to its last message; whether it ended because the channel did."""
        try:
            socket = self._socket or await self.connect()
        except _FAULTS as fault:
            log.warning("a speech service is away", detail=str(fault))
            return False
        self._socket = None
        try:
            results.connected(driven.channel.backlog.taken // PER_MS)
            return await self._talk(driven, results, socket=socket)
        except _FAULTS as fault:
            log.warning("a speech service dropped a connection", detail=str(fault))
            return False
        finally:
            await socket.close()

    async def _talk(self, driven: Driven, results: Results, *, socket: ClientConnection) -> bool:
        """Both directions at once."""
        sending = asyncio.create_task(self._send(driven, socket))
        receiving = asyncio.create_task(self._receive(driven, results, socket=socket))
        try:
            await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                receiving.result()
                return False
            sending.result()
            await asyncio.wait({receiving}, timeout=_LAST_SECONDS)
            results.over()
            return True
        finally:
            sending.cancel()
            receiving.cancel()
            await asyncio.gather(sending, receiving, return_exceptions=True)

    async def _send(self, driven: Driven, socket: ClientConnection) -> None:
        channel = driven.channel
        while True:
            if not await driven.more(_QUIET_SECONDS):
                await socket.send(_ALIVE)
                continue
            at, pcm = channel.backlog.take(_PIECE)
            if not pcm:
                await socket.send(_CLOSE)
                return
            await socket.send(pcm)
            channel.heard(at + len(pcm) // 2)

    async def _receive(self, driven: Driven, results: Results, *, socket: ClientConnection) -> None:
        channel = driven.channel
        async for message in socket:
            try:
                results.on(json.loads(message), interim=channel.interim)
            except (ValueError, KeyError, IndexError, TypeError, AttributeError) as fault:
                raise Deaf("The speech service answers what is not understood.") from fault
            self._drops = 0
            channel.elsewhere_ms = max(
                0, channel.backlog.taken // PER_MS - results.answered_ms - _USUAL_MS
            )
            channel.settled(results.settled_ms)
