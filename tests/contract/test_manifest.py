"""The manifest and the tests, in both directions."""

import importlib
import pkgutil

import tests.api.mcp
import tests.attack
import tests.contract
from tests.contract.requirements import CITED, REQUIREMENTS


def test_every_requirement_has_a_test_and_every_cited_one_exists() -> None:
    for package in (tests.contract, tests.attack, tests.api.mcp):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in ("cli.test_demo", "http.test_limit_stores", "test_process_survival"):
        importlib.import_module(f"tests.live.{name}")
    assert not REQUIREMENTS.keys() - CITED.keys(), "required, and proved by no test"
    assert not CITED.keys() - REQUIREMENTS.keys(), "cited, and required nowhere"


def test_a_requirement_says_something_and_names_its_source() -> None:
    for name, requirement in REQUIREMENTS.items():
        assert requirement.behaviour
        assert requirement.source.split(" ")[0] == name.split(":")[0]
