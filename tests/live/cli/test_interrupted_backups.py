"""Ctrl-C ends `backup`, `verify` and `restore` at once, wherever they are, with exit code 130 and nothing half done."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from negotiator.backup.database_copy import open_file
from tests.helpers.backup_keys import BACKUP_KEY
from tests.helpers.command_line import PREFIX, CommandLine
from tests.helpers.live_server import PATIENCE, ROUNDS

INTERRUPTED: Final = 130
MOMENTS: Final = ROUNDS


@pytest.fixture
def here(tmp_path: Path, database_url: str) -> CommandLine:
    """A machine with one user, on each engine in turn."""
    return machine(tmp_path, database_url)


def machine(folder: Path, database_url: str) -> CommandLine:
    made = CommandLine(
        {
            "NEGOTIATOR_DATA_DIR": str(folder),
            "NEGOTIATOR_KEYS_DIR": str(folder / "keys"),
            "NEGOTIATOR_DATABASE_URL": database_url,
            "NEGOTIATOR_SECRET": "a pepper that has at least thirty-two characters",
            "NEGOTIATOR_BACKUP_KEY": BACKUP_KEY,
        }
    )
    for words in (("migrate",), ("keys", "list"), ("users", "add", "ada@example.com")):
        assert made.run(*words).exit_code == 0
    return made


def environment(command_line: CommandLine) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    own = {"NEGOTIATOR_CONFIG": os.devnull, "PYTHONPATH": str(Path(__file__).parents[3])}
    return plain | own | command_line.variables


_INTERRUPTING: Final = """
import inspect, json, os, signal, sys
from negotiator.cli.main import app
from negotiator.backup import database_copy, making, restoring
from negotiator.cli import backups

PAUSES = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR

def run(words, moment):
    passed = 0
    def count(frame, event, _):
        nonlocal passed
        code = frame.f_code
        # Python handles no signal where a coroutine or generator pauses, which a profiler sees as calls too.
        is_moment = event.startswith("c_") or not code.co_flags & PAUSES
        if is_moment and "/negotiator/backup/" in code.co_filename:
            passed += 1
            if passed == moment:
                os.kill(os.getpid(), signal.SIGINT)
    sys.setprofile(count)
    try:
        app(words)
    except BaseException as ended:
        sys.setprofile(None)
        return ended.code if isinstance(ended, SystemExit) else repr(ended), passed

for line in sys.stdin:
    reading, writing = os.pipe()
    if not os.fork():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.write(writing, json.dumps(run(*json.loads(line))).encode())
        os._exit(0)
    os.wait()
    print(os.read(reading, 1000).decode(), flush=True)
    os.close(reading), os.close(writing)
"""
"""Runs the command of each line of its input in a process of its own, which gets SIGINT at a moment.

A moment is a number: so many calls of functions of or by `negotiator.backup` have begun or ended. It prints the exit
code, and how many moments have passed.
"""

Run = Callable[[list[str], int], tuple[Any, int]]
NEVER: Final = 0


@contextmanager
def interrupting(command_line: CommandLine) -> Generator[Run]:
    """Runs a command that gets SIGINT at a moment."""
    with subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTING],
        env=environment(command_line),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        given, said = process.stdin, process.stdout
        assert given is not None
        assert said is not None

        def run(words: list[str], moment: int) -> tuple[Any, int]:
            given.write(json.dumps([words, moment]) + "\n")
            given.flush()
            code, passed = json.loads(said.readline())
            return code, passed

        yield run
        given.close()


def moments_of(passed: int) -> list[int]:
    """Some of all moments, the first and the last among them."""
    return sorted({1, *range(1, passed, max(1, passed // MOMENTS)), passed - 1, passed})


def left_in(folder: Path) -> list[str]:
    """What an interrupted command did not put away."""
    left = ("unfinished-*", "restore-*", "restore.json", ".*.backup.*")
    return sorted(path.name for pattern in left for path in folder.glob(pattern))


def test_a_backup_that_is_interrupted_at_any_moment_is_whole_or_not_there(here: CommandLine, tmp_path: Path) -> None:
    with interrupting(here) as run:
        code, passed = run(["backup", str(tmp_path / "whole.backup")], NEVER)
        assert code == 0
        assert passed > MOMENTS
        found: list[bool] = []
        for moment in moments_of(passed):
            file = tmp_path / f"{moment}.backup"
            assert run(["backup", str(file)], moment)[0] == INTERRUPTED
            assert left_in(tmp_path) == []
            found.append(file.exists())
            if file.exists():
                assert here.run("verify", str(file)).exit_code == 0
    assert found == sorted(found), "from the moment on at which it got its name, it is there"
    assert not found[0]


def test_a_restore_that_is_interrupted_at_any_moment_leaves_the_old_or_the_new(
    here: CommandLine, tmp_path: Path
) -> None:
    file = str(tmp_path / "ada.backup")
    assert here.run("backup", file).exit_code == 0
    restore = ["restore", "--replace", file]
    states: list[str] = []
    with interrupting(here) as run:
        code, passed = run(restore, NEVER)
        assert code == 0
        for moment in moments_of(passed):
            if users(here) == 1:
                assert here.run("users", "add", "bob@example.com").exit_code == 0
            assert run(restore, moment)[0] == INTERRUPTED
            states.append({2: "old", 1: "new"}[users(here)])
            assert left_in(tmp_path) == []
    # Not in order: a server sends its answers in other pieces each time, so two runs do not pass the same moments.
    assert states[0] == "old"
    assert "new" in states


def users(command_line: CommandLine) -> int:
    """How many users there are, after the next command has completed what an interrupted one left."""
    return len(command_line.run("users", "list", "--json").value)


@pytest.fixture
def large(tmp_path: Path, migrated: Path) -> CommandLine:
    """A machine with an SQLite database of some tens of megabytes that cannot be compressed."""
    file = tmp_path / "negotiator.db"
    file.write_bytes(migrated.read_bytes())
    made = machine(tmp_path, f"sqlite+aiosqlite:///{file}")
    with open_file(file) as connection:
        connection.execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)"
            " insert into spent (kind, value, expires_at)"
            " select 'large', hex(randomblob(1000)) || i, 9000000000000000 from n"
        )
    return made


@contextmanager
def running_command(command_line: CommandLine, *words: str, **options: Any) -> Generator["subprocess.Popen[str]"]:
    """A command as a process of its own, which ends with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "negotiator", *words],
        env=environment(command_line),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def interrupt(process: "subprocess.Popen[str]") -> str:
    """Send SIGINT; what the command says on standard error until it ends as interrupted."""
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == INTERRUPTED
    assert process.stderr is not None
    return process.stderr.read()


