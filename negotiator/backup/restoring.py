"""Checks a backup, and puts what it holds in the place of what is there.

A restore unpacks beside the data, checks everything, and only then replaces: on SQLite by renames that a journal lists,
on PostgreSQL by one transaction, after which the journal's renames follow. A restore that is killed before its journal
is complete has changed nothing; one that is killed later is finished by the next command.
"""

import asyncio
import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import IO, Any, Final, Literal

import orjson
from sqlalchemy.engine import make_url

from negotiator.backup import archive, database_copy
from negotiator.backup.archive import Manifest, UnreadableBackup, unpack_archive
from negotiator.backup.making import sync_folder, work_folder
from negotiator.base import values
from negotiator.base.errors import Conflict
from negotiator.config.data_folder import RESTORE_JOURNAL, own_data_folder
from negotiator.config.settings import Settings
from negotiator.keys.database_keys import check_rows
from negotiator.keys.keyring import UnusableKeyError, check_keys
from negotiator.store import audit
from negotiator.store.migrate import migrations_held
from negotiator.store.schema_upgrades import upgrade_file
from negotiator.store.sqlite import SqliteTransaction
from negotiator.store.statement import Transaction

_STAGED: Final = "restore-"
_ASIDE: Final = "before-restore-"
_DATABASE_FILES: Final = ("", "-wal", "-shm", "-journal")

EraseAgain = Callable[[Transaction, str], bool]
"""Erases the user or agent with this id; False when there is none."""
EndedTokens = Literal["repeated", "all", "none"]
"""Which tokens, sessions and codes ended: those that had ended in the replaced database, every one, or none."""


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What was restored, and where the data that was there before is now.

    `erased_again` counts the users and agents that were erased after the backup was made, by the trail of the replaced
    database; None when there was no database, or it could not be read.
    """

    manifest: Manifest
    set_aside: list[str]
    erased_again: int | None
    ended: EndedTokens


@dataclass(frozen=True, slots=True)
class FileMove:
    """A rename; it is done when the new name exists."""

    before: Path
    after: Path

    def run(self) -> None:
        if not os.path.lexists(self.after) and os.path.lexists(self.before):
            self.after.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.before.rename(self.after)
            sync_folder(self.after.parent)
            sync_folder(self.before.parent)


def verify_backup(settings: Settings, source: IO[bytes], key: str) -> Manifest:
    """Read a whole backup, unpack it for a moment and check it; raises `UnreadableBackup`.

    It is unpacked in the data folder, or in the folder of temporary files where there is no data folder.
    """
    with ExitStack() as stack:
        if os.access(settings.data_dir, os.W_OK | os.X_OK):
            folder = stack.enter_context(work_folder(settings.data_dir))
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="negotiator-")))
        return _unpack(source, key, folder)


async def restore_backup(
    settings: Settings, source: IO[bytes], key: str, *, replace: bool, erase_again: EraseAgain, keep_tokens: bool
) -> RestoreResult:
    """Put a backup in the place of the data that these settings name.

    What ended after the backup stays ended, where the replaced database tells; otherwise every token, session and code
    ends, unless `keep_tokens`.

    Raises `UnreadableBackup`, `Unavailable` while the data is used, and `Conflict` when there is data and not
    `replace`; nothing is changed then.
    """
    with own_data_folder(settings.data_dir):
        _finish(settings)
        places = RestorePlaces(settings)
        is_empty = places.is_empty() and not (
            places.database is None and await database_copy.has_tables(settings.database_url)
        )
        if not replace and not is_empty:
            raise Conflict(
                f"There is data in {settings.data_dir}, {settings.keys_dir} or the database; --replace moves it aside."
            )
        places.discard_staged()
        try:
            manifest = _unpack(source, key, places.staged(settings.data_dir))
            copy = places.staged(settings.data_dir) / archive.DATABASE
            upgrade_file(copy)
            erased, ended = await _repeat_endings(settings.database_url, copy, erase_again, keep_tokens=keep_tokens)
            moved = await _replace(settings, places, copy)
        finally:
            if not places.journal.exists():
                places.discard_staged()
        return RestoreResult(manifest, moved, erased, ended)


def finish_interrupted_restore(settings: Settings) -> None:
    """Complete or drop a restore that was killed; `Unavailable` while it still runs."""
    if (settings.data_dir / RESTORE_JOURNAL).exists():
        with own_data_folder(settings.data_dir):
            _finish(settings)


class RestorePlaces:
    """The folders of the data: where it is, where it is unpacked beside that, and where the old data goes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.journal = settings.data_dir / RESTORE_JOURNAL
        url = settings.database_url
        self.database = Path(make_url(url).database or "") if url.startswith("sqlite") else None
        self.stamp = self._new_stamp()

    def _new_stamp(self) -> str:
        """The time to the second, and a number when there was a restore within this second."""
        second = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        numbered = (f"{second}_{number}" if number else second for number in count())
        return next(
            each for each in numbered if not any((folder / f"{_ASIDE}{each}").exists() for folder in self.folders())
        )

    def folders(self) -> list[Path]:
        database = [self.database.parent] if self.database else []
        return list(dict.fromkeys([self.settings.data_dir, self.settings.keys_dir, *database]))

    def staged(self, folder: Path) -> Path:
        made = folder / f"{_STAGED}{self.stamp}"
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        return made

    def discard_staged(self) -> None:
        for folder in self.folders():
            for left in folder.glob(f"{_STAGED}[0-9]*T[0-9]*"):
                shutil.rmtree(left)

    def present(self) -> list[Path]:
        """The files and folders of the old data."""
        settings = self.settings
        database = self.database
        files = [Path(f"{database}{end}") for end in _DATABASE_FILES] if database else []
        files += [
            settings.pepper_file,
            settings.keys_secret_file,
            settings.outbox_folder,
            *sorted(settings.keys_dir.glob("*.pem")),
        ]
        return [path for path in files if os.path.lexists(path)]

    def is_empty(self) -> bool:
        return not self.present()

    def aside(self, path: Path) -> FileMove:
        return FileMove(path, path.parent / f"{_ASIDE}{self.stamp}" / path.name)


