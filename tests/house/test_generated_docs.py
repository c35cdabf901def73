"""The generated pages say what the code says."""

import json
import re
import tomllib
from collections.abc import Generator
from itertools import chain
from pathlib import Path

import pytest

from docs import generate
from negotiator.config.settings import Settings


@pytest.fixture(scope="module", autouse=True)
def _written_once() -> Generator[None]:
    """All tests here read the same pages; the folder of a page is set after it was written."""
    written, folder, guides = generate.pages(), generate.FOLDER, generate.GUIDES

    def pages() -> dict[Path, str]:
        moved = {folder: generate.FOLDER, guides: generate.GUIDES}
        return {moved.get(path.parent, path.parent) / path.name: text for path, text in written.items()}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "pages", pages)
        yield


def test_every_reference_page_is_fresh() -> None:
    assert [path.name for path in generate.stale()] == []


def test_a_page_that_was_edited_by_hand_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "FOLDER", tmp_path)
    monkeypatch.setattr(generate, "GUIDES", tmp_path)
    for path, text in generate.pages().items():
        if path.parent == tmp_path:
            path.write_text(text)
    assert generate.stale() == []
    (tmp_path / "scopes.md").write_text("edited")
    (tmp_path / "strange.md").write_text("no page")
    assert [path.name for path in generate.stale()] == ["scopes.md", "strange.md"]


def test_the_operations_page_names_every_operation() -> None:
    text = generate.pages()[generate.FOLDER / "operations.md"]
    service = generate.service()
    assert all(f"### `{each.method} {each.path}`" in text for each in service.operations)


ROOT = Path(__file__).parents[2]


def described(page: str) -> set[str]:
    """The packages of the page's tables; one row may name several."""
    rows = re.findall(r"^\| ([@a-z0-9/, -]+) \|", page, re.MULTILINE)
    return {name for row in rows for name in row.split(", ")}


def named(requirement: str) -> str:
    return re.split(r"[\[<>=]", requirement)[0]


def test_every_dependency_has_its_reason() -> None:
    page = (ROOT / "docs" / "decisions" / "0002-dependencies.md").read_text()
    ours, heading, others = page.partition("\n## In environments of their own\n")
    assert heading
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    assert described(ours) == {named(each) for each in wanted}
    files = chain(ROOT.glob("tests/live/*/*.in"), ROOT.glob("tests/bench/*.in"))
    lines = chain(*(path.read_text().splitlines() for path in files))
    apart = {named(line) for line in lines if line and not line.startswith("#")}
    for folder in ("bench", "live"):
        for path in (ROOT / "tests" / folder).glob("*/package.json"):
            apart |= json.loads(path.read_text())["dependencies"].keys()
    assert described(others) == apart


def test_no_link_between_pages_is_broken() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_file_named_in_the_security_page_exists() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", text)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / "negotiator" / name).exists()] == []


def test_every_setting_is_documented() -> None:
    page = generate.pages()[generate.GUIDES / "settings.md"]
    assert len(Settings.model_fields) > 15
    names = [f"NEGOTIATOR_{name.upper()}" for name in Settings.model_fields]
    assert [name for name in names if name not in page] == []


def test_every_path_on_the_architecture_pages_exists() -> None:
    docs = ROOT / "docs"
    pages = [docs / "architecture.md", *sorted((docs / "architecture").glob("*.md"))]
    for page in pages:
        named = re.findall(r"`([a-z_]\w*/[\w/]*(?:\.py|/)|[a-z_]+\.py)`", page.read_text())
        missing = [name for name in named if not _exists(name)]
        assert missing == [], page.name


def _exists(name: str) -> bool:
    if "/" not in name:
        return ((ROOT / "negotiator") / name).exists() or any((ROOT / "negotiator").glob(f"*/{name}"))
    return ((ROOT / "negotiator") / name).exists() or (ROOT / name).exists()
