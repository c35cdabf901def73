"""Which questions of which negotiation a user asks later: kept in a cookie, so by one browser alone."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from negotiator.base.values import DAY
from negotiator.console.cookies import BrowserCookies

LIFE: Final = 90 * DAY // 1000
MAX_KEPT: Final = 40
"""Questions of all negotiations; the oldest is forgotten first."""


@dataclass(frozen=True, slots=True)
class AskedLater:
    """Reads and writes the cookie; its text is `negotiation.question`, joined by `~`."""

    cookies: BrowserCookies

    def read(self, request: Request, negotiation: str) -> Set[str]:
        """The names of the questions that were put away."""
        kept = (one.partition(".") for one in self._kept(request))
        return {question for named, _, question in kept if named == negotiation}

    def write(self, request: Request, response: Response, negotiation: str, question: str) -> None:
        """Put one more question away; without one, all of the negotiation are asked again."""
        kept = self._kept(request)
        if question and question.replace("/", "").replace("_", "").isalnum() and question.isascii():
            kept = [*(one for one in kept if one != f"{negotiation}.{question}"), f"{negotiation}.{question}"]
        elif not question:
            kept = [one for one in kept if not one.startswith(f"{negotiation}.")]
        self.cookies.write(response, "asked-later", "~".join(kept[-MAX_KEPT:]), life=LIFE)

    def _kept(self, request: Request) -> list[str]:
        return [one for one in self.cookies.read(request, "asked-later").split("~") if one]
