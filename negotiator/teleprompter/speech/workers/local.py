"""An engine on this machine as a recogniser."""

from dataclasses import replace
from pathlib import Path

from negotiator.errors import Unavailable
from negotiator.teleprompter.speech.endpointing import detector
from negotiator.teleprompter.speech.kinds import KINDS
from negotiator.teleprompter.speech.recognizer import Caps, Recognition, StreamConfig
from negotiator.teleprompter.speech.streams.channel import Channel
from negotiator.teleprompter.speech.workers.pool import Pool


class Local:
    """Hears in worker processes, which are started with the first channel."""

    def __init__(
        self, engine: str, model: Path | None, *, hangover_ms: int, workers: int, streams: int
    ) -> None:
        load = {
            "engine": engine,
            "model": str(model.absolute()) if model else "",
            "hangover_ms": hangover_ms,
        }
        kind = KINDS[engine]
        self.pool = Pool(load, size=workers, most=streams, doubtful=kind.doubtful)
        self._caps = _honest(kind.caps)

    @property
    def caps(self) -> Caps:
        """What it is."""
        return self._caps

    async def open(self, config: StreamConfig) -> Recognition:
        """A new channel."""
        language = config.language.partition("-")[0].lower()
        if self._caps.languages and language not in self._caps.languages:
            known = ", ".join(self._caps.languages)
            raise Unavailable(f"The speech engine here hears only: {known}.")
        channel = Channel(interim=config.interim and self._caps.interim)
        return await self.pool.open(channel, language)

    async def close(self) -> None:
        """End the processes."""
        await self.pool.close()


def _honest(caps: Caps) -> Caps:
    """With what is lesser on this machine said as well."""
    if detector.installed() is not None:
        return caps
    note = f"{caps.quality_note} Ends of speech are found by loudness, since silero-vad is not installed."
    return replace(caps, quality_note=note)
