"""The manifest and the tests, in both directions."""

import importlib
import pkgutil

import tests.attack
import tests.contract
from tests.contract.requirements import CITED, LATER, REQUIREMENTS


def test_every_requirement_has_a_test_and_every_cited_one_exists() -> None:
    for package in (tests.contract, tests.attack):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    assert not REQUIREMENTS.keys() - CITED.keys(), "required, and proved by no test"
    assert not CITED.keys() - REQUIREMENTS.keys(), "cited, and required nowhere"


def test_a_requirement_is_due_now_or_later_and_names_its_source() -> None:
    assert not REQUIREMENTS.keys() & LATER.keys()
    for name, requirement in (REQUIREMENTS | LATER).items():
        assert requirement.behaviour
        assert requirement.source.split(" ")[0] == name.split(":")[0]
