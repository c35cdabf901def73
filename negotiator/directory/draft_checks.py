"""Text written at models instead of readers: found by pattern, and left to a person to judge.

Tool descriptions reach the models of whoever searches (tool poisoning, OWASP LLM01). A pattern is no proof, and its
absence none either: what it finds is never approved by a machine, what it does not find is still only data.

Addresses that must not be listed, though they have the form of one (RFC 6761, RFC 2606, RFC 8375).

`record.texts.split_url` has checked the form: https, no credentials, a name as host, at most 2,048 characters.

All checks over one draft: what is refused outright, what a person has to look at, what may pass by itself.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

from negotiator.directory import tool_ownership
from negotiator.directory.name_likeness import NameLikeness, without_confusables
from negotiator.directory.tool_keys import is_tracking_parameter
from negotiator.directory.tool_ownership import OwnershipProof, ToolOwnership
from negotiator.directory.tool_record import ToolDraft, ToolRecordBase
from negotiator.errors import FieldError, ValidationFailed


@dataclass(frozen=True, slots=True)
class InjectionFlag:
    """A pattern found in a field: which kind, where (RFC 6901)."""

    kind: str
    pointer: str


_PATTERNS: Final = tomllib.loads(Path(__file__).with_name("injection_patterns.toml").read_text())
_PART = re.compile(r"@(\w+)")


def _whole(pattern: str) -> str:
    """A pattern with its parts put in."""
    return "(?:" + _PART.sub(lambda part: _PATTERNS["word"][part[1]], pattern) + ")"


_FOLDED: Final = {
    kind: re.compile("|".join(map(_whole, patterns)))
    for kind, patterns in _PATTERNS["folded"].items()
}
_PLAIN: Final = {
    kind: tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)
    for kind, patterns in _PATTERNS["plain"].items()
}
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPACE = re.compile(r"[\s_*~`'\"’‘“”|]+")
_SPLIT = re.compile(r"[-.·]")
_ADDRESSES: Final = ("url", "domain", "sha256", "identifier", "mcp_registry", "urn_air")
"""Members that are no prose: their own forms leave no room for a sentence, and base64 or capitals are normal."""


def injection_kinds(text: str) -> list[str]:
    """Which kinds of pattern are in a text, in a fixed order."""
    folded = _SPACE.sub(" ", without_confusables(text))
    spellings = {folded, _SPLIT.sub(" ", folded), _SPLIT.sub("", folded)}
    found = [
        kind
        for kind, pattern in _FOLDED.items()
        if any(pattern.search(spelling) for spelling in spellings)
    ]
    found += [kind for kind, patterns in _PLAIN.items() if any(p.search(text) for p in patterns)]
    if any(_is_mixed(word) for word in _WORD.findall(text)):
        found.append("mixed_script")
    return found


def injection_flags(document: Mapping[str, Any]) -> list[InjectionFlag]:
    """Every pattern in every text of a document, the names of its members left out."""
    return [
        InjectionFlag(kind, pointer)
        for pointer, text in prose_texts(document, "")
        for kind in injection_kinds(text)
    ]


def prose_texts(value: object, pointer: str) -> Iterator[tuple[str, str]]:
    """Every text of a JSON value that is prose, with the pointer to it."""
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
    """Whether one word has letters of Latin and of a script that has look-alikes of it."""
    scripts = {
        unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()
    }
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})


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


def draft_addresses(draft: ToolDraft) -> Iterator[tuple[str, str]]:
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


def link_faults(draft: ToolDraft) -> list[FieldError]:
    """What is wrong with the addresses of a draft, each with its pointer."""
    found = [
        FieldError(where, said) for where, url in draft_addresses(draft) if (said := url_fault(url))
    ]
    domain = draft.publisher.domain if draft.publisher else None
    if domain and (said := host_fault(domain)):
        found.append(FieldError("/publisher/domain", said))
    return found


def url_fault(url: str) -> str | None:
    """Why an address of good form may not be listed; None when it may."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if "{" in host:
        # A template in the host: the part behind it is what will be reached.
        host = host.rpartition("}")[2].lstrip(".-")
    if said := host_fault(host):
        return said
    tracking = [
        name
        for name, _ in parse_qsl(parts.query, keep_blank_values=True)
        if is_tracking_parameter(name)
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


_SAID: Final = {
    "override": "Reads like an instruction that overrides others.",
    "addressed": "Speaks to models instead of readers.",
    "steering": "Tells models which tool to choose.",
    "secrecy": "Asks for secrets, or to keep something from the user.",
    "markup": "Has markup in it; text is plain.",
    "tool_call": "Looks like a prompt template or a tool call.",
    "shouting": "Shouts.",
    "hidden": "Hides something in white space or code.",
    "mixed_script": "Has a word in letters of two scripts.",
}


@dataclass(frozen=True, slots=True)
class DraftScreening:
    """What was seen of a draft outside of any transaction: it takes milliseconds, and more than the draft.

    `tools` are other tools of like names, `publishers` verified publishers, by their domains.
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
    """What the checks say. `ownership` is set when the draft is whole the prover's, `similar` are tools of like names.

    `clear` is whether nothing was flagged: then, and with ownership, nobody has to look.
    """

    checks: tuple[dict[str, Any], ...]
    similar: tuple[NameLikeness, ...]
    ownership: ToolOwnership | None
    clear: bool


def require_acceptable(draft: ToolDraft) -> None:
    """Refuse with 422 what no moderator could let pass: addresses nobody may list, no address at all."""
    faults = link_faults(draft)
    if not draft.findable:
        faults.append(
            FieldError(
                "/homepage_url", "Say where it is: a page, a repository, an endpoint or a package."
            )
        )
    if faults:
        raise ValidationFailed(faults)


def judge_draft(
    draft: ToolDraft,
    seen: DraftScreening,
    *,
    proofs: Sequence[OwnershipProof],
    current: ToolRecordBase | None = None,
) -> DraftVerdict:
    """Look at a draft that `demand` let pass, and that no other tool is a duplicate of.

    `current` is the tool that it would change: whoever owns only what the draft would make of it owns nothing yet.
    """
    ownership = tool_ownership.find_whole_ownership(proofs, draft)
    if current is not None and tool_ownership.find_listed_ownership(proofs, current) is None:
        ownership = None
    # Another change may have come between: what was seen of another draft says nothing of this one.
    flags = seen.flags if seen.draft == draft else find_injection_flags(draft)
    own = {proof.domain for proof in proofs}
    publishers = [each for each in seen.publishers if each.tool not in own]
    checks = (
        _check("schema"),
        _check("links"),
        _check("duplicate"),
        _check("text", [(flag.pointer, _SAID[flag.kind]) for flag in flags]),
        _check("name", [("/name", _likeness(each)) for each in seen.tools]),
        _check(
            "publisher",
            [("/publisher/name", "Is like a verified publisher's name.") for _ in publishers],
            missing=ownership is None,
        ),
    )
    return DraftVerdict(checks, seen.tools, ownership, not (flags or seen.tools or publishers))


def _likeness(found: NameLikeness) -> str:
    what = "a protected name" if found.protected else "the name"
    return f"Is like {what} of {found.tool}."


def _check(
    name: str, found: Sequence[tuple[str, str]] = (), *, missing: bool = False
) -> dict[str, Any]:
    outcome = "flagged" if found else "unproven" if missing else "passed"
    fields = [{"pointer": pointer, "description": said} for pointer, said in found]
    return {"name": name, "outcome": outcome, "fields": fields}
