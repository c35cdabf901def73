"""`/api/teleprompter/sessions`: opened, found, paused, ended, erased."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from negotiator import values
from negotiator.cursors import Cursors
from negotiator.edge.operation import Answer, Call, Operation, Tool
from negotiator.errors import InsufficientScope, Unavailable
from negotiator.negotiations import sessions as negotiations
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.routes import ONE, STREAM
from negotiator.teleprompter.sessions import moving, rows
from negotiator.teleprompter.sessions.schemas import (
    ListSessions,
    OpenSession,
    SessionId,
    SessionList,
    SessionView,
)
from negotiator.teleprompter.sessions.view import DEAF, PATH, Views

_BINDING: Final = frozenset({"negotiations:read"})


@dataclass(frozen=True, slots=True)
class Sessions:
    """The life of a session; what is said in it is beside this, in `routes`."""

    store: Store
    cursors: Cursors
    listening: Listening
    views: Views

    def operations(self) -> list[Operation]:
        """What this slice offers."""
        return [*self._life(), *self._reading(), *self._switches()]

    def _life(self) -> list[Operation]:
        return [
            Operation(
                name="open_teleprompter_session",
                method="POST",
                path=PATH,
                summary="Open a session for a call, with the consent it is listened to under",
                run=self.open,
                input=OpenSession,
                output=SessionView,
                status=201,
                scopes=STREAM,
                creates=True,
                refusals=(400, 404, 409, 422, 503),
                tool=Tool(
                    "Open a teleprompter session",
                    hint=(
                        "Use it before a live call, and ask the user who agreed to be listened to. Then send each "
                        "utterance to hear_utterance."
                    ),
                    leave_out=(
                        *("source", "language", "role", "consent.at", "consent.jurisdiction"),
                        "idempotency_key",
                    ),
                ),
                tag="teleprompter",
            ),
            Operation(
                name="delete_teleprompter_session",
                method="DELETE",
                path=ONE,
                summary="Erase a session with all that was said in it, so that no byte of it is left",
                run=self.delete,
                input=SessionId,
                status=204,
                scopes=STREAM,
                refusals=(404,),
                tag="teleprompter",
            ),
        ]

    def _reading(self) -> list[Operation]:
        return [
            Operation(
                name="list_teleprompter_sessions",
                method="GET",
                path=PATH,
                summary="List your sessions, newest first",
                run=self.list,
                input=ListSessions,
                output=SessionList,
                scopes=STREAM,
                refusals=(400, 422),
                tag="teleprompter",
            ),
            Operation(
                name="get_teleprompter_session",
                method="GET",
                path=ONE,
                summary="Read one session: its state, who hears, and until when it is kept",
                run=self.get,
                input=SessionId,
                output=SessionView,
                scopes=STREAM,
                refusals=(404,),
                tag="teleprompter",
            ),
        ]

    def _switches(self) -> list[Operation]:
        """Pausing, resuming and ending: alike but for the change."""
        switches: tuple[tuple[str, moving.Change, str], ...] = (
            ("pause", moving.pause, "Stop listening for a while; the gap is marked"),
            ("resume", moving.resume, "Listen again"),
            ("end", partial(moving.end, reason="asked"), "End a teleprompter session"),
        )

        def run(change: moving.Change) -> Any:
            async def switch(call: Call[SessionId]) -> SessionView:
                changed = await self.listening.change(call.caller, call.input.id, change)
                return self.views.of(changed)

            return switch

        return [
            Operation(
                name=f"{word}_teleprompter_session",
                method="POST",
                path=f"{ONE}/{word}",
                summary=summary,
                run=run(change),
                input=SessionId,
                output=SessionView,
                scopes=STREAM,
                refusals=(400, 404, 409),
                tag="teleprompter",
                tool=Tool("End a teleprompter session", hint="Use it when the call is over.")
                if word == "end"
                else None,
            )
            for word, change, summary in switches
        ]

    async def open(self, call: Call[OpenSession]) -> SessionView:
        """Open a session; a negotiation has to be the caller's own and readable to him."""
        asked, owner, now = call.input, call.caller.principal, values.now()
        named = asked.negotiation_id
        if asked.source == "audio" and self.views.engine["id"] == DEAF:
            raise Unavailable(self.views.engine["quality_note"], error="no_engine")
        if named is not None and not call.caller.scopes >= _BINDING:
            raise InsufficientScope(sorted(STREAM | _BINDING))
        given = asked.model_dump(mode="json")
        given["consent"]["at"] = given["consent"]["at"] or values.timestamp(now)

        def unit(tx: Transaction) -> SessionView:
            if named is not None:
                talk = negotiations.load(tx, owner, named)
                given["role"] = given["role"] or talk.body.role
            session = rows.Session(
                id=values.new_id("live"),
                owner=owner,
                negotiation=named,
                state="ready",
                given=given,
                screen={},
                seq=0,
                producer="",
                heard_ms=0,
                created_at=now,
                active_at=now,
                ended_at=None,
                ends_at=now + moving.IDLE,
                forget_at=None,
            )
            return self.views.of(moving.opened(tx, session))

        opened = await self.store.write(call.once(unit))
        self.listening.ear.prepare()
        return opened

    async def list(self, call: Call[ListSessions]) -> Any:
        """One page of the caller's sessions."""
        asked, owner = call.input, call.caller.principal
        bound = ("teleprompter sessions", owner, asked.state)
        before = None if asked.cursor is None else self.cursors.open(asked.cursor, *bound)
        found = await self.store.read(
            lambda tx: rows.page(tx, owner, state=asked.state, before=before, limit=asked.limit + 1)
        )
        listed = found[: asked.limit]
        more = len(found) > asked.limit
        cursor = self.cursors.seal(listed[-1].id, *bound) if more else None
        return {"items": [self.views.of(each) for each in listed], "next_cursor": cursor}

    async def get(self, call: Call[SessionId]) -> SessionView:
        """One of the caller's sessions."""
        owner, asked = call.caller.principal, call.input
        return self.views.of(await self.store.read(lambda tx: rows.find(tx, owner, asked.id)))

    async def delete(self, call: Call[SessionId]) -> Answer:
        """Erase it; those who follow are told nothing more."""
        owner, asked = call.caller.principal, call.input
        await self.store.write(lambda tx: rows.remove(tx, owner, asked.id))
        self.listening.log.bus.tell(asked.id)
        await self.store.scrub()
        return Answer(None, 204)
