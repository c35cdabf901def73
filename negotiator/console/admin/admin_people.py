"""`/admin/people`: who has an account; inviting, making administrators, ending access."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.agents.mail import quote_name
from negotiator.agents.mail_queue import MailQueue
from negotiator.base.errors import Conflict, Forbidden, NotFound
from negotiator.console.admin.admin_router import (
    ADMIN_PATH,
    AFTER_EVERY_ID,
    PAGE_SIZE,
    PEOPLE_PATH,
    AdminRouter,
    with_blanks,
)
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import NO_FORM, FormFields, RefusedForm, UnreadFields, read_name
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.users import password_links, user_queries
from negotiator.users.password_links import NEW_PASSWORD_PATH
from negotiator.users.tables import User

_INVITATION: Final = """{admin} invites you to Negotiator at
{base}. Open this link and choose a password:

    {link}

The link works once, for seven days. If you expect no invitation, do nothing.
"""
_RESET: Final = """An administrator sends you a link for a new password at
{base}:

    {link}

The link works once, for 30 minutes. If you did not ask for it, do nothing: your password stays as it is.
"""


@dataclass(frozen=True, slots=True)
class AdminPeople:
    """Accounts, by the functions of `negotiator users`. Without mail, a link is shown once, to be handed over."""

    admin: AdminRouter
    mails: MailQueue
    sends_mail: bool
    pepper: bytes

    def routes(self) -> list[Route]:
        form = partial(self.admin.form, back=PEOPLE_PATH)
        return [
            self.admin.page(ADMIN_PATH, self.begin),
            self.admin.page(PEOPLE_PATH, self.page),
            form(f"{PEOPLE_PATH}/invite", self.invite, again=self.page),
            form(f"{PEOPLE_PATH}/{{id}}/link", self.send_link),
            form(f"{PEOPLE_PATH}/{{id}}/admin", partial(self.set_admin, is_admin=True)),
            form(f"{PEOPLE_PATH}/{{id}}/no-admin", partial(self.set_admin, is_admin=False)),
            form(f"{PEOPLE_PATH}/{{id}}/end", self.end),
        ]

    async def begin(self, _request: Request, _session: SignedInSession) -> Response:
        return self.admin.router.pages.see(PEOPLE_PATH)

    async def invite(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Make an account without a password, and a link by which its owner chooses one."""
        email, name = user_queries.normalise_email(form.get("email", "")), read_name(form)

        def unit(tx: Transaction) -> User:
            user_id = user_queries.add(tx, email, name=name, is_admin="admin" in form, actor=session.user_id)
            audit.record(tx, "user.invited", user_id, actor=session.user_id)
            return _require(tx, user_id)

        try:
            user = await self.admin.router.store.write(unit)
        except Conflict:
            raise UnreadFields({"email": "Somebody with this address has an account already."}) from None
        text = _INVITATION.format(admin=quote_name(session.greeting), base=self._base, link="{link}")
        return await self._hand_over(request, session, user, text, "invited")

    async def send_link(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """A link for a new password, or again for the first one."""

        def unit(tx: Transaction) -> User:
            user = _require(tx, request.path_params["id"])
            if user.email is None or user.disabled_at is not None:
                raise NotFound("There is no open account with an e-mail address here.")
            audit.record(tx, "user.reset_requested", user.id, actor=session.user_id)
            return user

        user = await self.admin.router.store.write(unit)
        text = (_RESET if user.password_hash else _INVITATION).format(
            admin=quote_name(session.greeting), base=self._base, link="{link}"
        )
        return await self._hand_over(request, session, user, text, "linked")

    async def end(self, request: Request, session: SignedInSession, _form: FormFields) -> Response:
        """Close the account; everything that its agents hold ends with it."""

        def unit(tx: Transaction) -> None:
            user = _other(tx, request, session)
            user_queries.end_access(tx, user.id, actor=session.user_id)

        await self.admin.router.store.write(unit)
        return self.admin.see(PEOPLE_PATH, "ended")

    async def set_admin(
        self, request: Request, session: SignedInSession, _form: FormFields, *, is_admin: bool
    ) -> Response:
        def unit(tx: Transaction) -> None:
            user = _other(tx, request, session)
            user_queries.set_admin(tx, user.id, is_admin, actor=session.user_id)

        await self.admin.router.store.write(unit)
        return self.admin.see(PEOPLE_PATH, "admin" if is_admin else "no-admin")

    async def _hand_over(
        self, request: Request, session: SignedInSession, user: User, text: str, notice: str
    ) -> Response:
        """Send the text with a new link by mail, or show the link once."""
        life = password_links.RESET_LIFE if user.password_hash else password_links.INVITATION_LIFE
        secret = password_links.write_link(self.pepper, user, life=life)
        link = f"{self._base}{NEW_PASSWORD_PATH}/{secret}"
        if not self.sends_mail:
            return await self.page(request, session, link=link, link_for=user)
        email = user.email or ""
        subject = "A new password for Negotiator" if user.password_hash else "Your invitation"
        text = text.replace("{link}", link)
        if not await self.admin.router.store.write(lambda tx: self.mails.add(tx, email, subject, text, life=life)):
            return self.admin.see(PEOPLE_PATH, "many")
        await self.mails.dispatch()
        return self.admin.see(PEOPLE_PATH, notice)

    @property
    def _base(self) -> str:
        return self.admin.router.pages.base

    async def page(
        self,
        request: Request,
        session: SignedInSession,
        form: RefusedForm = NO_FORM,
        *,
        link: str = "",
        link_for: User | None = None,
    ) -> Response:
        words = request.query_params.get("q", "")[:100]
        before = request.query_params.get("before", AFTER_EVERY_ID)
        people = await self.admin.router.store.read(
            lambda tx: user_queries.search(tx, words, before=before, limit=PAGE_SIZE + 1)
        )
        return self.admin.render(
            "admin_people.html",
            session,
            "people",
            form.status,
            people=people[:PAGE_SIZE],
            older=people[PAGE_SIZE - 1].id if len(people) > PAGE_SIZE else "",
            words=words,
            typed=with_blanks(form.typed),
            faults=form.faults(),
            link=link,
            link_for=link_for,
            sends_mail=self.sends_mail,
        )


def _require(tx: Transaction, user_id: str) -> User:
    user = user_queries.by_id(tx, user_id)
    if user is None:
        raise NotFound("There is no account with this id.")
    return user


def _other(tx: Transaction, request: Request, session: SignedInSession) -> User:
    """The user of the request's path, who is not the administrator: no one locks themselves out."""
    user = _require(tx, request.path_params["id"])
    if user.id == session.user_id:
        raise Forbidden("Another administrator has to do this for you.")
    return user
