"""`/admin/issuers`: the identity providers whose word on people counts; adding, changing, checking, ending trust."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import NotFound
from negotiator.base.scopes import ASSISTANT
from negotiator.base.strict_json import read_object
from negotiator.console.admin.admin_router import ISSUERS_PATH, AdminRouter, with_blanks
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_router import NO_FORM, FormFields, RefusedForm, UnreadFields
from negotiator.console.people.scope_words import describe_scopes
from negotiator.trust import issuer_queries, keysets
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuers import ALGORITHMS, Issuer, check_algorithms
from negotiator.trust.keysets import KeysRefused

DISCOVERED: Final = "discover"
BY_ADDRESS: Final = "address"
GIVEN: Final = "given"


def read_issuer(form: FormFields) -> Issuer:
    """The configuration that the form describes; 422 with the form's field that is wrong."""
    address = form.get("issuer", "").strip()
    if not address:
        raise _fault("issuer", "Type the address by which the provider names itself.")
    try:
        algorithms = check_algorithms(name.removeprefix("algorithm:") for name in form if name.startswith("algorithm:"))
    except ValueError as fault:
        raise _fault("algorithm", f"{fault}.") from None
    keys, jwks_uri = form.get("keys", DISCOVERED), form.get("jwks_uri", "").strip()
    if keys == BY_ADDRESS and not jwks_uri:
        raise _fault("jwks_uri", "Type the address of its keys.")
    return Issuer(
        address,
        algorithms,
        jwks=_read_keys(form.get("jwks", ""), algorithms) if keys == GIVEN else "",
        jwks_uri=jwks_uri if keys == BY_ADDRESS else "",
        clients=frozenset(form.get("clients", "").split()),
        scopes=tuple(name.removeprefix("scope:") for name in form if name.startswith("scope:")),
        email_domains=tuple(form.get("email_domains", "").replace(",", " ").split()),
        email_verifier="email_verifier" in form,
        max_auth_age=_read_hours(form.get("max_auth_age", "").strip()),
        tenanted="tenanted" in form,
    )


def write_issuer(issuer: Issuer) -> FormFields:
    """The fields of the form that describe this configuration."""
    keys = GIVEN if issuer.jwks else BY_ADDRESS if issuer.jwks_uri else DISCOVERED
    hours = "" if issuer.max_auth_age is None else f"{issuer.max_auth_age / 3600:g}"
    return {
        "issuer": issuer.issuer,
        "keys": keys,
        "jwks": issuer.jwks,
        "jwks_uri": issuer.jwks_uri,
        "clients": "\n".join(sorted(issuer.clients)),
        "email_domains": " ".join(issuer.email_domains),
        "max_auth_age": hours,
        **({"email_verifier": "on"} if issuer.email_verifier else {}),
        **({"tenanted": "on"} if issuer.tenanted else {}),
        **{f"algorithm:{name}": "on" for name in issuer.algorithms},
        **{f"scope:{name}": "on" for name in issuer.scopes},
    }


def blank_issuer(scopes: tuple[str, ...]) -> FormFields:
    """The form of a new issuer: its keys are found by themselves, and its agents may have these scopes."""
    return write_issuer(Issuer("", ALGORITHMS, scopes=scopes))


def _read_keys(text: str, algorithms: tuple[str, ...]) -> str:
    try:
        fitting = keysets.fitting_algorithms(read_object(text.encode()))
    except (ValueError, KeysRefused) as fault:
        raise _fault("jwks", f"This is no set of public keys (JWK Set): {fault}.") from None
    if misfit := keysets.misfit(algorithms, fitting):
        raise _fault("algorithm", f"{misfit[0].upper()}{misfit[1:]}.")
    return text


def _read_hours(text: str) -> int | None:
    if not text:
        return None
    try:
        seconds = round(float(text) * 3600)
    except (ValueError, OverflowError):
        seconds = 0
    if not 1 <= seconds <= 31_536_000:
        raise _fault("max_auth_age", "A number of hours, from a second to a year.")
    return seconds


