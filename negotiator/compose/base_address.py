"""The base URL with which the machines of a database start, so that one that differs is noticed.

A difference is a warning and not a refusal: an operator may move a service to another address, and then every machine
has the new one after its next start.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from negotiator.config.settings import Settings
from negotiator.store import fingerprints
from negotiator.store.statement import Transaction

BASE_URL = "base_url"


def note_base_url(tx: Transaction, settings: Settings) -> str:
    """Record this machine's base URL; returns a warning when the machine that started last had another one."""
    warning = difference(tx, settings)
    if not _is_local(settings):
        fingerprints.record(tx, BASE_URL, settings.base_url)
    return warning


def difference(tx: Transaction, settings: Settings) -> str:
    """A warning when the machine that started last has another base URL; empty for an address on loopback."""
    known = fingerprints.recorded(tx).get(BASE_URL, settings.base_url)
    if known == settings.base_url or _is_local(settings):
        return ""
    return (
        f"the machine that started last has the base URL {known}, this one {settings.base_url}: "
        "tokens, codes and links of the one do not work at the other"
    )


def is_loopback(host: str) -> bool:
    """Whether this host name or address leads to the machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_local(settings: Settings) -> bool:
    return is_loopback(urlsplit(settings.base_url).hostname or "")
