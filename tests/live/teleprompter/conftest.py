"""One server with two workers that hear of each other by datagrams."""

from collections.abc import Generator

import pytest

from tests.conftest import MODELS
from tests.helpers.live_server import Server


@pytest.fixture(scope="session")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """Two workers."""
    settings = {"models_dir": str(MODELS), "limit_teleprompter_rpm": "1000000"}
    server = Server(tmp_path_factory.mktemp("pair"), workers=2, settings=settings)
    server.start()
    yield server
    server.stop()
    assert "crashed" not in (server.folder / "log").read_text()
