"""Checks of a draft: links that may not be listed, texts that address models, imitated names and publishers, and
whether the holder of proven identities publishes the tool.

Invalid links are refused. Texts that look like instructions to a model (tool poisoning, OWASP LLM01) and imitated names
are flagged for a moderator; a pattern is no proof, so nothing flagged is approved or refused automatically. Special-use
hosts follow RFC 6761, RFC 2606 and RFC 8375; `record_text.split_url` has checked the syntax of URLs before. Names are
compared with an index of the process, kept in step with the feed of changes.
"""

import asyncio
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast
from urllib.parse import parse_qsl, urlsplit

import orjson

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.directory import catalogue_queries, draft_checks
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.identity_proof import ClaimedIdentity
from negotiator.directory.name_likeness import NameLikeness, TrigramIndex, without_confusables
from negotiator.directory.schemas_submissions import CheckView, FieldNote
from negotiator.directory.tool_record import ToolDraft, ToolRecordBase, is_tracking_parameter
from negotiator.runtime import thread_pools
from negotiator.store.store import Store

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
    claimed = (draft.publisher.domain if draft.publisher else None) or ""
    places: list[str | None] = [_repository(draft) if draft.repository else "", claimed]
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


def _image(registry: str, identifier: str) -> str | None:
    if registry == "oci" and identifier.startswith("ghcr.io/"):
        return identifier.split("/")[1].lower() + _PAGES["github.com"]
    return None


def _namespace(name: str | None) -> str:
    """The host of an MCP registry name: `io.github.acme/x` belongs to acme.github.io."""
    return ".".join(reversed(name.partition("/")[0].lower().split("."))) if name else ""


@dataclass(frozen=True, slots=True)
class InjectionFlag:
    """A pattern found in a field: its kind and the JSON pointer (RFC 6901)."""

    kind: str
    pointer: str


_PATTERNS: Final = tomllib.loads(Path(__file__).with_name("injection_patterns.toml").read_text("utf-8"))
_PART = re.compile(r"@(\w+)")


def _expanded(pattern: str) -> str:
    """The pattern with its named parts inserted."""
    return "(?:" + _PART.sub(lambda part: _PATTERNS["word"][part[1]], pattern) + ")"


_FOLDED: Final = {
    kind: re.compile("|".join(map(_expanded, patterns))) for kind, patterns in _PATTERNS["folded"].items()
}
_PLAIN: Final = {
    kind: tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)
    for kind, patterns in _PATTERNS["plain"].items()
}
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPACE = re.compile(r"[\s_*~`'\"’‘“”|]+")
_SPLIT = re.compile(r"[-.·]")
_ADDRESSES: Final = ("url", "domain", "sha256", "identifier", "mcp_registry", "urn_air")
"""Suffixes of members that hold no prose: their syntax excludes sentences, and base64 or capitals are normal there."""


def injection_kinds(text: str) -> list[str]:
    """The kinds of pattern that occur in a text, in a fixed order."""
    folded = _SPACE.sub(" ", without_confusables(text))
    spellings = {folded, _SPLIT.sub(" ", folded), _SPLIT.sub("", folded)}
    found = [kind for kind, pattern in _FOLDED.items() if any(pattern.search(spelling) for spelling in spellings)]
    found += [kind for kind, patterns in _PLAIN.items() if any(p.search(text) for p in patterns)]
    if any(_is_mixed(word) for word in _WORD.findall(text)):
        found.append("mixed_script")
    return found


def injection_flags(document: Mapping[str, Any]) -> list[InjectionFlag]:
    """Every pattern in every text of a document, except in member names."""
    return [
        InjectionFlag(kind, pointer) for pointer, text in prose_texts(document, "") for kind in injection_kinds(text)
    ]


def prose_texts(value: object, pointer: str) -> Iterator[tuple[str, str]]:
    """The prose texts of a JSON value with their pointers."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, object], value).items():
            if not name.endswith(_ADDRESSES):
                yield from prose_texts(inner, f"{pointer}/{name}")
    elif isinstance(value, Sequence):
        for place, inner in enumerate(cast(Sequence[object], value)):
            yield from prose_texts(inner, f"{pointer}/{place}")


def _is_mixed(word: str) -> bool:
    """Whether a word mixes Latin letters with those of a script that has look-alikes."""
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})


_SPECIAL: Final = frozenset(
    {
        *("localhost", "localdomain", "local", "internal", "intranet", "private", "lan"),
        *("home", "corp", "mail", "test", "invalid", "onion", "alt", "arpa", "i2p"),
    }
)
_ADDRESS = re.compile(r"\d+|0x[0-9a-f]*")
_IN_NAME: Final = (".nip.io", ".sslip.io", ".xip.io", ".localtest.me", ".lvh.me", ".vcap.me")
"""Public names that resolve to an address written in them, or to the client's own machine."""
_LABEL = re.compile(r"xn--|[a-z]")


def draft_addresses(draft: ToolDraft) -> Iterator[tuple[str, str]]:
    """The URLs of a draft with their pointers, templates included."""
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


def link_faults(draft: ToolDraft) -> list[FieldError]:
    """The faults of the URLs of a draft, with their pointers."""
    found = [FieldError(pointer, fault) for pointer, url in draft_addresses(draft) if (fault := url_fault(url))]
    domain = draft.publisher.domain if draft.publisher else None
    if domain and (fault := host_fault(domain)):
        found.append(FieldError("/publisher/domain", fault))
    return found


