"""Backups in an S3 store: whole or not there, never over another, and every fault in one line within a bounded time."""

import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from negotiator.backup import object_store
from negotiator.backup.object_store import new_object, open_object
from negotiator.base.errors import Unavailable
from tests.helpers.command_line import PREFIX, CommandLine, CommandResult
from tests.helpers.live_server import PATIENCE
from tests.helpers.s3_stand_in import (
    BUCKET,
    Harm,
    S3Proxy,
    S3StandIn,
    answer_with_a_page,
    answer_with_all,
    answer_with_markup,
    change_a_byte,
    change_the_answer,
    cut_the_answer,
    drip,
    hang,
    knows_no_condition,
    lose_the_answer,
    s3_proxy,
)

PASSPHRASE: Final = "a long enough passphrase"
SMALL_PART: Final = 5 << 20
"""The least that S3 takes."""
MOST_SECONDS: Final = 4.0
PUT, COMPLETE = ("PUT", "partNumber="), ("POST", "uploadId=")


@pytest.fixture
def proxy(s3: S3StandIn) -> Generator[S3Proxy]:
    with s3_proxy(s3.url) as running:
        yield running


@pytest.fixture
def here(tmp_path: Path, s3: S3StandIn) -> CommandLine:
    """A machine with data, and the keys of the store."""
    return machine(tmp_path / "here", s3.variables(), is_new=True)


@pytest.fixture
def through(tmp_path: Path, s3: S3StandIn, proxy: S3Proxy) -> CommandLine:
    """The same, by way of the proxy."""
    return machine(tmp_path / "here", s3.variables(proxy.url), is_new=True)


