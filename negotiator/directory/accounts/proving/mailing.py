"""Mails a code to an address that an agent claims; the agent that can repeat the code has the mailbox."""

from dataclasses import dataclass

from negotiator.agents.mail import Mailer, quoted

_TEXT = """{code} is the code of the agent {name} at {base}.

The agent registered at this directory with your address. If it is yours, give it the code within ten minutes. If you
know nothing of this, do nothing: without the code the agent cannot prove that your address is its own.
"""


@dataclass(frozen=True, slots=True)
class Mailing:
    """Sends codes. The mail has no link: mail programs open links, and opening one must prove nothing."""

    base: str
    mailer: Mailer

    async def send(self, code: str, *, email: str, agent_name: str) -> None:
        """Send the code; the registration's answer is the same whether that works or not."""
        text = _TEXT.format(code=code, name=quoted(agent_name), base=self.base)
        await self.mailer.send(email, "A code for your agent", text)
