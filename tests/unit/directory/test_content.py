"""The catalogue's content: real shapes, known words, and a source for every fact."""

import re
import tomllib
from collections import Counter
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pytest

CONTENT: Final = Path(__file__).parents[3] / "negotiator" / "directory" / "content"
ORDER: Final = [
    "assistants-models",
    "agents-orchestration",
    "coding",
    "devops-cloud",
    "databases-storage",
    "data-ml",
    "search-web",
    "knowledge-memory",
    "writing-language",
    "image-design",
    "audio-video",
    "productivity",
    "communication-support",
    "marketing-sales",
    "finance-commerce",
    "security-governance",
    "science-education-health",
    "location-devices",
    "media-leisure",
]
REQUIRED: Final = frozenset(("slug", "name", "kind", "summary", "subcategories", "tags", "homepage_url", "publisher"))
OPTIONAL: Final = frozenset(
    (
        *("description", "docs_url", "repository", "interfaces", "packages", "auth"),
        *("pricing", "licence", "open_source", "evidence"),
    )
)
SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
TAG: Final = re.compile(r"[a-z0-9.][a-z0-9 .+#/&'-]{0,31}")
TERM: Final = re.compile(r"[a-z0-9][a-z0-9 .+#/&'-]{0,63}")
LINK: Final = re.compile(r"https://[a-z0-9.-]+\.[a-z]{2,}(?::\d+)?(?:/[^\s?]*)?")
SPDX: Final = re.compile(r"[A-Za-z0-9]+(?:[.+-][A-Za-z0-9]+)*")
FACTS: Final = (OPTIONAL | {"name", "homepage_url"}) - {"evidence", "description"}

Toml = dict[str, Any]


def _read(name: str) -> Toml:
    return tomllib.loads((CONTENT / f"{name}.toml").read_text())


TOOLS: Final[dict[str, list[Toml]]] = {category: _read(category)["tool"] for category in ORDER}
ALL: Final = [tool for tools in TOOLS.values() for tool in tools]


def _links(tool: Toml) -> list[str]:
    links = [tool["homepage_url"], tool.get("docs_url"), tool.get("repository", {}).get("url")]
    links += [interface.get("url") for interface in tool.get("interfaces", [])]
    return [link for link in links if link is not None]


def test_the_taxonomy_is_the_agreed_one_in_its_order() -> None:
    categories = _read("taxonomy")["category"]
    assert [category["slug"] for category in categories] == ORDER
    for category in categories:
        assert category["description"].endswith("?")
        slugs = [sub["slug"] for sub in category["subcategories"]]
        assert len(slugs) == len(set(slugs)) >= 4
        assert all(SLUG.fullmatch(slug) for slug in slugs)


def test_a_drawer_of_another_directory_leads_to_one_category_only() -> None:
    for theirs in ("docker", "toolsdk"):
        named = [
            drawer
            for category in _read("taxonomy")["category"]
            for drawer in category.get("crosswalk", {}).get(theirs, [])
        ]
        assert len(named) == len(set(named)) > 5


def test_no_file_is_without_a_category() -> None:
    beside = {"taxonomy", "sources", "synonyms", "languages", "tasks"}
    assert {path.stem for path in CONTENT.glob("*.toml")} == {*ORDER, *beside}


@pytest.mark.parametrize("category", ORDER)
def test_a_category_has_enough_tools_and_uses_its_whole_closed_list(category: str) -> None:
    known = next(entry for entry in _read("taxonomy")["category"] if entry["slug"] == category)
    used = {sub for tool in TOOLS[category] for sub in tool["subcategories"]}
    assert len(TOOLS[category]) >= 10
    assert used == {sub["slug"] for sub in known["subcategories"]}


