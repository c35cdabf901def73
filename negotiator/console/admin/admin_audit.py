"""`/admin/audit`: who did what and when, with filters."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents import registration
from negotiator.console.admin.admin_router import AUDIT_PATH, PAGE_SIZE, AdminRouter, with_blanks
from negotiator.console.browser_sessions import SignedInSession
from negotiator.store import audit
from negotiator.store.audit import AuditEvent, AuditFilter
from negotiator.store.statement import Transaction
from negotiator.users import user_queries

_LONGEST = 300


@dataclass(frozen=True, slots=True)
class AdminAudit:
    """The audit trail, newest first."""

    admin: AdminRouter

    def routes(self) -> list[Route]:
        return [self.admin.page(AUDIT_PATH, self.show)]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        query = request.query_params
        typed = {name: query.get(name, "").strip()[:_LONGEST] for name in ("who", "what", "from", "to")}
        since, until = _day(typed["from"]), _day(typed["to"])
        faults = {name: "Not a day." for name in ("from", "to") if typed[name] and not _day(typed[name])}
        before = query.get("before", "")

        def unit(tx: Transaction) -> tuple[list[AuditEvent], dict[str, str]]:
            """The events, and the names of the users and agents in them by id."""
            wanted = AuditFilter(
                party=_party(tx, typed["who"]),
                event=typed["what"] if typed["what"] in audit.EVENTS else "",
                since=_milliseconds(since) if since else None,
                until=_milliseconds(until + timedelta(days=1)) if until else None,
            )
            events = audit.search(tx, wanted, before=before, limit=PAGE_SIZE + 1)
            parties = {party for event in events for party in (event.actor, event.subject)}
            return events, {party: name for party in parties if (name := _name(tx, party))}

        events, names = await self.admin.router.store.read(unit)
        older = ""
        if len(events) > PAGE_SIZE:
            kept = {name: value for name, value in typed.items() if value}
            older = urlencode({**kept, "before": events[PAGE_SIZE - 1].id})
        return self.admin.render(
            "admin_audit.html",
            session,
            "audit",
            422 if faults else 200,
            events=[(event, orjson.loads(event.detail)) for event in events[:PAGE_SIZE]],
            names=names,
            in_words=in_words,
            older=older,
            is_filtered=any(typed.values()),
            typed=typed,
            faults=with_blanks(faults),
            kinds=[(name, in_words(name)) for name in sorted(audit.EVENTS)],
        )


def _name(tx: Transaction, party: str) -> str:
    """The name of a user or an agent; empty for one without."""
    if party.startswith("usr_"):
        user = user_queries.by_id(tx, party)
        return (user and (user.email or user.name)) or ""
    agent = registration.find(tx, party) if party.startswith("agt_") else None
    return f"{agent.name} (agent)" if agent and agent.name else ""


def in_words(event: str) -> str:
    """`user.sign_in_refused` as `User: sign in refused`."""
    subject, _, action = event.partition(".")
    return f"{subject.capitalize()}: {action.replace('_', ' ')}"


def _party(tx: Transaction, who: str) -> str:
    """The id of the user with this e-mail address; any other text stands for itself."""
    user = user_queries.by_email(tx, who.lower()) if "@" in who else None
    return user.id if user else who


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _milliseconds(day: date) -> int:
    return round(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