def _unpack(source: IO[bytes], key: str, folder: Path) -> Manifest:
    manifest = unpack_archive(source, key, folder)
    database_copy.check_file(folder / archive.DATABASE)
    with database_copy.open_file(folder / archive.DATABASE) as database:
        if database_copy.revision_of(database) != manifest.schema:
            raise UnreadableBackup("The database in the backup is of another schema than its manifest says.")
        if database_copy.count_rows(database) != manifest.counts:
            raise UnreadableBackup("The database in the backup has other rows than its manifest says.")
        if (folder / archive.KEYS_WRAPPING).exists():
            try:
                check_rows(SqliteTransaction(database), (folder / archive.KEYS_WRAPPING).read_bytes())
            except UnusableKeyError as fault:
                raise UnreadableBackup(str(fault)) from None
    check_keys(folder / archive.KEYS)
    return manifest


async def _repeat_endings(
    url: str, copy: Path, erase: EraseAgain, *, keep_tokens: bool
) -> tuple[int | None, EndedTokens]:
    """Repeat in the copy what ended since the backup, by the present database, or end what it may have ended."""
    with database_copy.open_file(copy) as restored:
        replaced = await read_replaced(url, restored)
        restored.execute("pragma secure_delete=on")
        restored.execute("begin")
        if replaced.went_on:
            replaced.repeat(restored)
        elif not keep_tokens:
            end_all(restored)
        again = sum(erase(SqliteTransaction(restored), principal) for principal in replaced.erased or ())
        restored.execute("commit")
        if replaced.erased:
            restored.execute("vacuum")
    ended: EndedTokens = "repeated" if replaced.went_on else "none" if keep_tokens else "all"
    return None if replaced.erased is None else again, ended


