"""All checks over one draft: what is refused outright, what a person has to look at, what may pass by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.directory.checks import injection, links, owning
from negotiator.directory.checks.injection import Flag
from negotiator.directory.checks.names import Likeness
from negotiator.directory.checks.owning import Ownership, Proof
from negotiator.directory.record.tool import Known, ToolDraft
from negotiator.errors import FieldError, ValidationFailed

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
class Seen:
    """What was seen of a draft outside of any transaction: it takes milliseconds, and more than the draft.

    `tools` are other tools of like names, `publishers` verified publishers, by their domains.
    """

    draft: ToolDraft
    flags: tuple[Flag, ...]
    tools: tuple[Likeness, ...] = ()
    publishers: tuple[Likeness, ...] = ()


def read(draft: ToolDraft) -> tuple[Flag, ...]:
    """Every pattern in the draft's texts."""
    return tuple(injection.flags(draft.model_dump(mode="json")))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checks say. `ownership` is set when the draft is whole the prover's, `similar` are tools of like names.

    `clear` is whether nothing was flagged: then, and with ownership, nobody has to look.
    """

    checks: tuple[dict[str, Any], ...]
    similar: tuple[Likeness, ...]
    ownership: Ownership | None
    clear: bool


def demand(draft: ToolDraft) -> None:
    """Refuse with 422 what no moderator could let pass: addresses nobody may list, no address at all."""
    faults = links.faults(draft)
    if not draft.findable:
        faults.append(
            FieldError(
                "/homepage_url", "Say where it is: a page, a repository, an endpoint or a package."
            )
        )
    if faults:
        raise ValidationFailed(faults)


def judge(
    draft: ToolDraft, seen: Seen, *, proofs: Sequence[Proof], current: Known | None = None
) -> Verdict:
    """Look at a draft that `demand` let pass, and that no other tool is a duplicate of.

    `current` is the tool that it would change: whoever owns only what the draft would make of it owns nothing yet.
    """
    ownership = owning.owned_whole(proofs, draft)
    if current is not None and owning.held(proofs, current) is None:
        ownership = None
    # Another change may have come between: what was seen of another draft says nothing of this one.
    flags = seen.flags if seen.draft == draft else read(draft)
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
    return Verdict(checks, seen.tools, ownership, not (flags or seen.tools or publishers))


def _likeness(found: Likeness) -> str:
    what = "a protected name" if found.protected else "the name"
    return f"Is like {what} of {found.tool}."


def _check(
    name: str, found: Sequence[tuple[str, str]] = (), *, missing: bool = False
) -> dict[str, Any]:
    outcome = "flagged" if found else "unproven" if missing else "passed"
    fields = [{"pointer": pointer, "description": said} for pointer, said in found]
    return {"name": name, "outcome": outcome, "fields": fields}
