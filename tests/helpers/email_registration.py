"""Registration by an email address, and the mails that the service sends."""

import re

from negotiator.config.settings import Settings
from tests.helpers.fake_issuer import registration
from tests.helpers.form_browser import BASE

REGISTER = "/api/agent/register"


def by_email(assertion: str, name: str = "mailer") -> dict[str, str]:
    """The body that registers by an e-mail."""
    return {**registration(assertion, name), "assertion_type": "verified_email"}


def outbox(settings: Settings) -> list[tuple[str, str]]:
    """Every mail so far: its recipient and its link."""
    mails: list[tuple[str, str]] = []
    for path in sorted((settings.data_dir / "outbox").glob("*.eml")):
        text = path.read_text()
        link = re.search(f"^ *{re.escape(BASE)}(/approve/[A-Za-z0-9_-]{{43}})$", text, re.MULTILINE)
        to = re.search("^To: (.+)$", text, re.MULTILINE)
        assert link
        assert to
        mails.append((to[1], link[1]))
    return mails