async def _replace(settings: Settings, places: RestorePlaces, copy: Path) -> list[str]:
    """Put the staged files in place; returns where the old ones are."""
    unpacked = places.staged(settings.data_dir)
    old = [places.aside(path) for path in places.present()]
    new = _placements(settings, places, unpacked)
    _sync_files(move.before for move in new)
    moves = [*old, *new]
    moved = sorted({str(move.after.parent) for move in old})
    if places.database is not None:
        with migrations_held(places.database):
            _write_journal(places, moves, mark="")
            _finish(settings)
        return moved
    schema = f"before_restore_{places.stamp.lower()}"
    mark = f"restored {places.stamp}"
    _write_journal(places, moves, mark=mark)
    try:
        was_there = await database_copy.load_into_postgres(settings.database_url, copy, set_aside=schema, mark=mark)
    except BaseException:
        with contextlib.suppress(Exception):  # a journal that stays is looked at by the next command
            await asyncio.to_thread(_finish, settings)
        raise
    await asyncio.to_thread(_finish, settings)
    return [*moved, *([f"schema {schema} of the database"] if was_there else [])]


def _placements(settings: Settings, places: RestorePlaces, unpacked: Path) -> list[FileMove]:
    """The renames of the new files; those for another folder are copied beside their place first."""
    moves: list[FileMove] = [FileMove(unpacked / archive.PEPPER, settings.pepper_file)]
    if (unpacked / archive.KEYS_WRAPPING).exists():
        moves.append(FileMove(unpacked / archive.KEYS_WRAPPING, settings.keys_secret_file))
    if (unpacked / archive.OUTBOX).exists():
        moves.append(FileMove(unpacked / archive.OUTBOX, settings.outbox_folder))
    if places.database is not None:
        beside = places.staged(places.database.parent) / places.database.name
        shutil.move(unpacked / archive.DATABASE, beside)
        moves.append(FileMove(beside, places.database))
    for path in sorted((unpacked / archive.KEYS).glob("*.pem")):
        beside = places.staged(settings.keys_dir) / path.name
        shutil.move(path, beside)
        moves.append(FileMove(beside, settings.keys_dir / path.name))
    return moves


def _sync_files(paths: Iterable[Path]) -> None:
    for path in paths:
        for file in [path] if path.is_file() else path.iterdir():
            with file.open("rb") as opened:
                os.fsync(opened.fileno())
        sync_folder(path.parent)


def _write_journal(places: RestorePlaces, moves: Iterable[FileMove], *, mark: str) -> None:
    """From here on the restore is completed whatever happens; with a mark, if the database has it."""
    document = {"mark": mark, "moves": [[str(move.before.absolute()), str(move.after.absolute())] for move in moves]}
    temporary = places.journal.with_suffix(".tmp")
    with temporary.open("wb") as file:
        temporary.chmod(0o600)
        file.write(orjson.dumps(document))
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(places.journal)
    sync_folder(places.journal.parent)


def _finish(settings: Settings) -> None:
    """Do the renames of the journal, if there is one, that are not done yet."""
    places = RestorePlaces(settings)
    if not places.journal.exists():
        return
    document = orjson.loads(places.journal.read_bytes())
    if not document["mark"] or _mark_of(settings.database_url) == document["mark"]:
        for before, after in document["moves"]:
            FileMove(Path(before), Path(after)).run()
    places.journal.unlink()
    sync_folder(places.journal.parent)
    places.discard_staged()


def _mark_of(url: str) -> str | None:
    with ThreadPoolExecutor(1) as aside:  # the caller may have a loop running
        return aside.submit(asyncio.run, database_copy.restore_mark(url)).result()


Rows = Sequence[Sequence[Any]]

