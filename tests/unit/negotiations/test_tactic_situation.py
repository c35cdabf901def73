"""From a negotiation to the facts tactics rest on: what is not known stays unknown."""

from dataclasses import fields

import pytest

from negotiator.advice.tactics.facts import TacticSituation
from negotiator.negotiations.schemas_tactics import MatchTactics
from negotiator.negotiations.tactic_input import described_tactic_situation, stored_tactic_situation
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms
from tests.unit.advice.plans.plan_cases import case

DAY = 86_400_000


def known(situation: TacticSituation) -> set[str]:
    """Names of the facts that are not None."""
    unset = (None, ())
    return {f.name for f in fields(situation) if getattr(situation, f.name) not in unset} - {"sayable"}


def test_the_least_negotiation_says_no_more_than_it_was_told() -> None:
    body = {"title": "Bike", "role": "buyer", "issues": [{"name": "price"}]}
    terms = parse_terms(NegotiationBody.model_validate(body))
    bare = stored_tactic_situation(terms, None, None, now=0)
    assert known(bare) == {"role", "kind", "category", "n_issues", "price_only", "for_company"}
    assert bare.sayable.topic == "the price"
    assert bare.for_company is False
    begun = stored_tactic_situation(terms, None, (), now=0)
    assert known(begun) - known(bare) == {"my_offers", "their_offers"}


def test_an_empty_description_is_an_empty_situation() -> None:
    terms, situation = described_tactic_situation(MatchTactics.model_validate({}), 0)
    assert terms is None
    assert known(situation) == set()


def test_a_talk_that_has_begun_tells_its_phase_its_counts_and_their_final_word() -> None:
    situation = case("logistics").brief.situation
    assert (situation.phase, situation.my_offers, situation.their_offers) == ("bargain", 1, 1)
    assert situation.rounds_left == 6
    assert situation.their_claimed_final is True
    assert situation.finals_moved == 0
    assert situation.their_decider is True
    assert situation.gap == pytest.approx(1.0)
    assert situation.volume_open is True
    assert situation.payment_open is None


def test_differing_weights_and_a_weak_alternative_are_read_from_the_terms() -> None:
    saas = case("saas_renewal").brief.situation
    assert saas.priorities_differ is True
    assert saas.has_batna is True
    assert saas.batna_known_to_be_strong is False
    assert saas.my_authority_limited is True
    assert (saas.their_decider, saas.relationship) == (False, "ongoing")
    assert case("rent").brief.situation.priorities_differ is None
    assert case("rent").brief.situation.has_batna is None


@pytest.mark.parametrize(("days", "pressure"), [(0, 1.0), (7, 0.5), (63, 0.1)])
def test_time_presses_more_the_nearer_the_deadline(days: int, pressure: float) -> None:
    body = {"title": "Bike", "role": "buyer", "issues": [{"name": "price"}], "deadline": "2027-01-01T00:00:00Z"}
    terms = parse_terms(NegotiationBody.model_validate(body))
    assert terms.deadline is not None
    situation = stored_tactic_situation(terms, None, (), now=terms.deadline - days * DAY)
    assert situation.deadline_pressure_mine == pytest.approx(pressure)
    assert situation.deadline_pressure_theirs is None


@pytest.mark.parametrize("name", ["saas_renewal", "settlement", "salary", "logistics"])
def test_no_limit_and_no_alternative_can_be_spoken(name: str) -> None:
    found = case(name)
    sayable = found.brief.situation.sayable
    said = " ".join(filter(None, (sayable.topic, sayable.my_offer, sayable.their_offer)))
    assert not any(secret in said for secret in found.expect["unsaid"])