@pytest.mark.parametrize("written", ["unfinished-*/database", ".large.backup.*"])
def test_ctrl_c_ends_a_running_backup_of_a_large_database(large: CommandLine, tmp_path: Path, written: str) -> None:
    """While SQLite copies the database, and while the copy is encrypted into the file."""
    file = tmp_path / "large.backup"
    with running_command(large, "backup", str(file)) as process:
        wait_until(lambda: any(each.stat().st_size for each in tmp_path.glob(written)))
        assert interrupt(process) == ""
    assert not file.exists()
    assert left_in(tmp_path) == []


def test_ctrl_c_ends_a_backup_that_nobody_takes(large: CommandLine, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with running_command(large, "backup", "-", stdout=writing) as process:
        os.close(writing)
        assert os.read(reading, 1)  # then the pipe fills
        assert interrupt(process) == ""
    os.close(reading)
    assert left_in(tmp_path) == []


def test_ctrl_c_ends_a_restore_and_a_check_that_wait_for_their_backup(large: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "large.backup"
    assert large.run("backup", str(file)).exit_code == 0
    for words in (["restore", "--replace", "-"], ["verify", "-"]):
        with running_command(large, *words, stdin=subprocess.PIPE) as process:
            given: Any = process.stdin
            given.buffer.write(file.read_bytes()[: 1 << 20])
            given.flush()
            wait_until(lambda: any(tmp_path.glob("restore-*")) or any(tmp_path.glob("unfinished-*")))
            assert interrupt(process) == ""
        assert users(large) == 1
        assert left_in(tmp_path) == []


def test_ctrl_c_ends_a_statement_that_would_never_end(tmp_path: Path, migrated: Path) -> None:
    script = """
import sys, threading, time
from pathlib import Path
from negotiator.backup.database_copy import open_file
from negotiator.cli.output import async_command

def began():
    threading.Thread(target=tell, args=(threading.get_ident(),), daemon=True).start()

def running(frame):
    while frame:
        yield frame.f_code.co_name
        frame = frame.f_back

def tell(main):
    while "began" in running(sys._current_frames()[main]):
        time.sleep(0.01)
    print("began", flush=True)  # now only SQLite runs

@async_command
async def count():
    with open_file(Path(sys.argv[1])) as connection:
        connection.create_function("began", 0, began)
        connection.execute(
            "with recursive n(i) as (select began() union all select i from n) select count(*) from n"
        ).fetchall()

count()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(migrated)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(PATIENCE) == -signal.SIGINT
        finally:
            process.kill()


@pytest.mark.parametrize("words", [("backup", "a.backup"), ("users", "add", "bob@example.com", "--password-stdin")])
def test_ctrl_c_ends_a_command_that_asks(tmp_path: Path, migrated: Path, words: tuple[str, ...]) -> None:
    """At a terminal, where the kernel makes SIGINT of the key."""
    file = tmp_path / "negotiator.db"
    file.write_bytes(migrated.read_bytes())
    asking = machine(tmp_path, f"sqlite+aiosqlite:///{file}")
    del asking.variables["NEGOTIATOR_BACKUP_KEY"]
    own, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "negotiator", *words],
        env=environment(asking),
        cwd=tmp_path,
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    ) as process:
        os.close(its)
        with closing(os.fdopen(own, "r+b", buffering=0)) as terminal:
            asked = b""
            while not (b"Backup key" in asked or b"Password" in asked):
                asked += terminal.read(1000)
            terminal.write(b"\x03")
            try:
                assert process.wait(PATIENCE) == INTERRUPTED
            finally:
                process.kill()
    assert users(asking) == 1
    assert not (tmp_path / "a.backup").exists()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until it is so; files may come and go meanwhile."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        try:
            if condition():
                return
        except FileNotFoundError:
            continue
        time.sleep(0.001)
    raise AssertionError("it did not come to this")