_LATER_VALUES: Final = (
    ("users", "id", ("password_hash", "is_admin", "disabled_at")),
    ("clients", "id", ("secret_digest", "removed_at")),
    ("api_keys", "id", ("retired_at", "expires_at", "revoked_at")),
    ("delegations", "id", ("used_at", "used_by", "revoked_at")),
    ("trusted_issuers", "issuer", ("removed_at",)),
    ("agents", "id", ("revoked_at",)),
    ("access_tokens", "jti", ("revoked_at",)),
    ("authorizations", "id", ("code_used_at",)),
    ("refresh_tokens", "digest", ("used_at",)),
    ("approvals", "id", ("decided_at",)),
)
"""Table, key and columns that count as they are in the replaced database; a lone column where it has a value."""
_DELETED: Final = (("browser_sessions", "id"), ("passkeys", "id"), ("identities", "key"))
"""Table and key of rows that are deleted when they end."""
_END_OF_TIME: Final = 1 << 53
"""Values that are used up for ever are part of the data, such as a release that was imported."""
_READ: Final = (
    f"select subject from audit_events where event in ('{audit.USER_ERASED}', '{audit.AGENT_ERASED}') order by id",  # noqa: S608
    "select id from audit_events where id = :newest",
    "select subject, before, forget_at from revocations",
    f"select kind, value, expires_at from spent where expires_at > :now and expires_at < {_END_OF_TIME}",  # noqa: S608
    *(f"select {key} from {table}" for table, key in _DELETED),  # noqa: S608
    *(
        f"select {', '.join(columns)}, {key} from {table}"  # noqa: S608
        + (f" where {columns[0]} is not null" if len(columns) == 1 else "")
        for table, key, columns in _LATER_VALUES
    ),
)
_END_ALL: Final = (
    *(f"delete from {table}" for table in ("browser_sessions", "refresh_tokens", "authorizations", "approvals")),  # noqa: S608
    "update access_tokens set revoked_at = :now where revoked_at is null",
    "update delegations set revoked_at = :now where used_at is null and revoked_at is null",
    # An assertion of before may have been used.
    "insert into revocations (subject, before) select issuer, :now from trusted_issuers where true "
    "on conflict do update set before = max(before, excluded.before)",
)


class ReplacedDatabase:
    """What the database that a restore replaces knows."""

    def __init__(self, found: Sequence[Rows] | None) -> None:
        erased, went_on, *self._ended = found or ((), ())
        self.erased = None if found is None else [str(row[0]) for row in erased]
        """Ids of the users and agents that were erased; None when it cannot be read."""
        self.went_on = bool(went_on)
        """Whether it went on from the backup."""

    def repeat(self, copy: sqlite3.Connection) -> None:
        """Repeat in the backup's database what ended since; only for one that went on from it."""
        revoked, spent, *rest = self._ended
        copy.executemany(
            "insert into revocations (subject, before, forget_at) values (?, ?, ?) "
            "on conflict do update set before = excluded.before, forget_at = excluded.forget_at",
            revoked,
        )
        copy.executemany("insert or ignore into spent (kind, value, expires_at) values (?, ?, ?)", spent)
        kept, later = rest[: len(_DELETED)], rest[len(_DELETED) :]
        for (table, key), rows in zip(_DELETED, kept, strict=True):
            left = orjson.dumps([row[0] for row in rows]).decode()
            copy.execute(f"delete from {table} where {key} not in (select value from json_each(?))", (left,))  # noqa: S608
        for (table, key, columns), rows in zip(_LATER_VALUES, later, strict=True):
            changes = ", ".join(f"{column} = ?" for column in columns)
            copy.executemany(f"update {table} set {changes} where {key} = ?", rows)  # noqa: S608


async def read_replaced(url: str, copy: sqlite3.Connection) -> ReplacedDatabase:
    """What the database at `url`, if it can be read, knows of the time after the backup in `copy`."""
    [newest] = copy.execute("select max(id) from audit_events").fetchone()
    found = await database_copy.read_rows(url, _READ, {"newest": newest or "", "now": values.now()})
    return ReplacedDatabase(found)


def end_all(copy: sqlite3.Connection) -> None:
    """End every token, session and code; API keys and passwords stay."""
    for statement in _END_ALL:
        copy.execute(statement, {"now": values.now()})
