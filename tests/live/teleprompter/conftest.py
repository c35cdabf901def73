"""One server with two workers that hear of each other by datagrams."""

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from negotiator.config.settings import Settings
from tests.conftest import MODELS, make_settings
from tests.helpers.live_server import Server


@pytest.fixture(scope="session")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    settings = {"models_dir": str(MODELS), "limit_rpm": "1000000"}
    server = Server(tmp_path_factory.mktemp("pair"), workers=2, settings=settings)
    server.start()
    yield server
    server.stop()
    assert "crashed" not in (server.folder / "log").read_text()


@pytest.fixture(params=["datagrams", "redis", "notify"])
def on_each_bus(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path, signing_keys: Path) -> Settings:
    """Settings that applications share; their messages go over a bus of each kind."""
    shutil.copy(migrated, tmp_path / "negotiator.db")
    shared: dict[str, str] = {}
    if request.param == "redis":
        shared["redis_url"] = request.getfixturevalue("redis_url")
    elif request.param == "notify":
        shared["database_url"] = request.getfixturevalue("postgres")()
    return make_settings(tmp_path, signing_keys, **shared)
