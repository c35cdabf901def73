"""Registration with an unsigned e-mail address: a mail asks its owner to bind the agent (docs/contract 2.4)."""

from dataclasses import dataclass

from negotiator.agents.mail import quote_name
from negotiator.agents.mail_queue import MailQueue
from negotiator.store.statement import Transaction
from negotiator.users import approval_queries

_TEXT = """An agent that calls itself {name}
registered at {base} and says that it works for you. If you know it, open this link, sign in, and hand the
delegation code that you will see there to the agent:

    {base}/approve/{secret}

The link works for one hour. If you know nothing of this, do nothing: without you the agent gets no access to
anything of yours.
"""


@dataclass(frozen=True, slots=True)
class EmailVerification:
    """Asks the owners of e-mail addresses to bind agents, within the limits of `mail.allow_mail`."""

    base: str
    mails: MailQueue

    def request(self, tx: Transaction, secret: str, *, email: str, agent_id: str, agent_name: str) -> bool:
        """Store the approval that the link with `secret` opens and queue its mail; `mails.dispatch` sends it.

        False when the address got too many mails. The agent's answer is the same whatever becomes of the mail.
        """
        text = _TEXT.format(base=self.base, name=quote_name(agent_name), secret=secret)
        life = approval_queries.LIFE * 1000
        if not self.mails.add(tx, email, "An agent asks to work for you", text, life=life):
            return False
        approval_queries.request_binding(tx, secret, email=email, agent_id=agent_id, agent_name=agent_name)
        return True
