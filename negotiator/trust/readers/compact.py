"""A compact JWS taken apart, once and strictly, before anything of it is believed (RFC 7515 §7.1, RFC 8725)."""

from dataclasses import dataclass
from typing import Any, Final

from negotiator.strict import read_object, read_segment
from negotiator.trust.readers.claims import AssertionRefused, Reason

MAX_TOKEN: Final = 8192
MAX_HEADER: Final = 2048


@dataclass(frozen=True, slots=True)
class Unverified:
    """What a text says of itself, before anything of it is believed."""

    unverified_header: dict[str, Any]
    unverified_claims: dict[str, Any]
    signing_input: bytes
    signature: bytes


def read_compact(text: str) -> Unverified:
    """Steps 1 and 2: bounded, three canonical segments, two strict objects, nothing critical."""
    if len(text) > MAX_TOKEN:
        raise AssertionRefused(
            Reason.MALFORMED, "The assertion is too long.", detail=f"{len(text)} characters"
        )
    try:
        signing_input, _, signature = text.encode("ascii").rpartition(b".")
        header, payload = signing_input.split(b".")
        if len(header) > MAX_HEADER:
            raise ValueError("its header is too long")
        unverified = Unverified(
            read_object(read_segment(header)),
            read_object(read_segment(payload)),
            signing_input,
            read_segment(signature),
        )
    except ValueError as invalid:
        raise AssertionRefused(
            Reason.MALFORMED, "The assertion is not a well-formed compact JWT.", detail=str(invalid)
        ) from None
    if "crit" in unverified.unverified_header:
        raise AssertionRefused(
            Reason.MALFORMED, "The assertion asks for an extension that is not understood."
        )
    return unverified
