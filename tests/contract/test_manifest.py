"""The manifest and the tests, in both directions."""

import importlib
import pkgutil

import tests.api
import tests.attack
import tests.contract
from tests.contract.requirements import CITED, REQUIREMENTS, section
from tests.helpers.contract_pages import sections


def test_every_requirement_has_a_test_and_every_cited_one_exists() -> None:
    for package in (tests.contract, tests.attack, tests.api):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    live = ("cli.test_demo", "console.test_live_call", "http.test_limit_stores", "http.test_redis_away")
    for name in (*live, "test_process_survival"):
        importlib.import_module(f"tests.live.{name}")
    for name in ("negotiations.test_advisor_openai", "trust.test_issuer_keys"):
        importlib.import_module(f"tests.unit.{name}")
    importlib.import_module("tests.house.test_tools")
    assert not REQUIREMENTS.keys() - CITED.keys(), "required, and proved by no test"
    assert not CITED.keys() - REQUIREMENTS.keys(), "cited, and required nowhere"


def test_every_requirement_stands_in_a_section_of_the_contract() -> None:
    assert all(REQUIREMENTS.values())
    assert not [name for name in REQUIREMENTS if section(name) not in sections()]


def test_every_section_of_the_contract_has_a_requirement() -> None:
    proved = {section(name) for name in REQUIREMENTS}
    assert not [number for number in sections() if "." in number and number not in proved]
