"""Servers with two workers, one for each bus, started when the first test wants it."""

from collections.abc import Callable, Generator

import pytest

from tests.conftest import MODELS
from tests.live.conftest import Server

Houses = Callable[[str], Server]


@pytest.fixture(scope="session")
def houses(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Houses]:
    """Gives the server whose workers hear of each other by `datagrams`, `redis` or `notify`."""
    started: dict[str, Server] = {}

    def give(bus: str) -> Server:
        if bus not in started:
            settings = {"models_dir": str(MODELS), "limit_teleprompter_rpm": "1000000"}
            if bus == "redis":
                settings["redis_url"] = request.getfixturevalue("redis_url")
            elif bus == "notify":
                settings["database_url"] = request.getfixturevalue("postgres")()
            folder = tmp_path_factory.mktemp(bus)
            started[bus] = Server(folder, workers=2, settings=settings)
            started[bus].start()
        return started[bus]

    yield give
    for server in started.values():
        server.stop()
        assert "crashed" not in (server.folder / "log").read_text()
