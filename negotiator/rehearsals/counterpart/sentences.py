"""What the simulated counterpart says: a sentence for each moment of the talk, by its manner and its part in the deal.

The sentences are in `sentences.toml`. The offer and the issue in them are the caller's words; none has a figure.
"""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from negotiator.advice.plans.case_template import choose_template
from negotiator.rehearsals.counterpart.person import MOMENTS, STYLES, Moment, Style
from negotiator.terms.plain_text import noun_phrase
from negotiator.terms.terms import Terms

CaseKind: TypeAlias = Literal[
    "software_vendor",
    "software_customer",
    "private_seller",
    "private_buyer",
    "employer",
    "present_employer",
    "candidate",
    "client",
    "freelancer",
    "landlord",
    "tenant",
    "service_provider",
    "seller",
    "buyer",
    "other",
]
"""What the counterpart is in the talk."""
CASE_KINDS: Final[tuple[CaseKind, ...]] = get_args(CaseKind)
GROUPS: Final[Mapping[str, frozenset[CaseKind]]] = {
    "sells": frozenset({"software_vendor", "private_seller", "freelancer", "landlord", "service_provider", "seller"}),
    "buys": frozenset({"software_customer", "private_buyer", "client", "tenant", "buyer"}),
}
COUNTERPARTS: Final[Mapping[str, CaseKind]] = {
    "software_renewal": "software_vendor",
    "software_purchase": "software_vendor",
    "software_sale": "software_customer",
    "content_licence": "buyer",
    "raise": "present_employer",
    "salary_offer": "employer",
    "hiring": "candidate",
    "freelance_rate": "client",
    "agency_fee": "freelancer",
    "used_car": "private_seller",
    "dealer_purchase": "seller",
    "second_hand_purchase": "private_seller",
    "house_purchase": "private_seller",
    "private_sale": "private_buyer",
    "dealer_sale": "private_buyer",
    "sale_to_dealer": "buyer",
    "house_sale": "private_buyer",
    "home_services": "service_provider",
    "event_services": "service_provider",
    "insurance": "service_provider",
    "rent_tenant": "landlord",
    "rent_landlord": "tenant",
    "sponsorship_given": "seller",
    "sponsorship_sought": "buyer",
    "supply_purchase": "seller",
    "supply_sale": "buyer",
    "generic_buyer": "seller",
    "generic_seller": "buyer",
    "settlement_claim": "other",
    "settlement_defence": "other",
    "partnership": "other",
    "generic": "other",
}
"""The other side of each case template, which is written for the user's side."""
OFFER_MOMENTS: Final[frozenset[Moment]] = frozenset(
    {
        "opening",
        "step",
        "small_step",
        "trades",
        "repeat",
        "last_step",
        "final",
        "final_again",
        "takes_back",
        "insulted",
        "offended",
    }
)
"""The moments in which the person names a package; each of their sentences does."""
OWN_SHARE: Final = 0.5
"""How often a sentence of the kind of counterpart is preferred to one for everybody."""
_SLOT: Final = re.compile(r"\{(offer|issue)\}")


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """One sentence, around its slot where it has one. `whom` is empty for everybody, `style` None for every style."""

    before: str
    slot: str | None
    after: str
    style: Style | None
    whom: frozenset[CaseKind]

    def fits(self, style: Style | None, case: CaseKind) -> bool:
        """Whether such a person would say it; without a style, whether any of this kind would."""
        return (not self.whom or case in self.whom) and (style is None or self.style is None or self.style == style)

    def was_said(self, said: Collection[str]) -> bool:
        """Whether one of these sentences is this one, with whatever stood in its slot."""
        if self.slot is None:
            return any(text.startswith(self.before) for text in said)
        return any(self.before in text and text.endswith(self.after) for text in said)

    def say(self, slots: Mapping[str, str]) -> str:
        """The sentence with its slot filled; the filling is not read."""
        return self.before + ("" if self.slot is None else slots[self.slot]) + self.after


def case_kind(terms: Terms) -> CaseKind:
    """What the other side of this negotiation is."""
    return COUNTERPARTS[choose_template(terms).name]


def sentence(
    moment: Moment,
    *,
    style: Style,
    case: CaseKind,
    draw: Random | str,
    slots: Mapping[str, str],
    avoid: Collection[str] = (),
) -> str:
    """What the person says at this moment; the same draw gives the same sentence.

    `slots` has `offer`, the package in words, for `OFFER_MOMENTS`, and `issue`, the name of an issue, for the moments
    about one. Sentences in `avoid` were said and are not said again while the moment has others, at last those of
    other styles. Raises ValueError where a slot is missing.
    """
    rng = Random(draw) if isinstance(draw, str) else draw  # noqa: S311  words, not secrets
    filled = {name: text for name, text in slots.items() if text}
    if "issue" in filled:
        filled["issue"] = noun_phrase(filled["issue"])
    lines = [line for line in spoken_lines()[moment] if line.slot is None or line.slot in filled]
    usual = [line for line in lines if line.fits(style, case)]
    if not usual:
        raise ValueError(f"{moment} lacks a slot; there are {sorted(filled)}")
    fresh = (
        [line for line in usual if not line.was_said(avoid)]
        or [line for line in lines if line.fits(None, case) and not line.was_said(avoid)]
        or usual
    )
    own = [line for line in fresh if line.whom]
    common = [line for line in fresh if not line.whom]
    prefers_own = rng.random() < OWN_SHARE
    pool = (own or common) if prefers_own else (common or own)
    return pool[rng.randrange(len(pool))].say(filled)


@cache
def spoken_lines() -> Mapping[Moment, tuple[SpokenLine, ...]]:
    """The sentences of each moment, read once. Raises ValueError for a moment, style or kind that does not exist."""
    file = files(__package__ or __name__).joinpath("sentences.toml")
    content: dict[str, list[dict[str, Any]]] = tomllib.loads(file.read_text("utf-8"))
    if unknown := content.keys() - set(MOMENTS):
        raise ValueError(f"no moments: {sorted(unknown)}")
    return {moment: tuple(line for group in content[moment] for line in _group(group)) for moment in MOMENTS}


def _group(group: Mapping[str, Any]) -> tuple[SpokenLine, ...]:
    style = group.get("style")
    whom: set[CaseKind] = set()
    for name in cast("list[str]", group.get("whom", [])):
        whom |= GROUPS.get(name) or {cast("CaseKind", name)}
    if style not in {None, *STYLES} or not whom <= set(CASE_KINDS):
        raise ValueError(f"unknown style or kind: {style}, {sorted(whom)}")
    return tuple(_line(text, style, frozenset(whom)) for text in cast("list[str]", group["say"]))


def _line(text: str, style: Style | None, whom: frozenset[CaseKind]) -> SpokenLine:
    before, *rest = _SLOT.split(text)
    slot, after = rest or (None, "")
    return SpokenLine(before, slot, after, style, whom)
