"""Decides whether the holder of proven identities publishes a tool, from the tool's own record."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from negotiator.directory.claimed_identity import ClaimedIdentity
from negotiator.directory.tool_record import ToolDraft, ToolRecordBase

OwnershipMethod = Literal["dns", "http", "github", "did"]
_PAGES: Final = {"github.com": ".github.io", "gitlab.com": ".gitlab.io", "codeberg.org": ".codeberg.page"}
"""Code hosts, and the domain below which each of their accounts has a subdomain, which the account controls."""


@dataclass(frozen=True, slots=True)
class HostProof:
    """A host that somebody proved by a file on it."""

    domain: str
    type: str = "agent_id"


OwnershipProof = ClaimedIdentity | HostProof
"""What somebody proved, with the host that they control by it."""


@dataclass(frozen=True, slots=True)
class ToolOwnership:
    """The domain that makes a tool the agent's, and how it was proven."""

    domain: str
    method: OwnershipMethod


def find_ownership(proofs: Sequence[OwnershipProof], draft: ToolDraft) -> ToolOwnership | None:
    """The ownership of the tool's homepage or repository; None when neither belongs to the holder of the proofs."""
    for place in _home(draft), _repository(draft):
        if place is not None and (found := _match(proofs, place)):
            return found
    return None


def find_listed_ownership(proofs: Sequence[OwnershipProof], tool: ToolRecordBase) -> ToolOwnership | None:
    """The ownership of a listed tool: by its verified publisher only, where it has one."""
    publisher = tool.publisher
    if publisher and publisher.verified and publisher.domain:
        return _match(proofs, publisher.domain)
    return find_ownership(proofs, tool)


def find_whole_ownership(proofs: Sequence[OwnershipProof], draft: ToolDraft) -> ToolOwnership | None:
    """The ownership of a draft all of whose addresses belong to the holder; None otherwise.

    Packages cannot be proven, so a draft that names one is not owned as a whole, except for an image in the registry of
    the code host.
    """
    ownership = find_ownership(proofs, draft)
    if ownership is None:
        return None
    places: list[str | None] = [_repository(draft) if draft.repository else "", _claimed(draft)]
    if draft.homepage_url:
        places.append(_home(draft))
    places += [_host(interface.url) for interface in draft.interfaces if interface.url]
    places += [_image(package.registry, package.identifier) for package in draft.packages]
    places.append(_namespace(draft.external_ids.mcp_registry))
    mine = all(place == "" or (place and _match(proofs, place)) for place in places)
    return ownership if mine else None


def home_host(draft: ToolDraft) -> str | None:
    """The host of the homepage, else of the repository's account; None when neither is named."""
    return _home(draft) or _repository(draft)


def _match(proofs: Sequence[OwnershipProof], place: str) -> ToolOwnership | None:
    for proof in proofs:
        domain = proof.domain
        if domain and (place == domain or place.endswith(f".{domain}")):
            pages = domain.endswith(tuple(_PAGES.values()))
            method: OwnershipMethod = "github" if domain.endswith(".github.io") else "http"
            return ToolOwnership(domain, "did" if proof.type == "did" and not pages else method)
    return None


def _host(url: str) -> str | None:
    """The host of a URL; None when it contains a template."""
    host = (urlsplit(url).hostname or "").lower().rstrip(".")
    return None if "{" in host else host


def _home(draft: ToolDraft) -> str | None:
    """The host of the homepage; for a page at a code host, the account's."""
    return _account(draft.homepage_url) if draft.homepage_url else None


def _repository(draft: ToolDraft) -> str | None:
    return _account(draft.repository.url) if draft.repository else None


def _account(url: str) -> str | None:
    host = _host(url)
    pages = _PAGES.get((host or "").removeprefix("www."))
    if pages is None:
        return host
    account = urlsplit(url).path.strip("/").partition("/")[0].lower()
    return account + pages if account else None


def _claimed(draft: ToolDraft) -> str:
    return (draft.publisher.domain or "") if draft.publisher else ""


def _image(registry: str, identifier: str) -> str | None:
    if registry == "oci" and identifier.startswith("ghcr.io/"):
        return identifier.split("/")[1].lower() + _PAGES["github.com"]
    return None


def _namespace(name: str | None) -> str:
    """The host of an MCP registry name: `io.github.acme/x` belongs to acme.github.io."""
    return ".".join(reversed(name.partition("/")[0].lower().split("."))) if name else ""
