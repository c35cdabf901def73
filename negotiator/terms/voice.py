"""How the user speaks of their own side: as "I" or, for a company, as "we"."""

import re
from dataclasses import dataclass
from typing import Final

from negotiator.terms.plain_text import VOCABULARY, word_set
from negotiator.terms.terms import Terms


@dataclass(frozen=True, slots=True)
class Voice:
    """The words of the first person. `i` is "I" or "we": "{i}'ll", "{i}'ve" and "{i}'d" fit both."""

    i: str
    me: str
    my: str
    mine: str
    myself: str
    am: str
    was: str

    @property
    def is_private(self) -> bool:
        """Whether the user speaks for themselves, so that there is no team to speak of."""
        return self.i == "I"


PRIVATE: Final = Voice("I", "me", "my", "mine", "myself", "am", "was")
COMPANY: Final = Voice("we", "us", "our", "ours", "ourselves", "are", "were")

_PRIVATE_WORDS: Final = VOCABULARY["private_words"]
_COMPANY_WORDS: Final = VOCABULARY["company_words"]
_DEALER_WORDS: Final = word_set("dealer dealers dealership dealerships showroom trader traders reseller autohaus")
_ORGANISATION_WORDS: Final = _DEALER_WORDS | VOCABULARY["organisation_words"]
_PERSONAL_WORDS: Final = word_set("private owner person neighbour neighbor friend colleague")
_TIME_RATE: Final = re.compile(r"\b(?:day|daily|hour|hourly) rate\b|(?:\bper |/)(?:day|hour)\b")
_WORD: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)?")


def voice_of(terms: Terms) -> Voice:
    """The voice that fits the user's role, authority, kind of deal, category and title.

    A candidate speaks as "I"; an employer, and anybody whose authority ends somewhere, as "we". Otherwise the words of
    the category count twice and those of the title once; without a sign of a company the user speaks as "I". A seller
    whose category is a dealer's is one. Facts that are told with "I" are a person's.
    """
    if terms.role == "candidate":
        return PRIVATE
    if terms.role == "employer" or terms.authority.stated:
        return COMPANY
    category, title = _words(terms.category), _words(terms.title)
    if terms.role == "seller" and category & _DEALER_WORDS:
        return COMPANY
    private = 2 * len(category & _PRIVATE_WORDS) + len(title & _PRIVATE_WORDS)
    company = 2 * len(category & _COMPANY_WORDS) + len(title & _COMPANY_WORDS)
    private += 2 * (terms.kind in {"salary", "lease"}) + (terms.role == "tenant")
    company += terms.kind == "renewal"
    company += 3 * (terms.role == "landlord" and _has_organisation(terms))
    private += 3 * (terms.role == "seller" and _is_paid_by_time(terms))
    told = _words(" ".join(one.fact for one in terms.arguments))
    private += 5 * bool(told & {"i", "my", "me"} and not told & {"we", "our", "us"})
    return COMPANY if company > private else PRIVATE


def other_side_is_company(terms: Terms) -> bool:
    """Whether the other side is a company: it has an organisation, or its role, its name or the case says so.

    Of the case the title tells, and to a buyer the category too: a seller's category is their own trade.
    """
    party = terms.other_party
    if party is not None and party.organisation:
        return True
    named = _words("" if party is None else f"{party.role or ''} {party.name or ''}")
    case = _words(terms.title if terms.role == "seller" else f"{terms.title} {terms.category}")
    if (named | case) & _PERSONAL_WORDS:
        return False
    return bool(named & _ORGANISATION_WORDS or case & _DEALER_WORDS)


def _has_organisation(terms: Terms) -> bool:
    return terms.other_party is not None and bool(terms.other_party.organisation)


def _is_paid_by_time(terms: Terms) -> bool:
    """Whether the price is a rate by the day or hour, as freelancers have it."""
    price = terms.price
    text = f"{terms.title} {price.label or price.name} {price.unit}" if price else ""
    return _TIME_RATE.search(text.lower().replace("_", " ")) is not None


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower().replace("_", " ")))