def _fault(field: str, sentence: str) -> UnreadFields:
    return UnreadFields({field: sentence})


@dataclass(frozen=True, slots=True)
class AdminIssuers:
    """Issuers, by the functions of `negotiator issuers`."""

    admin: AdminRouter
    fetcher: Fetcher
    allow_loopback: bool

    def routes(self) -> list[Route]:
        form = partial(self.admin.form, back=ISSUERS_PATH)
        return [
            self.admin.page(ISSUERS_PATH, self.page),
            self.admin.page(f"{ISSUERS_PATH}/one", self.show_one),
            form(f"{ISSUERS_PATH}/keep", self.keep, again=self.form_page),
            form(f"{ISSUERS_PATH}/check", self.check),
            form(f"{ISSUERS_PATH}/remove", self.remove),
            form(f"{ISSUERS_PATH}/person", self.revoke_person, again=self.page),
        ]

    async def show_one(self, request: Request, session: SignedInSession) -> Response:
        """The form of one issuer, or of a new one."""
        name = request.query_params.get("issuer", "")
        typed = write_issuer(await self._find(name)) if name else blank_issuer(tuple(ASSISTANT))
        return await self.form_page(request, session, RefusedForm(typed={**typed, **({"known": "on"} if name else {})}))

    async def keep(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Trust an issuer, or change how it is trusted."""
        issuer, loopback, own = read_issuer(form), self.allow_loopback, self.admin.router.pages.base
        issuer_queries.check_issuer(issuer, own=own, allow_loopback=loopback)
        await self._check_published(issuer)
        await self.admin.router.store.write(
            lambda tx: issuer_queries.add(tx, issuer, own=own, allow_loopback=loopback, actor=session.user_id)
        )
        return self.admin.see(ISSUERS_PATH, "kept")

    async def check(self, request: Request, session: SignedInSession, form: FormFields) -> Response:
        """Read the issuer's keys now, and say what was found."""
        issuer = await self._find(form.get("issuer", ""))
        is_good, sentence = await self._read_keys(issuer)
        return await self.page(request, session, checked=(issuer.issuer, sentence, is_good))

    async def remove(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        issuer = form.get("issuer", "")
        await self.admin.router.store.write(lambda tx: issuer_queries.remove(tx, issuer, actor=session.user_id))
        return self.admin.see(ISSUERS_PATH, "removed")

    async def revoke_person(self, _request: Request, session: SignedInSession, form: FormFields) -> Response:
        """End everything that stands on this issuer's word about one person."""
        issuer, subject = form.get("issuer", ""), form.get("subject", "").strip()
        if not subject:
            raise _fault("subject", "Type the name of the person at the issuer (its `sub`).")
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
            raise _fault("algorithm", f"{misfit[0].upper()}{misfit[1:]}.")

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

    async def page(
        self,
        _request: Request,
        session: SignedInSession,
        form: RefusedForm = NO_FORM,
        *,
        checked: tuple[str, str, bool] = ("", "", True),
    ) -> Response:
        return self.admin.render(
            "admin_issuers.html",
            session,
            "issuers",
            form.status,
            issuers=await self.admin.router.store.read(issuer_queries.list_issuers),
            in_words=describe_scopes,
            checked=checked,
            faults=form.faults(),
            error_of=form.typed.get("issuer", ""),
        )

    async def form_page(self, _request: Request, session: SignedInSession, form: RefusedForm) -> Response:
        return self.admin.render(
            "admin_issuer.html",
            session,
            "issuers",
            form.status,
            typed=with_blanks(form.typed),
            is_known="known" in form.typed,
            faults=form.faults(),
            algorithms=ALGORITHMS,
            scopes=describe_scopes(ASSISTANT),
            ticked=[name.removeprefix("scope:") for name in form.typed if name.startswith("scope:")],
        )
