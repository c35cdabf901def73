"""Notebooks, with the embedder that needs no model."""

import shutil
from pathlib import Path

import pytest

from negotiator.settings import Settings
from tests.conftest import make_settings
from tests.helpers.memory_client import hashed as hashed
from tests.helpers.memory_client import new_notebook as new_notebook
from tests.helpers.memory_client import notebook as notebook


@pytest.fixture(autouse=True)
def quick(hashed: None) -> None:
    """Every test here."""
    del hashed


@pytest.fixture
def settings(tmp_path: Path, migrated: Path, signing_keys: Path) -> Settings:
    """Settings under which a token lives as long as a token may."""
    shutil.copy(migrated, tmp_path / "negotiator.db")
    return make_settings(tmp_path, signing_keys, token_ttl=86_400)
