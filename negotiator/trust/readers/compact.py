"""A signed assertion, proof or event taken apart before anything in it is verified (RFC 7515 §7.1, RFC 8725)."""

from negotiator.strict import UnverifiedJws, read_jws
from negotiator.trust.readers.claims import AssertionRefused, Reason


def read_compact(text: str) -> UnverifiedJws:
    """The parts of a compact JWS; raises `AssertionRefused` for a text that is none."""
    try:
        return read_jws(text)
    except ValueError as invalid:
        raise AssertionRefused(
            Reason.MALFORMED, "The assertion is not a well-formed compact JWT.", detail=str(invalid)
        ) from None
