"""Citations: a source is an RFC, a paper or a numbered section of `docs/contract` that exists."""

import re
from typing import Final

from tests.helpers.contract_pages import CONTRACT, sections
from tests.house.source_tree import label, tracked

_CITED: Final = re.compile(r"docs/contract (\d+(?:\.\d+)?(?:(?:, | and | to )\d+\.\d+)*)")
# Built from parts, so that this file may be read too.
_MARK: Final = "\u00a7"
_DANGLING: Final = re.compile(
    rf"contract,? {_MARK}|reference,? (?:note|{_MARK}|[A-C]\d)|seed,? {_MARK}|{_MARK}[\d.]+ of the contract"
    rf"|(?:identity|directory|negotiation|live-and-memory|libraries|style|house)\.md`?,? {_MARK}"
    rf"|(?:assistant|directory) {_MARK}|`?house" + r"\.md\b|\bthe seeds?(?:'s?)? (?!from|of the random)"
)


def _texts() -> list[tuple[str, str]]:
    folders = ("negotiator/", "tests/", "docs/", "README.md")
    paths = [path for path in tracked() if label(path).startswith(folders)]
    readable = [path for path in paths if path.suffix in {".py", ".md", ".html", ".toml", ".txt"}]
    return [(label(path), path.read_text()) for path in readable]


def test_nothing_cites_a_document_that_is_not_here() -> None:
    found = [f"{name}: {hit}" for name, text in _texts() for hit in _DANGLING.findall(text)]
    assert found == []


def test_cited_sections_of_the_contract_exist() -> None:
    cited = {
        (name, number)
        for name, text in _texts()
        for listed in _CITED.findall(text)
        for number in re.findall(r"\d+(?:\.\d+)?", listed)
    }
    assert cited
    assert not [(name, number) for name, number in cited if number not in sections()]


def test_rules_are_numbered_in_order_within_their_section() -> None:
    for page in sorted(CONTRACT.glob("[0-9]*.md")):
        for section in page.read_text().split("\n## ")[1:]:
            rules = [int(number) for number in re.findall(r"^(\d+)\. ", section, re.MULTILINE)]
            assert rules == [*range(1, len(rules) + 1)], section.splitlines()[0]


def test_sections_are_numbered_in_order_within_their_page() -> None:
    for page in CONTRACT.glob("[0-9]*-*.md"):
        chapter = page.name.partition("-")[0]
        found = re.findall(r"^## (\S+) ", page.read_text(), re.MULTILINE)
        assert found == [f"{chapter}.{place}" for place in range(1, len(found) + 1)], page.name
