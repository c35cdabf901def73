"""Canonical keys of a tool: two records that share one are the same tool, whatever their names."""

import re
from typing import Final, Literal
from urllib.parse import parse_qsl, urlencode

from negotiator.directory.record_text import split_url
from negotiator.directory.tool_record import ToolDraft, ToolPackage, ToolRepository

CanonicalKeyKind = Literal["url", "repository", "package", "endpoint", "name"]
CanonicalKey = tuple[CanonicalKeyKind, str]

TRACKING_PARAMETERS: Final = frozenset(
    {"fbclid", "gclid", "dclid", "msclkid", "mc_cid", "mc_eid", "ref", "ref_src", "via", "igshid", "yclid"}
)
_CODE_HOSTS: Final = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"})
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)


def is_tracking_parameter(name: str) -> bool:
    """Whether a query parameter only says where a visitor came from."""
    return name.startswith("utm_") or name in TRACKING_PARAMETERS


def canonical_url(url: str) -> str:
    """A canonical form of a URL: lower-case host, without `www.`, tracking, fragment, index page and last slash.

    Raises `ValueError` for anything but a web address.
    """
    parts = split_url(url)
    host = (parts.hostname or "").lower().removeprefix("www.")
    port = f":{parts.port}" if parts.port not in (None, 443) else ""
    path = _INDEX.sub("", parts.path).rstrip("/")
    if host in _CODE_HOSTS:
        path = path.lower().removesuffix(".git")
    query = urlencode([pair for pair in parse_qsl(parts.query) if not is_tracking_parameter(pair[0])])
    return f"{host}{port}{path}" + (f"?{query}" if query else "")


def keys_of(record: ToolDraft) -> list[CanonicalKey]:
    """Every key of a record, once each, in a fixed order."""
    found: list[CanonicalKey] = []
    if record.homepage_url:
        home = canonical_url(record.homepage_url)
        same_source = record.repository and canonical_url(record.repository.url) == home
        if not same_source and not _is_code(home):
            found.append(("url", home))
        elif not record.repository:
            found.append(("repository", home))
    if record.repository:
        found += _repository(record.repository)
    found.extend(("package", _package(package)) for package in record.packages)
    endpoints = (interface.url for interface in record.interfaces if interface.url)
    found.extend(("endpoint", _endpoint(url)) for url in endpoints)
    if record.external_ids.mcp_registry:
        found.append(("name", record.external_ids.mcp_registry.lower()))
    return list(dict.fromkeys(found))


def _is_code(canonical: str) -> bool:
    return canonical.partition("/")[0] in _CODE_HOSTS


def _repository(repository: ToolRepository) -> list[CanonicalKey]:
    folder = f"#{repository.subfolder.strip('/')}" if repository.subfolder else ""
    found: list[CanonicalKey] = [("repository", canonical_url(repository.url) + folder)]
    if repository.id:
        found.append(("repository", f"{repository.source or 'host'}:{repository.id}{folder}"))
    return found


def _package(package: ToolPackage) -> str:
    """`registry:identifier`, normalised as the registry does, without a version."""
    name = package.identifier
    if package.registry == "pypi":
        name = re.sub(r"[-_.]+", "-", name).lower()  # PEP 503
    elif package.registry == "oci":
        name = name.partition("@")[0].lower()
        head, slash, last = name.rpartition("/")
        name = head + slash + last.partition(":")[0]
        name = name.removeprefix("docker.io/")
    elif package.registry in {"npm", "nuget"}:
        name = name.lower()
    return f"{package.registry}:{name}"


def _endpoint(url: str) -> str:
    try:
        return canonical_url(url)
    except ValueError:
        return url.lower()  # a template in braces