@pytest.fixture
def variables(s3: S3StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of the store for calls in this process."""
    set_all(monkeypatch, s3.variables())


def set_all(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def machine(folder: Path, store: dict[str, str], *, is_new: bool = False) -> CommandLine:
    made = CommandLine(
        {
            "NEGOTIATOR_DATA_DIR": str(folder / "var"),
            "NEGOTIATOR_KEYS_DIR": str(folder / "keys"),
            "NEGOTIATOR_SECRET": "a pepper that has at least thirty-two characters",
            "NEGOTIATOR_BACKUP_PASSPHRASE": PASSPHRASE,
            **store,
        }
    )
    if is_new:
        for words in (("migrate",), ("keys", "list"), ("users", "add", "ada@example.com")):
            assert made.run(*words).exit_code == 0
    return made


def refused(result: CommandResult) -> str:
    """The one line of a command that refuses."""
    assert result.exit_code == 1, result
    assert result.out == ""
    line = result.err.strip()
    assert "\n" not in line
    assert line.startswith("negotiator: ")
    return line


def replace(word: str) -> list[str]:
    """The option without which a restore refuses before it reads."""
    return ["--replace"] if word == "restore" else []


def url(key: str) -> str:
    return f"s3://{BUCKET}/{key}"


def content_of(key: str) -> bytes:
    reader = open_object(url(key))
    return b"".join(iter(lambda: reader.read(70_000), b""))


def test_what_was_backed_up_into_a_bucket_is_restored_from_it(here: CommandLine, tmp_path: Path, s3: S3StandIn) -> None:
    made = here.run("backup", url("whole"), "--json").value
    assert s3.objects()["whole"] == made["bytes"]
    assert made["file"] == url("whole")
    there = machine(tmp_path / "there", s3.variables())
    assert "can be restored" in there.run("verify", url("whole")).out
    assert not (tmp_path / "there/keys").exists(), "verify leaves nothing"
    assert "1 user" in there.run("restore", url("whole")).out
    [user] = there.run("users", "list", "--json").value
    assert user["email"] == "ada@example.com"


@pytest.mark.usefixtures("variables")
def test_an_object_of_many_parts_takes_the_memory_of_one(s3: S3StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "PART", SMALL_PART)
    monkeypatch.setattr(object_store, "RANGE", 1 << 20)
    key = "a folder/ü?x=1#%41&+.backup"
    pieces = [os.urandom(65_540) for _ in range(16)] * 20
    tracemalloc.start()
    with new_object(url(key)) as target:
        before, _ = tracemalloc.get_traced_memory()
        for piece in pieces:
            target.write(piece)
    _, most = tracemalloc.get_traced_memory()
    assert most - before < 2 * SMALL_PART
    reader = open_object(url(key))
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    for piece in pieces:
        got = b""
        while len(got) < len(piece) and (more := reader.read(len(piece) - len(got))):
            got += more
        assert got == piece
    assert reader.read(1) == b""
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most - before < SMALL_PART
    assert s3.objects()[key] == sum(map(len, pieces)) > 3 * SMALL_PART


def test_nothing_in_the_bucket_is_replaced(here: CommandLine, s3: S3StandIn) -> None:
    s3.client().put_object(Bucket=BUCKET, Key="mine", Body=b"mine")
    assert "exists already" in refused(here.run("backup", url("mine")))
    blind = CommandLine(here.variables | s3.writer)
    assert "exists already" in refused(blind.run("backup", url("mine"))), "it may not look first"
    assert s3.objects()["mine"] == 4
    assert "mine" not in s3.uploads()


@pytest.mark.parametrize("is_conditional", [True, False])
def test_of_two_uploads_of_one_name_the_first_to_end_has_it(
    s3: S3StandIn, proxy: S3Proxy, monkeypatch: pytest.MonkeyPatch, is_conditional: bool
) -> None:
    set_all(monkeypatch, s3.variables(proxy.url))
    if not is_conditional:
        proxy.harm(*COMPLETE, knows_no_condition, times=9)
    key = f"raced-{is_conditional}"

    def late() -> None:
        with new_object(url(key)) as second:
            second.write(b"second")
            with new_object(url(key)) as first:
                first.write(b"first")

    with pytest.raises(Unavailable, match="exists already"):
        late()
    assert content_of(key) == b"first"
    assert key not in s3.uploads()


@pytest.mark.usefixtures("variables")
def test_an_upload_that_fails_leaves_neither_object_nor_parts(s3: S3StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "PART", SMALL_PART)

    def fail() -> None:
        with new_object(url("failed")) as target:
            target.write(bytes(2 * SMALL_PART))
            assert "failed" in s3.uploads()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert "failed" not in s3.objects()
    assert "failed" not in s3.uploads()


@contextmanager
def backing_up(machine: CommandLine, key: str, folder: Path) -> Generator["subprocess.Popen[str]"]:
    """The command as a process of its own, which ends with the block."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    root = str(Path(__file__).parents[3])
    with subprocess.Popen(
        [sys.executable, "-m", "negotiator", "backup", url(key)],
        env={**plain, "NEGOTIATOR_CONFIG": os.devnull, **machine.variables, "PYTHONPATH": root},
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_ctrl_c_ends_an_upload_at_once_and_deletes_its_parts(
    through: CommandLine, s3: S3StandIn, proxy: S3Proxy, tmp_path: Path
) -> None:
    proxy.harm(*PUT, hang)
    with backing_up(through, "interrupted", tmp_path) as process:
        assert proxy.reached.wait(2 * PATIENCE)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert "interrupted" not in s3.objects()
    assert "interrupted" not in s3.uploads()


@pytest.mark.parametrize("request_", [PUT, COMPLETE], ids=["part", "completion"])
def test_an_upload_that_is_killed_leaves_no_object(
    through: CommandLine, s3: S3StandIn, proxy: S3Proxy, request_: tuple[str, str], tmp_path: Path
) -> None:
    """SIGKILL while the part, or the request that completes the upload, is on its way."""
    proxy.harm(*request_, hang)
    key = f"killed-{request_[0]}"
    with backing_up(through, key, tmp_path) as process:
        assert proxy.reached.wait(2 * PATIENCE)
        process.kill()
    assert key not in s3.objects()
    assert key in s3.uploads(), "the parts wait for the lifecycle rule"
    assert "There is no object" in refused(through.run("verify", url(key)))
    assert through.run("backup", url(key)).exit_code == 0, "the name is free"
    assert "can be restored" in through.run("verify", url(key)).out
    s3.abort_all()


@pytest.mark.parametrize(
    ("word", "request_", "harm"),
    [
        ("backup", ("HEAD", ""), hang),
        ("backup", PUT, hang),
        ("backup", PUT, drip),
        ("backup", COMPLETE, drip),
        ("verify", ("GET", "kept"), hang),
        ("restore", ("GET", "kept"), drip),
    ],
)
def test_a_store_that_does_not_answer_in_time_is_given_up(
    through: CommandLine,
    s3: S3StandIn,
    proxy: S3Proxy,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    request_: tuple[str, str],
    harm: Harm,
) -> None:
    key = "kept"
    if key not in s3.objects():
        assert through.run("backup", url(key)).exit_code == 0
    if word == "backup":
        key = f"slow-{request_[0]}-{harm.__name__}"
    monkeypatch.setattr(object_store, "REQUEST_SECONDS", MOST_SECONDS)
    proxy.harm(*request_, harm, times=99)
    began = time.monotonic()
    line = refused(through.run(word, url(key), *replace(word)))
    assert time.monotonic() - began < 5 * MOST_SECONDS + PATIENCE
    assert "did not finish a request within 4 seconds" in line
    assert proxy.reached.is_set()
    assert word != "backup" or key not in s3.objects()
    [user] = through.run("users", "list", "--json").value
    assert user["email"] == "ada@example.com", "nothing was touched"


def test_each_fault_is_told_in_one_line_without_the_keys(here: CommandLine, s3: S3StandIn, tmp_path: Path) -> None:
    secret = "a-secret-key-that-is-wrong"
    none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    for changed, bucket, reason in (
        ({"AWS_SECRET_ACCESS_KEY": secret}, BUCKET, "does not accept the credentials: Signature"),
        ({"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE"}, BUCKET, "does not accept the credentials: Invalid"),
        (none, BUCKET, "credentials of the object store are not known"),
        ({}, "missing", "There is no bucket missing at 127.0.0.1"),
        ({}, "No_Bucket!", "nvalid bucket name"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, BUCKET, "cannot be reached"),
        ({"AWS_ENDPOINT_URL": "nonsense"}, BUCKET, "Invalid endpoint"),
        ({"AWS_PROFILE": "missing"}, BUCKET, "profile (missing) could not be found"),
    ):
        faulty = CommandLine(here.variables | changed)
        for word in ("backup", "verify", "restore"):
            line = refused(faulty.run(word, f"s3://{bucket}/faulty", *replace(word)))
            assert reason in line, (changed, word)
            assert s3.owner["AWS_SECRET_ACCESS_KEY"] not in line
            assert secret not in line
    for word in ("verify", "restore"):
        assert "There is no object" in refused(here.run(word, url("missing")))
    for name in ("s3://", "s3://bucket", "s3://bucket/", "s3:///key", "s3://bucket/folder/"):
        for word in ("backup", "verify", "restore"):
            assert "names no object" in refused(here.run(word, name))
    assert "faulty" not in s3.objects()
    assert not list(tmp_path.rglob("restore-*"))


def test_credentials_that_may_only_write_make_a_backup(here: CommandLine, s3: S3StandIn) -> None:
    writer = CommandLine(here.variables | s3.writer)
    assert writer.run("backup", url("written")).exit_code == 0
    assert "do not allow GetObject" in refused(writer.run("verify", url("written")))
    assert "can be restored" in here.run("verify", url("written")).out


def test_a_profile_of_the_user_names_store_and_keys(here: CommandLine, s3: S3StandIn, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(f"[profile elsewhere]\nregion = eu-central-1\nendpoint_url = {s3.url}\n")
    keys = "\n".join(f"{name.lower()} = {value}" for name, value in s3.owner.items())
    (tmp_path / "credentials").write_text(f"[elsewhere]\n{keys}\n")
    ours = {name: value for name, value in here.variables.items() if name.startswith(PREFIX)}
    files = {
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_PROFILE": "elsewhere",
    }
    assert CommandLine(ours | files).run("backup", url("profile")).exit_code == 0
    assert "profile" in s3.objects()


def test_bytes_that_change_on_their_way_are_noticed(through: CommandLine, s3: S3StandIn, proxy: S3Proxy) -> None:
    proxy.harm(*PUT, change_a_byte)
    line = refused(through.run("backup", url("changed")))
    assert "received other bytes than were sent: BadDigest" in line
    assert "changed" not in s3.objects()
    assert through.run("backup", url("changed")).exit_code == 0
    for word in ("verify", "restore"):
        proxy.harm("GET", "changed", change_the_answer)
        assert "damaged" in refused(through.run(word, url("changed"), *replace(word)))


def test_an_answer_that_is_lost_or_cut_costs_no_backup(through: CommandLine, s3: S3StandIn, proxy: S3Proxy) -> None:
    """The completion is repeated and then refused, since the name is taken, by this upload itself."""
    proxy.harm(*COMPLETE, lose_the_answer)
    proxy.harm(*PUT, lose_the_answer)
    assert through.run("backup", url("lost")).exit_code == 0
    assert [harm[-1] for harm in proxy.harms] == [0, 0]
    assert "lost" in s3.objects()
    proxy.harm("GET", "lost", cut_the_answer, times=2)
    assert "can be restored" in through.run("verify", url("lost")).out
    proxy.harm("GET", "lost", cut_the_answer, times=3)
    assert "cannot be reached" in refused(through.run("verify", url("lost")))


@pytest.mark.usefixtures("variables")
def test_an_object_that_is_replaced_while_it_is_read_is_refused(s3: S3StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "RANGE", 10)
    s3.client().put_object(Bucket=BUCKET, Key="replaced", Body=b"0123456789abcdefghij")
    reader = open_object(url("replaced"))
    assert reader.read(10) == b"0123456789"
    s3.client().put_object(Bucket=BUCKET, Key="replaced", Body=b"9876543210jihgfedcba")
    with pytest.raises(Unavailable, match="was replaced"):
        reader.read(10)


def test_what_is_no_backup_is_refused(through: CommandLine, s3: S3StandIn, proxy: S3Proxy) -> None:
    for body in (b"", b"something else"):
        s3.client().put_object(Bucket=BUCKET, Key="other", Body=body)
        assert "no backup" in refused(through.run("verify", url("other")))
    proxy.harm("GET", "other", answer_with_all)
    assert "does not answer with the range" in refused(through.run("verify", url("other")))


@pytest.mark.parametrize("page", [answer_with_a_page, answer_with_markup])
@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "GET"])
def test_what_is_no_object_store_is_told(
    through: CommandLine, s3: S3StandIn, proxy: S3Proxy, method: str, page: Harm
) -> None:
    key = f"{page.__name__}-{method}"
    proxy.harm(method, key, page, times=9)
    line = refused(through.run("verify" if method == "GET" else "backup", url(key)))
    # botocore takes a body that is no XML for a fault of the server.
    assert "does not answer as an S3 store does" in line or "500: Internal Server Error" in line
    assert key not in s3.objects()
    assert key not in s3.uploads()


def test_without_the_extra_the_command_says_what_to_install(here: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "negotiator.backup.object_store")
    monkeypatch.delattr("negotiator.backup.object_store")
    monkeypatch.setitem(sys.modules, "botocore.config", None)
    for word in ("backup", "verify", "restore"):
        assert "pip install 'negotiator[s3]'" in refused(here.run(word, url("any")))
