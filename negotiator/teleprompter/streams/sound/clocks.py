"""How far the sound of each channel came: the audio clock goes on over lost connections."""

from dataclasses import dataclass, field
from typing import Final

_REMEMBERED: Final = 4096


@dataclass(slots=True)
class Clocks:
    """Milliseconds received, by session and channel, as this process saw them."""

    _seen: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def resume(self, session: str, channel: str, kept_ms: int) -> int:
        """Where a channel goes on. What the session's row says counts unless this process saw more since."""
        seen = self._seen.get(session, {})
        return seen.get(channel, 0) if max(seen.values(), default=0) >= kept_ms > 0 else kept_ms

    def note(self, session: str, channel: str, ms: int) -> None:
        """So much was received."""
        if session not in self._seen and len(self._seen) >= _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self._seen.setdefault(session, {})[channel] = ms
