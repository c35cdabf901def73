"""Addresses that must not be listed, though they have the form of one (RFC 6761, RFC 2606, RFC 8375).

`record.texts.split_url` has checked the form: https, no credentials, a name as host, at most 2,048 characters.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from negotiator.directory.record.keys import is_tracking
from negotiator.directory.record.tool import ToolDraft
from negotiator.errors import FieldError

_SPECIAL: Final = frozenset(
    {
        *("localhost", "localdomain", "local", "internal", "intranet", "private", "lan"),
        *("home", "corp", "mail", "test", "invalid", "onion", "alt", "arpa", "i2p"),
    }
)
_ADDRESS = re.compile(r"\d+|0x[0-9a-f]*")
_IN_NAME: Final = (".nip.io", ".sslip.io", ".xip.io", ".localtest.me", ".lvh.me", ".vcap.me")
"""Public names that resolve to whatever address is written in them, or to the reader's own machine."""
_LABEL = re.compile(r"xn--|[a-z]")


def addresses(draft: ToolDraft) -> Iterator[tuple[str, str]]:
    """Every address of a draft with the pointer to it; templates in braces keep their braces."""
    if draft.homepage_url:
        yield "/homepage_url", draft.homepage_url
    if draft.docs_url:
        yield "/docs_url", draft.docs_url
    if draft.repository:
        yield "/repository/url", draft.repository.url
    if draft.pricing.url:
        yield "/pricing/url", draft.pricing.url
    for place, interface in enumerate(draft.interfaces):
        if interface.url:
            yield f"/interfaces/{place}/url", interface.url


def faults(draft: ToolDraft) -> list[FieldError]:
    """What is wrong with the addresses of a draft, each with its pointer."""
    found = [FieldError(where, said) for where, url in addresses(draft) if (said := fault(url))]
    domain = draft.publisher.domain if draft.publisher else None
    if domain and (said := host_fault(domain)):
        found.append(FieldError("/publisher/domain", said))
    return found


def fault(url: str) -> str | None:
    """Why an address of good form may not be listed; None when it may."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if "{" in host:
        # A template in the host: the part behind it is what will be reached.
        host = host.rpartition("}")[2].lstrip(".-")
    if said := host_fault(host):
        return said
    tracking = [
        name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if is_tracking(name)
    ]
    if tracking:
        return f"Leave out the tracking parameter {tracking[0]}."
    return None


def host_fault(host: str) -> str | None:
    """Why a host may not be listed: an address in place of a name, or a name that means another host to each reader."""
    labels = host.lower().split(".")
    if len(labels) < 2 or not _LABEL.match(labels[-1]) or _ADDRESS.fullmatch(labels[-1]):
        return "Must name a public host by its domain name."
    if labels[-1] in _SPECIAL or f".{host.lower()}".endswith(_IN_NAME):
        return "Must name a host that is the same for everybody on the internet."
    return None
