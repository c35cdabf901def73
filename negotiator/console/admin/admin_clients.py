"""`/admin/clients`: the OAuth clients; adding one, giving it a new secret, revoking it.

`/admin/registrations`: the agents that registered last, and for whom they work.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents import registration
from negotiator.base.errors import NotFound
from negotiator.base.strict_json import read_object
from negotiator.console.admin.admin_router import (
    AFTER_EVERY_ID,
    CLIENTS_PATH,
    PAGE_SIZE,
    REGISTRATIONS_PATH,
    AdminRouter,
    with_blanks,
)
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import NO_FORM, FormFields, RefusedForm, UnreadFields
from negotiator.console.people.scope_words import NOTHING_CHOSEN, describe_scopes
from negotiator.tokens import client_authentication, clients
from negotiator.tokens.clients import NewClient
from negotiator.tokens.tables import Client
from negotiator.trust.keysets import KeysRefused
from negotiator.users import user_queries

_PROOFS: Final = {"secret": clients.SECRET_METHODS[0], "keys": clients.PRIVATE_KEY_JWT, "none": "none"}
_FIELDS: Final = {"redirect_uri": "redirects", "auth_method": "proof", "grant": "proof"}
"""The names of the form's fields for those of a client."""


@dataclass(frozen=True, slots=True)
class AdminClients:
    """Clients, by the functions of `negotiator clients`."""

    admin: AdminRouter
    offered: tuple[str, ...]
    usual: tuple[str, ...]

    def routes(self) -> list[Route]:
        form = partial(self.admin.form, back=CLIENTS_PATH)
        return [
            self.admin.page(CLIENTS_PATH, self.page),
            form(f"{CLIENTS_PATH}/add", self.add, again=self.page),
            form(f"{CLIENTS_PATH}/allow", self.allow, again=self.page),
            form(f"{CLIENTS_PATH}/{{id}}/secret", self.change_secret),
            form(f"{CLIENTS_PATH}/{{id:path}}/remove", self.remove),
        ]

    async def add(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Add a client; its secret, if it has one, is on the answer and nowhere else."""
        new = _read_client(form)
        client_id, secret = await self.admin.router.store.write(lambda tx: clients.add(tx, new, actor=session.user_id))
        if secret:
            return await self.page(request, session, shown=(client_id, secret))
        return self.admin.see(CLIENTS_PATH, "added")

    async def allow(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Let a client known by its document work for itself."""
        address, scopes = form.get("address", "").strip(), _ticked_scopes(form)
        if not scopes:
            raise UnreadFields({"allowed": NOTHING_CHOSEN})
        await self.admin.router.store.write(lambda tx: clients.allow(tx, address, scopes, actor=session.user_id))
        return self.admin.see(CLIENTS_PATH, "allowed")

    async def change_secret(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """A new secret, on the answer and nowhere else; the old one stops at once."""
        client_id: str = request.path_params["id"]
        secret = await self.admin.router.store.write(
            lambda tx: clients.change_secret(tx, client_id, actor=session.user_id)
        )
        return await self.page(request, session, shown=(client_id, secret))

    async def remove(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        client_id: str = request.path_params["id"]
        await self.admin.router.store.write(lambda tx: clients.remove(tx, client_id, actor=session.user_id))
        return self.admin.see(CLIENTS_PATH, "removed")

    async def page(
        self,
        _request: Request,
        session: SignedInSession,
        form: RefusedForm = NO_FORM,
        *,
        shown: tuple[str, str] | None = None,
    ) -> Response:
        """The page; `shown` are the id of a client and its secret, which is shown once."""
        found: list[Client] = await self.admin.router.store.read(clients.list_clients)
        return self.admin.render(
            "admin_clients.html",
            session,
            "clients",
            form.status,
            clients=list(reversed(found)),
            in_words=describe_scopes,
            scopes=describe_scopes(self.offered),
            ticked=_ticked_scopes(form.typed) if form.typed else self.usual,
            secret_methods=clients.SECRET_METHODS,
            proves_by_keys=clients.PRIVATE_KEY_JWT,
            typed=with_blanks(form.typed),
            faults=form.faults(_field_of),
            shown=shown,
        )


def _read_client(form: FormFields) -> NewClient:
    name = form.get("name", "").strip()
    if not name or len(name) > 100:
        raise UnreadFields({"name": "A client needs a name of up to 100 characters."})
    scopes = _ticked_scopes(form)
    if not scopes:
        raise UnreadFields({"scope": NOTHING_CHOSEN})
    redirects = tuple(form.get("redirects", "").split())
    signs_in = form.get("kind") == "people"
    if signs_in and not redirects:
        raise UnreadFields({"redirects": "Name at least one address that people return to."})
    proof = _PROOFS.get(form.get("proof", ""), _PROOFS["secret"])
    return NewClient(
        name,
        clients.CODE_FLOW_GRANTS if signs_in else clients.USERLESS_GRANTS,
        scopes,
        redirects if signs_in else (),
        proof,
        jwks=_read_keys(form.get("jwks", "")) if proof == clients.PRIVATE_KEY_JWT else None,
    )


def _read_keys(text: str) -> str:
    try:
        return client_authentication.read_client_keys(read_object(text.encode()))
    except (KeysRefused, ValueError) as unusable:
        raise UnreadFields({"jwks": f"This is no set of public keys (JWK Set): {unusable}."}) from None


def _field_of(pointer: str) -> str:
    name = pointer.removeprefix("/")
    return _FIELDS.get(name, name)


def _ticked_scopes(form: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name.removeprefix("scope:") for name in form if name.startswith("scope:"))


@dataclass(frozen=True, slots=True)
class AdminRegistrations:
    """Agents of both services, newest first."""

    admin: AdminRouter

    def routes(self) -> list[Route]:
        return [
            self.admin.page(REGISTRATIONS_PATH, self.show),
            self.admin.form(f"{REGISTRATIONS_PATH}/{{id}}/end", self.end, back=REGISTRATIONS_PATH),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        before = request.query_params.get("before", AFTER_EVERY_ID)
        rows = await self.admin.router.store.read(
            lambda tx: [
                (agent, user_queries.by_id(tx, agent.user_id) if agent.user_id else None)
                for agent in registration.newest(tx, before=before, limit=PAGE_SIZE + 1)
            ]
        )
        return self.admin.render(
            "admin_registrations.html",
            session,
            "registrations",
            rows=rows[:PAGE_SIZE],
            older=rows[PAGE_SIZE - 1][0].id if len(rows) > PAGE_SIZE else "",
            is_first=before == AFTER_EVERY_ID,
        )

    async def end(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        agent_id: str = request.path_params["id"]
        if not await self.admin.router.store.write(
            lambda tx: registration.end_any(tx, agent_id, actor=session.user_id)
        ):
            raise NotFound("There is no active agent with this id.")
        return self.admin.see(REGISTRATIONS_PATH, "ended")
