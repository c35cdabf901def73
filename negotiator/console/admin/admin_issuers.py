"""`/admin/issuers`: the identity providers whose word on people counts; adding, changing, checking, ending trust."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import FieldError, NotFound, ValidationFailed
from negotiator.base.scopes import ASSISTANT
from negotiator.base.strict_json import read_object
from negotiator.console.admin.admin_router import ISSUERS_PATH, AdminRouter, with_blanks
from negotiator.console.admin.issuer_form import blank_issuer, read_issuer, write_issuer
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import NO_FIELD, FormFields, RefusedField, field_error
from negotiator.console.people.scope_words import describe_scopes
from negotiator.trust import issuer_queries, keysets
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuers import ALGORITHMS, Issuer
from negotiator.trust.keysets import KeysRefused

_NOTICES: Final = {
    "kept": "The issuer is trusted as it stands here.",
    "removed": "The issuer is not trusted any more. Every token that stood on its word has ended.",
    "person": "Everything that this person's agents held on the issuer's word has ended.",
}


@dataclass(frozen=True, slots=True)
class AdminIssuers:
    """Issuers, by the functions of `negotiator issuers`."""

    admin: AdminRouter
    fetcher: Fetcher
    allow_loopback: bool

    def routes(self) -> list[Route]:
        form = partial(self.admin.form, back=ISSUERS_PATH)
        return [
            self.admin.page(ISSUERS_PATH, self.show),
            self.admin.page(f"{ISSUERS_PATH}/one", self.show_one),
            form(f"{ISSUERS_PATH}/keep", self.keep),
            form(f"{ISSUERS_PATH}/check", self.check),
            form(f"{ISSUERS_PATH}/remove", self.remove),
            form(f"{ISSUERS_PATH}/person", self.revoke_person),
        ]

    async def show(self, request: Request, session: SignedInSession) -> Response:
        return await self._list(session, notice=_NOTICES.get(request.query_params.get("told", ""), ""))

    async def show_one(self, request: Request, session: SignedInSession) -> Response:
        """The form of one issuer, or of a new one."""
        name = request.query_params.get("issuer", "")
        typed = write_issuer(await self._find(name)) if name else blank_issuer(tuple(ASSISTANT))
        return self._form(session, typed, is_known=bool(name))

    async def keep(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Trust an issuer, or change how it is trusted."""
        known = "known" in form
        own = self.admin.router.pages.base
        try:
            issuer = read_issuer(form)
            issuer_queries.check_issuer(issuer, own=own, allow_loopback=self.allow_loopback)
            await self._check_published(issuer)
            await self.admin.router.store.write(
                lambda tx: issuer_queries.add(
                    tx, issuer, own=own, allow_loopback=self.allow_loopback, actor=session.user_id
                )
            )
        except ValidationFailed as refusal:
            return self._form(session, form, is_known=known, error=field_error(refusal))
        return self.admin.see(ISSUERS_PATH, "kept")

    async def check(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Read the issuer's keys now, and say what was found."""
        issuer = await self._find(form.get("issuer", ""))
        is_good, sentence = await self._read_keys(issuer)
        return await self._list(session, checked=(issuer.issuer, sentence, is_good))

    async def remove(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        issuer = form.get("issuer", "")
        await self.admin.router.store.write(lambda tx: issuer_queries.remove(tx, issuer, actor=session.user_id))
        return self.admin.see(ISSUERS_PATH, "removed")

    async def revoke_person(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """End everything that stands on this issuer's word about one person."""
        issuer, subject = form.get("issuer", ""), form.get("subject", "").strip()
        if not subject:
            error = ("subject", "Type the name of the person at the issuer (its `sub`).")
            return await self._list(session, error=error, error_of=issuer)
        await self.admin.router.store.write(
            lambda tx: issuer_queries.revoke_subject(
                tx, issuer, subject, tenant=form.get("tenant", "").strip(), actor=session.user_id
            )
        )
        return self.admin.see(ISSUERS_PATH, "person")

    async def _find(self, name: str) -> Issuer:
        found = await self.admin.router.store.read(issuer_queries.list_issuers)
        issuer = next((each for each in found if each.issuer == name), None)
        if issuer is None:
            raise NotFound("This issuer is not trusted.")
        return issuer

    async def _check_published(self, issuer: Issuer) -> None:
        """422 when the keys that the issuer publishes fit none of its algorithms; keys that cannot be read may come."""
        try:
            document, _ = await self._document(issuer)
            misfit = keysets.misfit(issuer.algorithms, keysets.fitting_algorithms(document))
        except (FetchFailed, KeysRefused, ValueError):
            return
        if misfit:
            raise ValidationFailed([FieldError("/algorithm", f"{misfit[0].upper()}{misfit[1:]}.")])

    async def _document(self, issuer: Issuer) -> tuple[dict[str, Any], str]:
        """The issuer's key set and where it is, in words; raises `FetchFailed` and `ValueError`."""
        if issuer.jwks:
            return read_object(issuer.jwks.encode()), "given here"
        uri = issuer.jwks_uri or await keysets.discover(self.fetcher, issuer.issuer)
        fetched = await self.fetcher.document(uri, limit=keysets.MAX_BYTES)
        return fetched.body, f"at {uri}"

    async def _read_keys(self, issuer: Issuer) -> tuple[bool, str]:
        try:
            document, place = await self._document(issuer)
            keys = keysets.parse(document, issuer.algorithms).keys
            misfit = keysets.misfit(issuer.algorithms, keysets.fitting_algorithms(document))
            count = len({kid for kid, _, _ in keys})
        except FetchFailed as failed:
            return False, f"Its keys cannot be read now: {failed.detail}"
        except (KeysRefused, ValueError) as refused:
            return False, f"Its keys are unusable: {refused}"
        if misfit:
            return False, f"{misfit[0].upper()}{misfit[1:]}, {place}."
        return True, f"{count} usable {'key' if count == 1 else 'keys'}, {place}."

    async def _list(
        self,
        session: SignedInSession,
        *,
        notice: str = "",
        checked: tuple[str, str, bool] = ("", "", True),
        error: RefusedField = NO_FIELD,
        error_of: str = "",
    ) -> Response:
        return self.admin.render(
            "admin_issuers.html",
            session,
            "issuers",
            422 if error[0] else 200,
            issuers=await self.admin.router.store.read(issuer_queries.list_issuers),
            in_words=describe_scopes,
            notice=notice,
            checked=checked,
            error=error,
            error_of=error_of,
        )

    def _form(
        self, session: SignedInSession, typed: FormFields, *, is_known: bool, error: RefusedField = NO_FIELD
    ) -> Response:
        return self.admin.render(
            "admin_issuer.html",
            session,
            "issuers",
            422 if error[0] else 200,
            typed=with_blanks(typed),
            is_known=is_known,
            error=error,
            algorithms=ALGORITHMS,
            scopes=describe_scopes(ASSISTANT),
            ticked=[name.removeprefix("scope:") for name in typed if name.startswith("scope:")],
        )
