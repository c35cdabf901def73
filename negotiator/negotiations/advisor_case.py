"""What the advisor model is told of a negotiation: what both sides know, and nothing that one side keeps to itself."""

from collections.abc import Mapping, Sequence
from typing import Final

from negotiator.advice.advisor import WordingCase, WordingRequest
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.numbers.read import normalise_text, numbers_in
from negotiator.terms.issues import coordinate
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
    terms: Terms,
    texts: Mapping[str, str],
    purpose: str,
    *,
    offers: Sequence[LedgerOffer] = (),
    utterance: str | None = None,
    seconds: float | None = None,
) -> WordingRequest:
    """A request to word these texts of a negotiation, with its case and the numbers that must stay private."""
    # Imported late, because they load numpy: a worker that never advises does not need it.
    from negotiator.advice.plans.brief import PlanBrief
    from negotiator.advice.plans.checks import private_numbers

    limits = {coordinate(one.type, one.limit) for one in terms.issues if one.limit is not None}
    return WordingRequest(
        texts,
        purpose,
        utterance=utterance,
        secrets=private_numbers(PlanBrief(terms=terms)) | {at for at in limits if at is not None},
        case=wording_case(terms, offers),
        seconds=seconds,
    )


def _without_numbers(text: str) -> str:
    plain = cut_at_word(tidy(normalise_text(text)), MAX_CASE_CHARACTERS)
    out, at = "", 0
    for number in numbers_in(plain):
        if number.start >= at:
            out += plain[at : number.start] + "#"
            at = number.end
    return "".join("#" if mark.isnumeric() else mark for mark in out + plain[at:])
