"""What the advisor model is told of a negotiation: what both sides know, and nothing that one side keeps to itself.

Its sentences then take the place of those of a plan.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from negotiator.advice.advisor import WordingCase, WordingRequest
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.numbers.read import normalise_text, numbers_in
from negotiator.terms.limits import private_numbers
from negotiator.terms.plain_text import cut_at_word, tidy
from negotiator.terms.terms import Terms
from negotiator.terms.wording import Wording

MAX_CASE_OFFERS: Final = 6
MAX_CASE_ISSUES: Final = 20
MAX_CASE_CHARACTERS: Final = 120


def wording_case(terms: Terms, offers: Sequence[LedgerOffer] = ()) -> WordingCase:
    """The case of these terms with the last offers made; limits, targets, weights and alternatives are left out.

    A text of the user may name a limit, so its numbers are replaced by a mark; figures of offers are known to both.
    """
    words = Wording(terms)
    return WordingCase(
        title=_without_numbers(terms.title),
        role=terms.role,
        other_side=_without_numbers(words.them),
        kind=_without_numbers(terms.kind),
        category=_without_numbers(terms.category),
        issues=tuple(_without_numbers(words.label(one)) for one in terms.issues[:MAX_CASE_ISSUES]),
        offers=tuple((offer.by, _values(words, offer)) for offer in offers[-MAX_CASE_OFFERS:]),
    )


def _values(words: Wording, offer: LedgerOffer) -> dict[str, str]:
    return {
        _without_numbers(words.label(issue)): words.value(issue, offer.package[issue.name])
        for issue in words.terms.issues[:MAX_CASE_ISSUES]
        if issue.name in offer.package
    }


def case_request(
    terms: Terms | None,
    texts: Mapping[str, str],
    purpose: str,
    *,
    offers: Sequence[LedgerOffer] = (),
    utterance: str | None = None,
    seconds: float | None = None,
) -> WordingRequest:
    """A request to word these texts of a negotiation, with its case and the numbers that must stay private.

    Without terms nothing is known of either.
    """
    return WordingRequest(
        texts,
        purpose,
        utterance=utterance,
        secrets=private_numbers(terms) if terms else frozenset(),
        case=wording_case(terms, offers) if terms else None,
        seconds=seconds,
    )


def apply_wording(plan: dict[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """A copy of the plan with the sentences of `texts`, which are keyed by JSON pointer.

    A sentence of the summary is replaced in its joined text as well.
    """
    changed = deepcopy(plan)
    summary = changed["summary"]
    for pointer, text in texts.items():
        *path, last = pointer.split("/")[1:]
        place: Any = changed
        for part in path:
            place = place[_step(place, part)]
        if place is summary and last != "text":
            summary["text"] = summary["text"].replace(place[last], text)
        place[last] = text
    return changed


def _step(place: object, part: str) -> str | int:
    return int(part) if isinstance(place, list) else part


def _without_numbers(text: str) -> str:
    plain = cut_at_word(tidy(normalise_text(text)), MAX_CASE_CHARACTERS)
    out, at = "", 0
    for number in numbers_in(plain):
        if number.start >= at:
            out += plain[at : number.start] + "#"
            at = number.end
    return "".join("#" if mark.isnumeric() else mark for mark in out + plain[at:])
