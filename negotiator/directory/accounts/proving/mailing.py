"""A code to a mailbox: whoever can read it there and say it here has the address."""

import re
from dataclasses import dataclass
from typing import Final

from negotiator.agents.mail import Mailer
from negotiator.telemetry import logger

log = logger(__name__)

_SHOWN: Final = 40
_NOT_A_NAME = re.compile(r"[^\w -]+")
_TEXT = """{code} is the code of the agent "{name}" at {base}.

The agent registered at this directory with your address. If it is yours, give it the code within ten minutes. If you
know nothing of this, do nothing: without the code your address is nobody's.
"""


@dataclass(frozen=True, slots=True)
class Mailing:
    """Writes to mailboxes. No link is in the mail: programs open links, and opening must prove nothing."""

    base: str
    mailer: Mailer

    async def send(self, code: str, *, email: str, agent_name: str) -> None:
        """Send the code. The agent's answer never depends on whether that worked."""
        text = _TEXT.format(code=code, name=harmless(agent_name), base=self.base)
        try:
            await self.mailer.send(email, "A code for your agent", text)
        except OSError as failure:
            log.error("mail could not be sent", error=str(failure))


def harmless(name: str) -> str:
    """A stranger's words, cut until they can neither advertise nor point anywhere."""
    return " ".join(_NOT_A_NAME.sub(" ", name).split())[:_SHOWN].strip() or "unnamed"
