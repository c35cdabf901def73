"""Normalises texts of third parties: plain text, URLs, times, slugs."""

import re
import unicodedata
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Final
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, StringConstraints

from negotiator.base import values
from negotiator.base.schema import SchemaKeyword

SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
SLUG_LENGTH: Final = 64
_URL_LENGTH: Final = 2048
_UNFIT = re.compile(r"[\s\x00-\x20\x7f\"<>\\^`|]")
_HOST = re.compile(r"(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{1,62}")
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0e\U000e0100-\U000e01ef]"
)
"""Letters and marks without a visible form: Hangul and Braille blanks, variation selectors."""
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def plain_text(text: str) -> str:
    """The text in NFC without control, bidi, zero-width, blank and private characters; line breaks stay.

    Such characters make a text look different from what a model reads (Trojan Source, CVE-2021-42574), or hide text
    from people. The function is idempotent.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    lines = _NEWLINES.sub("\n", text)
    visible = "".join(
        char
        for char in lines
        if char in "\n\t"
        or (unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn"} and _UNSEEN.fullmatch(char) is None)
    )
    # Normalised last, because a removed character may have kept two others from composing.
    return unicodedata.normalize("NFC", visible).strip()


def single_line(text: str) -> str:
    """Plain text on one line, with single spaces."""
    return " ".join(plain_text(text).split())


def slugify(text: str) -> str:
    """A slug of the name's ASCII letters and digits, joined by dashes; `tool` when there are none."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = "-".join(re.findall(r"[a-z0-9]+", folded))[:SLUG_LENGTH].strip("-")
    return slug or "tool"


def split_url(text: str) -> SplitResult:
    """The parts of an absolute https URL with a domain name. Raises `ValueError` with the reason for any other."""
    if len(text) > _URL_LENGTH or _UNFIT.search(text) or not text.isascii():
        raise ValueError(f"must be an ASCII URL of at most {_URL_LENGTH} characters")
    parts = urlsplit(text)
    if parts.scheme != "https":
        raise ValueError("must begin with https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must carry no credentials")
    if _HOST.fullmatch((parts.hostname or "").lower()) is None:
        raise ValueError("must name a host by its domain name")
    if parts.port is not None and not 0 < parts.port < 65536:
        raise ValueError("must have a valid port")
    return parts


def web_url(text: str) -> str:
    """The URL, if `split_url` accepts it."""
    split_url(text)
    return text


def endpoint_url(text: str) -> str:
    """A URL whose parts may be templates in braces (server.json)."""
    web_url(re.sub(r"\{[A-Za-z0-9_.-]{1,64}\}", "x", text))
    return text


_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def rfc3339_moment(value: Any) -> Any:
    """A date, datetime or ISO text as RFC 3339 in UTC with milliseconds."""
    if isinstance(value, str):
        value = date.fromisoformat(value) if _DAY.fullmatch(value) else values.read_moment(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(), UTC)
    if not isinstance(value, datetime):
        raise ValueError("must be a date or a time")
    return values.timestamp(int((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000))


def domain_name(text: str) -> str:
    """The domain name in lower case. Raises `ValueError` for anything else."""
    name = text.strip().lower().rstrip(".")
    if _HOST.fullmatch(name) is None:
        raise ValueError("must be a domain name")
    return name


def _to_line(value: Any) -> Any:
    return single_line(value) if isinstance(value, str) else value


def _to_prose(value: Any) -> Any:
    return plain_text(value) if isinstance(value, str) else value


LineText = Annotated[str, BeforeValidator(_to_line)]
ProseText = Annotated[str, BeforeValidator(_to_prose)]
WebUrl = Annotated[str, AfterValidator(web_url)]
EndpointUrl = Annotated[str, AfterValidator(endpoint_url)]
MomentText = Annotated[str, BeforeValidator(rfc3339_moment), SchemaKeyword("format", "date-time")]
DomainName = Annotated[str, AfterValidator(domain_name)]
Slug = Annotated[str, StringConstraints(pattern=rf"^{SLUG.pattern}$", min_length=1, max_length=SLUG_LENGTH)]
