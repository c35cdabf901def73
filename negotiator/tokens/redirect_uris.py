"""Redirect URIs: which may be registered, which match a registered one, and how parameters are added.

A URI is never normalised: it must equal a registered one byte for byte. The port of a loopback URI may differ
(RFC 8252 §7.3, RFC 9700 §4.1.3).
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

_LONGEST: Final = 2000
# RFC 3986 allows no space, quote, backslash, caret, backtick, brace, bar or byte beyond ASCII, and browsers and parsers
# read them differently.
_CHARACTERS: Final = re.compile(r"[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]+")
_ESCAPES: Final = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*")
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])")
_LOOPBACK: Final = re.compile(r"http://(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?(|[/?].*)")
# Schemes that browsers handle themselves, or that open files or run scripts.
_NEVER: Final = {
    *("about", "blob", "chrome", "data", "file", "filesystem", "ftp", "intent", "javascript", "mailto"),
    *("moz-extension", "resource", "sms", "tel", "urn", "vbscript", "view-source", "ws", "wss"),
}

EDITOR_SCHEMES: Final = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf"})
"""Schemes of editors that register their callback by themselves, without a reversed domain name: Cursor sends
`cursor://anysphere.cursor-mcp/oauth/callback` beside a loopback address, and one that is refused fails the whole
registration. Another program may claim such a scheme, too; a code that it gets is worth nothing without the verifier.
"""


def registration_fault(uri: str, *, private_schemes: bool = False) -> str:
    """A sentence that says why this URI may not be registered; empty when it may.

    Allowed are https for any host, http for a loopback host, the schemes of known editors, and an app's own scheme that
    is a reversed domain name (RFC 8252 §7.1). With `private_schemes`, any scheme is allowed that browsers do not handle
    themselves.
    """
    if not 1 <= len(uri) <= _LONGEST:
        return f"A redirect URI has 1 to {_LONGEST} characters."
    if not _CHARACTERS.fullmatch(uri) or not _ESCAPES.fullmatch(uri):
        return "A redirect URI has no fragment and no character that a URI must escape."
    scheme = _SCHEME.match(uri)
    if scheme is None:
        return "A redirect URI is absolute, its scheme in lower case."
    if scheme[1] in {"http", "https"}:
        return _web_refusal(uri)
    is_own = "." in scheme[1].strip(".") or scheme[1] in EDITOR_SCHEMES
    if scheme[1] in _NEVER or not (private_schemes or is_own):
        return "An app's own scheme is a reversed domain name, such as com.example.app."
    return ""


def _web_refusal(uri: str) -> str:
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "The host or port of a redirect URI is malformed."
    named = parts.netloc.removesuffix(f":{port}") if port is not None else parts.netloc
    if "@" in parts.netloc:
        return "A redirect URI carries no user name."
    if not host or not _HOST.fullmatch(named) or port == 0:
        return "The host or port of a redirect URI is malformed."
    if parts.scheme == "http" and not is_loopback(uri):
        return "Only loopback redirect URIs may use http."
    return ""


def is_loopback(uri: str) -> bool:
    """Whether the URI is http to the user's own machine: 127.0.0.1, [::1] or localhost."""
    return _LOOPBACK.fullmatch(uri) is not None


def is_on_device(uri: str) -> bool:
    """Whether a program on the user's own machine receives the URI, by loopback or by a scheme of its own."""
    return is_loopback(uri) or not uri.startswith("https://")


def is_https_only(uri: str) -> bool:
    """Whether the URI is https to a host other than the user's own machine, so that only that host receives it."""
    return uri.startswith("https://") and display_host(uri) not in {"localhost", "127.0.0.1", "::1"}


def matches(registered: str, given: str) -> bool:
    """Whether the redirect URI `given` of an authorization request matches the `registered` one."""
    if registered == given:
        return True
    ours, theirs = _LOOPBACK.fullmatch(registered), _LOOPBACK.fullmatch(given)
    if ours is None or theirs is None or not _CHARACTERS.fullmatch(given):
        return False
    port = theirs[2]
    return (ours[1], ours[3]) == (theirs[1], theirs[3]) and (
        port is None or (0 < int(port) < 65_536 and not port.startswith("0"))
    )


def display_host(uri: str) -> str:
    """The part of the URI that is shown to the user: the host, or an app's own scheme with its colon."""
    parts = urlsplit(uri)
    return (parts.hostname or "") if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def origin(uri: str) -> str:
    """The source expression of a content security policy for the URI: `https://host:port`, or a scheme with its colon.

    The grammar of CSP 3 §2.3.1 has no IPv6 addresses, so that such a URI is named by its scheme.
    """
    parts = urlsplit(uri)
    named = parts.scheme in {"http", "https"} and "[" not in parts.netloc
    return f"{parts.scheme}://{parts.netloc}" if named else f"{parts.scheme}:"


def add_parameters(uri: str, told: Mapping[str, str | None]) -> str:
    """The URI with the parameters added to its query (RFC 6749 §4.1.2); a parameter with the value None is left out."""
    added = urlencode({name: value for name, value in told.items() if value is not None}, quote_via=quote)
    return f"{uri}{'&' if '?' in uri else '?'}{added}"
