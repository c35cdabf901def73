"""Notebooks, with the embedder that needs no model."""

import shutil
from pathlib import Path

import pytest

from negotiator.config.settings import Settings
from tests.conftest import make_settings
from tests.helpers.memory_client import hashing_embedder as hashing_embedder
from tests.helpers.memory_client import memory_client as memory_client
from tests.helpers.memory_client import new_memory_client as new_memory_client
from tests.helpers.memory_client import use_hashing_embedder as use_hashing_embedder


@pytest.fixture
def settings(tmp_path: Path, migrated: Path, signing_keys: Path) -> Settings:
    """Settings under which a token lives as long as a token may."""
    shutil.copy(migrated, tmp_path / "negotiator.db")
    return make_settings(tmp_path, signing_keys, token_ttl=86_400)