def test_there_are_many_tools_and_every_slug_name_and_package_is_there_once() -> None:
    assert len(ALL) >= 250
    for field in ("slug", "name", "summary"):
        assert [key for key, times in Counter(tool[field].casefold() for tool in ALL).items() if times > 1] == []
    packages = Counter(
        (package["registry"], package["identifier"]) for tool in ALL for package in tool.get("packages", [])
    )
    assert [package for package, times in packages.items() if times > 1] == []


def test_every_tool_says_at_least_what_a_reader_needs() -> None:
    for tool in ALL:
        assert tool.keys() >= REQUIRED, tool["slug"]
        assert tool.keys() <= REQUIRED | OPTIONAL, tool["slug"]
        assert len(tool["summary"]) >= 30, tool["slug"]
        assert tool["summary"].endswith("."), tool["slug"]
        assert tool["subcategories"], tool["slug"]
        assert tool["tags"], tool["slug"]
        assert len(set(tool["tags"])) == len(tool["tags"]), tool["slug"]


def test_tags_and_licences_are_written_in_one_way() -> None:
    for tool in ALL:
        assert all(TAG.fullmatch(tag) for tag in tool["tags"]), tool["slug"]
        assert SPDX.fullmatch(tool.get("licence", "MIT")), tool["slug"]


def test_a_stated_licence_says_open_source_and_an_open_price_is_never_closed() -> None:
    for tool in ALL:
        if "licence" in tool:
            assert tool["open_source"] is True, tool["slug"]
        if tool.get("pricing", {}).get("model") == "open_source":
            assert tool.get("open_source", True) is True, tool["slug"]


def test_every_link_is_https_and_carries_no_query() -> None:
    for tool in ALL:
        for link in _links(tool):
            assert LINK.fullmatch(link), f"{tool['slug']}: {link}"
            assert len(link) <= 2048


def test_every_snapshot_row_names_a_source_a_path_and_facts_that_are_there() -> None:
    sources = _read("sources")
    assert sources["publisher"]["method"] == "editor's knowledge"
    assert "checked_at" not in sources["publisher"]
    for tool in ALL:
        for row in tool.get("evidence", []):
            assert row.keys() == {"source", "path", "fields"}, tool["slug"]
            assert row["source"] in sources.keys() - {"publisher"}, tool["slug"]
            assert row["fields"], tool["slug"]
            assert set(row["fields"]) <= FACTS & tool.keys(), tool["slug"]
    for key in sources.keys() - {"publisher"}:
        assert sources[key].keys() >= {"name", "url", "revision", "as_of", "checked_at", "licence"}


def test_no_two_summaries_say_nearly_the_same() -> None:
    for tools in TOOLS.values():
        for left, right in combinations([tool["summary"] for tool in tools], 2):
            matcher = SequenceMatcher(None, left, right, autojunk=False)
            if matcher.real_quick_ratio() > 0.85 and matcher.quick_ratio() > 0.85:
                assert matcher.ratio() <= 0.9, f"{left} | {right}"


def test_no_text_carries_hidden_or_directing_characters() -> None:
    for tool in ALL:
        for text in (tool["name"], tool["summary"], tool.get("description", "")):
            assert text.isprintable(), tool["slug"]


def test_each_subcategory_says_what_people_want_done() -> None:
    tasks: dict[str, str] = _read("tasks")["tasks"]
    parts = [part["slug"] for each in _read("taxonomy")["category"] for part in each["subcategories"]]
    assert list(tasks) == parts
    assert all(25 <= len(text) <= 300 and text.isprintable() for text in tasks.values())


def test_a_synonym_belongs_to_one_group_and_there_are_many() -> None:
    themes = _read("synonyms")
    widen = themes.pop("widen")
    groups: list[list[str]] = [group for theme in themes.values() for group in theme["groups"]]
    assert len(groups) >= 120
    assert all(len(group) >= 2 for group in groups)
    times = Counter(term for group in groups for term in group)
    assert [term for term, count in times.items() if count > 1] == []
    terms = [*times, *widen, *(term for wider in widen.values() for term in wider)]
    assert [term for term in terms if not TERM.fullmatch(term)] == []