def url_fault(url: str) -> str | None:
    """Why a syntactically valid URL may not be listed; None when it may."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if "{" in host:
        # With a template in the host, the part after it decides which domain is reached.
        host = host.rpartition("}")[2].lstrip(".-")
    if fault := host_fault(host):
        return fault
    tracking = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if is_tracking_parameter(name)]
    if tracking:
        return f"Leave out the tracking parameter {tracking[0]}."
    return None


def host_fault(host: str) -> str | None:
    """Why a host may not be listed: an IP address, or a name that is not public; None when it may."""
    labels = host.lower().split(".")
    if len(labels) < 2 or not _LABEL.match(labels[-1]) or _ADDRESS.fullmatch(labels[-1]):
        return "Must name a public host by its domain name."
    if labels[-1] in _SPECIAL or f".{host.lower()}".endswith(_IN_NAME):
        return "Must name a public host of the internet."
    return None


TEXT_FLAGS: Final[dict[str, str]] = _PATTERNS["told"]
"""What a kind of flag means, in words."""


@dataclass(frozen=True, slots=True)
class DraftScreening:
    """The slow checks of a draft, made before the transaction.

    `tools` are tools with similar names, `publishers` verified publishers with similar names, by domain.
    """

    draft: ToolDraft
    flags: tuple[InjectionFlag, ...]
    tools: tuple[NameLikeness, ...] = ()
    publishers: tuple[NameLikeness, ...] = ()


def find_injection_flags(draft: ToolDraft) -> tuple[InjectionFlag, ...]:
    """Every pattern in the draft's texts."""
    return tuple(injection_flags(draft.model_dump(mode="json")))


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """The result of all checks. `ownership` is set when the submitter owns the whole draft.

    `clear` says that nothing is flagged; a clear and owned draft needs no moderator.
    """

    checks: tuple[CheckView, ...]
    similar: tuple[NameLikeness, ...]
    ownership: ToolOwnership | None
    clear: bool


def require_acceptable(draft: ToolDraft) -> None:
    """Refuse with 422 a draft with an invalid link or without any."""
    faults = link_faults(draft)
    if not draft.findable:
        faults.append(FieldError("/homepage_url", "Needs a homepage, a repository, an endpoint or a package."))
    if faults:
        raise ValidationFailed(faults)


def judge_draft(
    draft: ToolDraft,
    screening: DraftScreening,
    *,
    proofs: Sequence[OwnershipProof],
    current: ToolRecordBase | None = None,
) -> DraftVerdict:
    """Check a draft that `require_acceptable` accepted and that duplicates no tool.

    `current` is the tool that it would change: its present record must belong to the submitter too.
    """
    ownership = find_whole_ownership(proofs, draft)
    if current is not None and find_listed_ownership(proofs, current) is None:
        ownership = None
    # The draft may have changed since the screening, whose flags then do not apply.
    flags = screening.flags if screening.draft == draft else find_injection_flags(draft)
    own = {proof.domain for proof in proofs}
    publishers = [each for each in screening.publishers if each.tool not in own]
    checks = (
        _check("schema"),
        _check("links"),
        _check("duplicate"),
        _check("text", [(flag.pointer, TEXT_FLAGS[flag.kind]) for flag in flags]),
        _check("name", [("/name", _likeness(each)) for each in screening.tools]),
        _check(
            "publisher",
            [("/publisher/name", "Is similar to a verified publisher's name.") for _ in publishers],
            missing=ownership is None,
        ),
    )
    return DraftVerdict(checks, screening.tools, ownership, not (flags or screening.tools or publishers))


def _likeness(found: NameLikeness) -> str:
    kind = "a protected name" if found.protected else "the name"
    return f"Is similar to {kind} of {found.tool}."


def _check(name: str, found: Sequence[tuple[str, str]] = (), *, missing: bool = False) -> CheckView:
    outcome = "flagged" if found else "unproven" if missing else "passed"
    fields: list[FieldNote] = [{"pointer": pointer, "description": fault} for pointer, fault in found]
    return {"name": name, "outcome": outcome, "fields": fields}


_CHUNK: Final = 1_000
_SAVED_BY_MANY: Final = 10
"""Names of tools with this many saves are protected against imitation."""


class ToolNameIndex:
    """The names of all tools and of verified publishers, as of the newest change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tools, self._publishers = TrigramIndex(), TrigramIndex()
        self._seq = 0
        self._lock = asyncio.Lock()

    async def see(self, draft: ToolDraft, *, besides: str = "") -> DraftScreening:
        """The injection flags of a draft and the names it resembles; `besides` is the draft's own
        tool, if it has one.
        """
        flags = await thread_pools.SEARCH.run(draft_checks.find_injection_flags, draft)
        async with self._lock:
            await self._catch_up()
            publisher = draft.publisher.name if draft.publisher else None
            return DraftScreening(
                draft,
                flags,
                tuple(self._tools.like(draft.name, besides=(besides,))),
                tuple(self._publishers.like(publisher)) if publisher else (),
            )

    async def _catch_up(self) -> None:
        while found := await self._store.scan(lambda tx: catalogue_queries.tools_since(tx, self._seq, limit=_CHUNK)):
            for each in found:
                self._apply(each)
            self._seq = found[-1].seq

    def _apply(self, changed: CatalogueTool) -> None:
        if changed.status == "deleted":
            self._tools.drop(changed.id)
            return
        document: dict[str, Any] = orjson.loads(changed.document)
        publisher: dict[str, Any] = document.get("publisher") or {}
        verified = bool(publisher.get("verified"))
        protected = verified or changed.saves >= _SAVED_BY_MANY
        self._tools.put(changed.id, document["name"], protected=protected)
        if verified and publisher.get("name") and publisher.get("domain"):
            self._publishers.put(publisher["domain"], publisher["name"], protected=True)
