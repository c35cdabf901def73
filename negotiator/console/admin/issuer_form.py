"""From the form of a trusted issuer to its configuration, and back."""

from typing import Final

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.base.strict_json import read_object
from negotiator.console.page_router import FormFields
from negotiator.trust import keysets
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


def _fault(field: str, sentence: str) -> ValidationFailed:
    return ValidationFailed([FieldError(f"/{field}", sentence)])
