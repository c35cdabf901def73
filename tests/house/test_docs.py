"""The generated pages say what the code says."""

from pathlib import Path

import pytest

from docs import generate


def test_every_reference_page_is_fresh() -> None:
    assert [path.name for path in generate.stale()] == []


def test_a_page_that_was_edited_by_hand_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "FOLDER", tmp_path)
    for path, text in generate.pages().items():
        path.write_text(text)
    assert generate.stale() == []
    (tmp_path / "scopes.md").write_text("edited")
    (tmp_path / "strange.md").write_text("no page")
    assert [path.name for path in generate.stale()] == ["scopes.md", "strange.md"]


def test_the_operations_page_names_every_operation() -> None:
    text = generate.pages()[generate.FOLDER / "operations.md"]
    service = generate.service()
    assert all(f"### `{each.method} {each.path}`" in text for each in service.operations)
