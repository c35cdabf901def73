"""`/admin/submissions`: what was proposed to the directory, the oldest first, and the decision on each, with a reason.

Decisions are those of `negotiator directory submissions`; the administrator is their actor in the audit trail.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import Conflict
from negotiator.console.admin.admin_router import QUEUE_PATH, AdminRouter
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_calls import Members
from negotiator.console.page_router import NO_FORM, FormFields, RefusedForm
from negotiator.console.tools.submission_pages import REASONS, finding, proposed_facts
from negotiator.directory import catalogue_queries, submissions_queries, submissions_transitions
from negotiator.directory.schemas_submissions import SubmissionView
from negotiator.directory.submissions_queries import submission_view
from negotiator.directory.tables import Submission
from negotiator.store.statement import Transaction
from negotiator.users import user_queries

DECISION_PATH: Final = f"{QUEUE_PATH}/{{id}}"
TAB: Final = "submissions"
STATES: Final = ("pending", "changes_requested", "approved", "rejected")
_SHOWN: Final = 200
_NOTE: Final = 2000


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """The place of a submission among those that wait: its number from 1, how many, and its neighbours' ids."""

    number: int
    total: int
    previous: str
    following: str


@dataclass(frozen=True, slots=True)
class AdminSubmissions:
    """The queue and its decisions, for administrators."""

    admin: AdminRouter
    base: str

    def routes(self) -> list[Route]:
        page, form = self.admin.page, self.admin.form
        return [
            page(QUEUE_PATH, self.show_queue),
            page(DECISION_PATH, self.show),
            form(f"{DECISION_PATH}/approve", self.approve, again=self.show, back=QUEUE_PATH),
            form(f"{DECISION_PATH}/send-back", self.send_back, again=self.show, back=QUEUE_PATH),
            form(f"{DECISION_PATH}/reject", self.reject, again=self.show, back=QUEUE_PATH),
        ]

    async def show_queue(self, request: Request, session: SignedInSession) -> Response:
        asked = request.query_params.get("status", "pending")
        status = asked if asked in STATES else "pending"

        def unit(tx: Transaction) -> list[tuple[SubmissionView, str, str]]:
            """Each submission with the name of the tool that it changes, and its sender."""
            rows = submissions_queries.queue(tx, status=status, limit=_SHOWN)
            return [
                (submission_view(tx, row, self.base), (_document(tx, row) or {}).get("name", ""), _sender(tx, row))
                for row in rows
            ]

        return self.admin.render(
            "admin_submissions.html",
            session,
            TAB,
            queue=await self.admin.router.store.scan(unit),
            chosen=status,
            states=STATES,
            decided=request.query_params.get("decided", ""),
        )

    async def approve(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """List the tool, or show the correction, at once."""
        move = partial(submissions_transitions.approve, actor=session.user_id, note=_note(form))
        return await self._decide(request, form, move)

    async def send_back(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Ask the sender for a change."""
        if not (note := _note(form)):
            raise Conflict("Say what is to be changed.")
        move = partial(submissions_transitions.send_back, note=note, reason=_reason(form), actor=session.user_id)
        return await self._decide(request, form, move)

    async def reject(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Do not list it, for a reason of the list."""
        if (reason := _reason(form)) is None:
            raise Conflict("Choose a reason.")
        move = partial(submissions_transitions.reject, reason=reason, note=_note(form), actor=session.user_id)
        return await self._decide(request, form, move)

    async def _decide(
        self, request: Request, form: FormFields, move: Callable[[Transaction, str], Submission]
    ) -> Response:
        """Decide, then go to the next that waits."""
        key: str = request.path_params["id"]

        def unit(tx: Transaction) -> tuple[Submission, QueuePlace | None]:
            if str(submissions_queries.find(tx, key).revision) != form.get("revision", ""):
                raise Conflict("It was changed meanwhile. Look at it again below, then decide.")
            place = _place(tx, key)
            return move(tx, key), place

        decided, place = await self.admin.router.store.write(unit)
        onward = place.following or place.previous if place else ""
        target = f"{QUEUE_PATH}/{onward}" if onward else QUEUE_PATH
        return self.admin.router.pages.see(f"{target}?decided={decided.status}")

    async def show(self, request: Request, session: SignedInSession, form: RefusedForm = NO_FORM) -> Response:
        """The submission and the forms; a refusal, such as of a duplicate, is said on the page."""
        key: str = request.path_params["id"]

        def unit(tx: Transaction) -> Members:
            row = submissions_queries.find(tx, key)
            view = submission_view(tx, row, self.base)
            current = _document(tx, row) if row.type == "update" else None
            return {
                "view": view,
                "current": current,
                "facts": proposed_facts(view, current),
                "sender": _sender(tx, row),
                "place": _place(tx, key),
            }

        return self.admin.render(
            "admin_submission.html",
            session,
            TAB,
            form.status,
            reasons=REASONS,
            finding=finding,
            typed=form.typed,
            said=form.said,
            decided=request.query_params.get("decided", ""),
            **await self.admin.router.store.scan(unit),
        )


def _document(tx: Transaction, row: Submission) -> Members | None:
    """The record of the tool that a submission is about; None for one that is not listed."""
    tool = catalogue_queries.find(tx, row.tool) if row.tool else None
    return orjson.loads(tool.document) if tool else None


def _place(tx: Transaction, key: str) -> QueuePlace | None:
    """The place among those that wait; None for one that does not."""
    ids = [row.id for row in submissions_queries.queue(tx, status="pending", limit=_SHOWN)]
    if key not in ids:
        return None
    at = ids.index(key)
    return QueuePlace(at + 1, len(ids), ids[at - 1] if at else "", ids[at + 1] if at + 1 < len(ids) else "")


def _sender(tx: Transaction, row: Submission) -> str:
    """Who sent a submission: a person by name or address, else an agent by its id."""
    user = user_queries.by_id(tx, row.owner)
    person = (user.name or user.email or user.id) if user else ""
    if person and row.agent:
        return f"{person}, by the agent {row.agent}"
    return person or f"the agent {row.agent or row.owner}"


def _note(form: FormFields) -> str:
    return form.get("note", "").replace("\r\n", "\n").strip()[:_NOTE]


def _reason(form: FormFields) -> str | None:
    reason = form.get("reason", "")
    return reason if reason in REASONS else None
