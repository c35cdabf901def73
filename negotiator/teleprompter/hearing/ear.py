"""tmp"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.cue import Speaker
from negotiator.teleprompter.cues.matcher import Match, matcher_of, pieces
from negotiator.teleprompter.cues.policy import Card


@dataclass(frozen=True, slots=True)
class Ahead:
    """x"""

    text: str
    matches: Sequence[Match]
    cards: Sequence[Card] = ()


class Ear:
    """x"""

    def __init__(self, embedder: Any) -> None:
        self.embedder = embedder
        self.matcher = matcher_of(cue_catalogue())
        self._head: Any = None

    @property
    def catalogue(self) -> Any:
        return self.matcher.catalogue

    async def listen(
        self, owner: str, text: str, speaker: Speaker, *, final: bool, role: Any, session: Any
    ) -> Ahead:
        """x"""
        from negotiator.teleprompter.cues.head import learn

        if self._head is None:
            c = self.catalogue
            self._head = (
                await learn(self.embedder, tuple(c.cues), [*c.examples("them"), *c.examples("me")])
            ).head()
        vectors = await self.embedder.embed(pieces(text))
        return Ahead(text, self.matcher.match(text, speaker, head=self._head, vectors=vectors))
