"""Checks of a draft: links that may not be listed, texts that address models, imitated names and publishers.

Invalid links are refused. Texts that look like instructions to a model (tool poisoning, OWASP LLM01) and imitated names
are flagged for a moderator; a pattern is no proof, so nothing flagged is approved or refused automatically. Special-use
hosts follow RFC 6761, RFC 2606 and RFC 8375; `record_text.split_url` has checked the syntax of URLs before.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.directory import tool_ownership
from negotiator.directory.name_likeness import NameLikeness, without_confusables
from negotiator.directory.schemas_submissions import CheckView, FieldNote
from negotiator.directory.tool_keys import is_tracking_parameter
from negotiator.directory.tool_ownership import OwnershipProof, ToolOwnership
from negotiator.directory.tool_record import ToolDraft, ToolRecordBase


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


TEXT_FLAGS: Final = {
    "override": "Looks like an instruction that overrides others.",
    "addressed": "Addresses models instead of readers.",
    "steering": "Tells models which tool to choose.",
    "secrecy": "Asks for secrets, or to hide something from the user.",
    "markup": "Contains markup; texts must be plain.",
    "tool_call": "Looks like a prompt template or a tool call.",
    "shouting": "Is written in capitals.",
    "hidden": "Hides text in white space or encoded data.",
    "mixed_script": "Contains a word with letters of two scripts.",
}
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
    ownership = tool_ownership.find_whole_ownership(proofs, draft)
    if current is not None and tool_ownership.find_listed_ownership(proofs, current) is None:
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
