"""The keys of an issuer that an operator adds: read from a file, or found through its metadata."""

from pathlib import Path

from negotiator.cli.output import print_warning
from negotiator.errors import FieldError, ValidationFailed
from negotiator.strict_json import read_object
from negotiator.trust import keysets
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.keysets import KeysRefused, parse


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


def read_keys(path: Path, algorithms: tuple[str, ...]) -> str:
    """The text of a file of keys; `ValidationFailed` when they cannot be used."""
    text = path.read_text()
    try:
        found = parse(read_object(text.encode()), algorithms)
    except (ValueError, KeysRefused) as fault:
        raise ValidationFailed([FieldError("/jwks", f"{path.name}: {fault}.")]) from None
    if not found.keys:
        listed = ", ".join(algorithms)
        raise ValidationFailed([FieldError("/jwks", f"{path.name} has no key for {listed}.")])
    return text
