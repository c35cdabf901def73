"""The keys of an issuer that an operator adds: read from a file, or found through its metadata, and checked at once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.base.strict_json import read_object
from negotiator.cli.output import print_warning
from negotiator.trust import keysets
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.keysets import KeysRefused


async def discover(issuer: str, *, allow_loopback: bool) -> str:
    """The URL of the keys in the issuer's metadata; empty, with a warning, when the metadata cannot be read."""
    fetcher = Fetcher(allow_loopback=allow_loopback)
    try:
        return await keysets.discover(fetcher, issuer)
    except FetchFailed as failed:
        print_warning(f"the issuer's metadata cannot be read now: {failed.detail}")
        return ""
    finally:
        await fetcher.close()


def elsewhere(issuer: str, jwks_uri: str) -> str:
    """What to add when the keys are on another host than the issuer."""
    return ", on another host" if keysets.is_elsewhere(issuer, jwks_uri) else ""


def read_keys(path: Path, algorithms: Sequence[str], *, named: bool) -> str:
    """The text of a file of keys; `ValidationFailed` when they cannot be used.

    `named` means that the operator named the algorithms: then one that no key fits is warned of.
    """
    text = path.read_text("utf-8")
    try:
        document = read_object(text.encode())
    except ValueError as fault:
        raise ValidationFailed([FieldError("/jwks", f"{path.name}: {fault}.")]) from None
    _check(document, algorithms, path.name, named=named)
    return text


async def check_published(jwks_uri: str, algorithms: Sequence[str], *, named: bool, allow_loopback: bool) -> None:
    """Refuse keys at a URL as `read_keys` does; warn when they cannot be read now."""
    fetcher = Fetcher(allow_loopback=allow_loopback)
    try:
        fetched = await fetcher.document(jwks_uri, limit=keysets.MAX_BYTES)
    except FetchFailed as failed:
        print_warning(f"the issuer's keys cannot be read now: {failed.detail}")
        return
    finally:
        await fetcher.close()
    _check(fetched.body, algorithms, jwks_uri, named=named)


def _check(document: dict[str, Any], algorithms: Sequence[str], place: str, *, named: bool) -> None:
    try:
        fitting = keysets.fitting_algorithms(document)
    except KeysRefused as fault:
        raise ValidationFailed([FieldError("/jwks", f"{place}: {fault}.")]) from None
    if fault := keysets.misfit(algorithms, fitting):
        raise ValidationFailed([FieldError("/algorithm", f"{place}: {fault}.")])
    if named and (unused := [each for each in algorithms if each not in fitting]):
        print_warning(
            f"no key of the issuer fits {' or '.join(unused)}: assertions signed so are refused until it has one"
        )
