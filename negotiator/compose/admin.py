"""The pages of administrators, and the services outside of this process that they may try."""

from typing import Final
from urllib.parse import urlsplit

from negotiator.advice.advisor import Advisor, WordingRequest
from negotiator.agents.mail import Mailer, allow_mail
from negotiator.base import scopes
from negotiator.base.errors import Refusal
from negotiator.compose.services import Component, Services
from negotiator.config.settings import Settings
from negotiator.console.admin.admin_clients import AdminClients, AdminRegistrations
from negotiator.console.admin.admin_issuers import AdminIssuers
from negotiator.console.admin.admin_people import AdminPeople
from negotiator.console.admin.admin_router import AdminAudit, AdminRouter, AdminServices, TrialResult, TriedService
from negotiator.console.browser_sessions import SignedInSession
from negotiator.memory.embedding.embedder import Embedder

_LINE: Final = "We would sign this week if the price were closer to what we discussed."
_SENTENCE: Final = "The supplier gave ten percent after we named a rival."
_ADVISOR_SECONDS: Final = 20.0
_MAIL: Final = "This is a trial from {base}. Mail works.\n"


def build_admin_pages(services: Services, tried: tuple[TriedService, ...]) -> Component:
    """Build the pages; `tried` are the services that other components brought."""
    settings, admin = services.settings, AdminRouter(services.page_router)
    people = AdminPeople(admin, services.mails, bool(settings.smtp_url), services.secret)
    issuers = AdminIssuers(admin, services.fetcher, settings.allow_loopback_fetch)
    offered = tuple(scopes.of_services(settings.services))
    clients = AdminClients(admin, offered, scopes.default_scopes(settings.services))
    trials = AdminServices(admin, (_try_mail(services), *tried))
    pages = (people, issuers, clients, AdminRegistrations(admin), trials, AdminAudit(admin))
    return Component(pages=tuple(route for each in pages for route in each.routes()))


def _try_mail(services: Services) -> TriedService:
    """Sends a mail to the administrator who asks, within the limits of every mail."""
    settings, mailer, store = services.settings, services.mailer, services.store
    host = urlsplit(settings.smtp_url).hostname

    async def run(session: SignedInSession) -> TrialResult:
        email = session.email
        if email is None:
            return TrialResult(False, "Your account has no e-mail address to send to.")
        if not await store.write(lambda tx: allow_mail(tx, email)):
            return TrialResult(False, "Your address got a mail in the last ten minutes, or three today. Try later.")
        return await _send_trial(mailer, email, settings.base_url)

    def state() -> str:
        if host:
            return f"Mails are sent through {host}, from {settings.mail_from}."
        return "No mail server is set up: mails are written into a folder. Set NEGOTIATOR_SMTP_URL."

    return TriedService("mail", "Mail", state, "Send me a mail" if host else "", run)


async def _send_trial(mailer: Mailer, email: str, base: str) -> TrialResult:
    result = await mailer.send(email, "A trial mail", _MAIL.format(base=base))
    if result.failure:
        return TrialResult(False, f"The mail was not sent: {result.failure.rstrip('.')}.")
    return TrialResult(True, f"The mail server took the mail to {email}. Look whether it arrives.")


def try_advisor(settings: Settings, advisor: Advisor) -> TriedService:
    """Asks the language model to reword one harmless line."""

    async def run(_session: SignedInSession) -> TrialResult:
        request = WordingRequest({"/line": _LINE}, "A trial", seconds=_ADVISOR_SECONDS)
        worded = await advisor.word(request)
        if worded.by == "engine":
            return TrialResult(False, "No usable answer came back; the server's log says why.")
        return TrialResult(True, "It reworded a line:", worded.texts["/line"])

    def state() -> str:
        if not advisor.is_on:
            return "No language model is set up: sentences stay as they are worded here. Set NEGOTIATOR_ADVISOR_URL."
        host = urlsplit(settings.advisor_url).hostname
        works, _, fault = advisor.check().partition(": ")
        state = "It answers." if works == "ok" else f"It is not used now: {fault}."
        return f"{settings.advisor_model} at {host} rewords sentences. {state}"

    button = "Ask for one line" if advisor.is_on else ""
    return TriedService("advisor", "Advisor", state, button, run)


def try_embedder(embedder: Embedder) -> TriedService:
    """Makes the vector of one sentence."""

    async def run(_session: SignedInSession) -> TrialResult:
        try:
            await embedder.prepare()
            vectors = await embedder.embed([_SENTENCE])
        except Refusal as refusal:
            detail = f" {refusal.detail}" if refusal.detail else ""
            return TrialResult(False, f"{refusal.description}{detail}")
        return TrialResult(True, f"One sentence became {len(vectors[0])} numbers.")

    def state() -> str:
        lesser = f" A better one is missing: {embedder.lesser}." if embedder.lesser else ""
        return f"{embedder.model} finds memories by their meaning ({embedder.state}).{lesser}"

    return TriedService("embedding", "Search by meaning", state, "Try one sentence", run)
