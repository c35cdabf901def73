"""Claimed identities: their syntax and how they could be proven. Nothing is verified here.

DIDs follow W3C DID Core §3.1, did:key v0.7 and the did:web method. An agent id that is an https URL is read as the URL
of a client id metadata document (draft-ietf-oauth-client-id-metadata-document-02 §3); any other agent id is opaque.
"""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

LONGEST_IDENTITY: Final = 512
_DID = re.compile(r"did:[a-z0-9]+:[A-Za-z0-9._:%-]+")
_HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9-]{1,63}")
_PART = re.compile(r"(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+")
_DOTS = frozenset({".", ".."})


@dataclass(frozen=True, slots=True)
class ClaimedIdentity:
    """A claimed identity of one of the three types."""

    type: str
    value: str

    @property
    def document_url(self) -> str | None:
        """The URL at which the identity publishes its keys; None when it is proven in another way."""
        if self.type == "did":
            return did_web_url(self.value)
        return self.value if self.type == "agent_id" and is_document_url(self.value) else None

    @property
    def domain(self) -> str | None:
        """The host that the holder controls as a whole, else None.

        A path of a host or a mailbox may be one of many that the host gives to others.
        """
        url = self.document_url
        if url is None:
            return None
        parts = urlsplit(url)
        return parts.hostname if parts.path.startswith("/.well-known/") else None


def is_did(text: str) -> bool:
    """Whether the text has the form of a DID."""
    return len(text) <= LONGEST_IDENTITY and _DID.fullmatch(text) is not None


def did_web_url(did: str) -> str | None:
    """The URL of a did:web document; None for another method, an IP address, or an unusual path."""
    if not did.startswith("did:web:"):
        return None
    authority, *path = did.removeprefix("did:web:").split(":")
    host, _, port = unquote(authority).partition(":")
    if not _is_name(host) or (port and not port.isdecimal()) or unquote(authority).endswith(":"):
        return None
    if any(not _PART.fullmatch(part) or _hides(unquote(part)) for part in path):
        return None
    origin = f"https://{host}:{port}" if port else f"https://{host}"
    return f"{origin}/{'/'.join(path) or '.well-known'}/did.json"


def is_document_url(text: str) -> bool:
    """Whether the URL may be a client id: https, with a path, and without ambiguous parts."""
    if not text.isascii() or not text.isprintable() or "\\" in text or " " in text:
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    segments = parts.path.split("/")[1:]
    return (
        text.startswith("https://")
        and _is_name(parts.hostname or "")
        and parts.netloc == (f"{parts.hostname}:{port}" if port else parts.hostname)
        and parts.path not in {"", "/"}
        and not _DOTS.intersection(unquote(segment) for segment in segments)
        and not parts.query
        and "?" not in text
        and "#" not in text
    )


def _is_name(host: str) -> bool:
    if not _HOST.fullmatch(host):
        return False
    try:
        ip_address(host)
    except ValueError:
        # A last label of digits is an address to some resolvers ("0x7f.1" included).
        return not re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2])
    return False


def _hides(part: str) -> bool:
    return part in _DOTS or "/" in part or "\\" in part or not part.isprintable()
