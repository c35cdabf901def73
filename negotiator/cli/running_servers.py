"""Records of the servers that this user runs, so that commands in another folder or shell find their settings.

A record is a file of mode 0600 in the user's state folder. The server process holds a lock on it while it lives.
"""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

import orjson

import negotiator
from negotiator.config.settings import PATHS, Settings, load
from negotiator.config.settings_files import (
    CONFIG_VARIABLE,
    ENV_PREFIX,
    SettingsError,
    SettingsSources,
    find_files,
    own_variables,
    read_sources,
    user_folder,
)

_SUFFIX: Final = ".server.json"
_BASE_URL: Final = f"{ENV_PREFIX}BASE_URL"
_DATA_DIR: Final = f"{ENV_PREFIX}DATA_DIR"
_CHOICES: Final = frozenset({_DATA_DIR, f"{ENV_PREFIX}DATABASE_URL", CONFIG_VARIABLE})
"""Variables by which the user chooses a database."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server of this user: its process, its installation, and the files and variables that its settings come from."""

    pid: int
    started_at: float
    package: str
    base_url: str
    data_dir: str
    files: list[str]
    variables: dict[str, str]
    workers: int = 1

    @classmethod
    def of(cls, settings: Settings, sources: SettingsSources, workers: int = 1) -> Self:
        """This process, which is about to serve with these settings."""
        variables = own_variables()
        paths = {f"{ENV_PREFIX}{name.upper()}": getattr(settings, name) for name in PATHS}
        # A relative path is stored as the absolute one, for commands in other folders.
        variables |= {name: str(path) for name, path in paths.items() if variables.get(name)}
        return cls(
            pid=os.getpid(),
            started_at=time.time(),
            package=_package(),
            base_url=settings.base_url,
            data_dir=str(settings.data_dir.absolute()),
            files=[str(path) for path in sources.files],
            variables=variables,
            workers=workers,
        )

    def sources(self, own: dict[str, str]) -> SettingsSources:
        """What the server's files and variables give, over which this process's own variables win."""
        files = [Path(name) for name in self.files]
        return read_sources(Settings.model_fields, files, {**self.variables, **own})


@contextlib.contextmanager
def recorded(settings: Settings, sources: SettingsSources, workers: int = 1) -> Generator[None]:
    """Keep a record of this process until it ends or the context is left; it lives on in a program that replaces it.

    A state folder that cannot be written to is no reason not to serve: then no command finds this server.
    """
    file = None
    with contextlib.suppress(OSError, SettingsError):
        file = _write(RunningServer.of(settings, sources, workers))
    try:
        yield
    finally:
        if file is not None:
            descriptor, path = file
            path.unlink(missing_ok=True)
            os.close(descriptor)


def command_sources() -> SettingsSources:
    """The settings of an operator's command: its own, or those of the one server that the user runs.

    The user's own choice of a database wins: `--config`, a variable, or a file in the current folder that the server
    does not read. Raises `SettingsError` when several servers run and differ in their database.
    """
    own, files = own_variables(), find_files()
    plain = read_sources(Settings.model_fields, files, own)
    if any(os.environ.get(name) for name in _CHOICES):
        return plain
    here = {str(path) for path in files if path.parent == Path.cwd()}
    servers = [server for server in running_servers() if here <= set(server.files)]
    if base := own.get(_BASE_URL):
        servers = [server for server in servers if server.base_url == base]
    if not servers:
        return plain
    found: dict[tuple[str, Path], SettingsSources] = {}
    for server in servers:
        settings = load(sources := server.sources(own))
        found[settings.database_url, settings.keys_dir] = sources
    if len(found) > 1:
        raise SettingsError(_several(servers))
    return next(iter(found.values()))


def running_servers() -> list[RunningServer]:
    """The servers of this user and this installation that run now, oldest first; records of dead ones are removed."""
    with contextlib.suppress(OSError, SettingsError):
        records = [_read(path) for path in _folder().glob(f"*{_SUFFIX}")]
        living = (each for each in records if each is not None and each.package == _package())
        return sorted(living, key=lambda each: each.started_at)
    return []


def _several(servers: Sequence[RunningServer]) -> str:
    listed = ", ".join(f"{server.base_url} (data in {server.data_dir})" for server in servers)
    return (
        f"Several servers of yours are running: {listed}. Choose one by its address, for example "
        f"{_BASE_URL}={servers[0].base_url}, or its data by {_DATA_DIR}."
    )


def _folder() -> Path:
    return user_folder("XDG_STATE_HOME", ".local/state")


def _package() -> str:
    return str(Path(negotiator.__file__).resolve().parent)


def _write(server: RunningServer) -> tuple[int, Path]:
    """Write and lock the record; it gets its name only when it is locked, so that no reader takes it for a dead one."""
    folder = _folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=folder)  # mode 0600
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.set_inheritable(descriptor, True)
    os.write(descriptor, orjson.dumps(asdict(server)))
    path = Path(f"{name}{_SUFFIX}")
    Path(name).rename(path)
    return descriptor, path


def _read(path: Path) -> RunningServer | None:
    """The record if its server lives; else it is removed."""
    with contextlib.suppress(OSError, ValueError, TypeError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return RunningServer(**orjson.loads(file.read()))
        path.unlink()
    return None
