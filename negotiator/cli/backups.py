"""`negotiator backup`, `verify` and `restore`: everything that cannot be rebuilt, in one encrypted file."""

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

import typer

from negotiator.backup import archive
from negotiator.backup.archive import Manifest
from negotiator.backup.encrypted_stream import ByteSink, ByteSource, UnreadableBackup
from negotiator.backup.making import new_file, write_backup
from negotiator.backup.restoring import restore_backup, verify_backup
from negotiator.base.errors import InvalidRequest, Unavailable
from negotiator.base.values import timestamp
from negotiator.cli.database import database_faults_explained, load_settings
from negotiator.cli.output import JsonOption, async_command, counted, print_result, print_warning
from negotiator.compose.ownership import erase_again
from negotiator.config.settings import ENV_PREFIX, Settings

FileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="The backup: a file, s3://bucket/key, or - for standard input.")
]
PassphraseOption = Annotated[
    bool, typer.Option("--passphrase-stdin", help="Read the passphrase from the first line of standard input.")
]
_PIPE: Final = "-"
_OBJECT: Final = "s3://"
_SHORTEST: Final = 12
_ENDED: Final = {
    "repeated": "What was revoked, disabled, changed or used after the backup stays so.",
    "all": "Every token, session and code has ended: users sign in again, agents without an API key register anew.",
    "none": "Tokens, sessions and codes of the backup work again.",
}
_SHOWN: Final = ("users", "agents", "negotiations", "memories", "wins", "tools")


class NewBackup(ByteSink, Protocol):
    """A file or an upload."""

    def tell(self) -> int:
        """How many bytes were written."""
        ...


@async_command
async def backup(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A new file; s3://bucket/key in an object store; - for standard output."),
    ],
    passphrase_stdin: PassphraseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write database, signing keys, pepper and unsent mails into one encrypted file; the server may run."""
    settings = load_settings()
    passphrase = _passphrase(settings, from_input=passphrase_stdin, is_new=True)
    if file == _PIPE and sys.stdout.isatty():
        raise typer.BadParameter("a terminal cannot take a backup: name a file, or pipe it")
    with database_faults_explained(settings.database_url):
        if file == _PIPE:
            await write_backup(settings, sys.stdout.buffer, passphrase)
            sys.stdout.buffer.flush()
            return
        with _new(file) as target:
            manifest = await write_backup(settings, target, passphrase)
            size = target.tell()
    line = f"{file} has {size:,} bytes: {_content(manifest)}."
    print_result(_json(manifest) | {"file": file, "bytes": size}, line, as_json=as_json)


@async_command
async def verify(file: FileArgument, passphrase_stdin: PassphraseOption = False, as_json: JsonOption = False) -> None:
    """Read a whole backup and check it as restore would, without changing anything."""
    settings = load_settings()
    passphrase = _passphrase(settings, from_input=passphrase_stdin)
    with _opened(file, passphrase_stdin) as source:
        manifest = verify_backup(settings, source, passphrase)
    line = f"{file} is whole and can be restored: {_content(manifest)}."
    print_result(_json(manifest) | {"whole": True}, line, as_json=as_json)


@async_command
async def restore(
    file: FileArgument,
    replace: Annotated[
        bool, typer.Option("--replace", help="Move the data that is there aside, and say where it is.")
    ] = False,
    keep_tokens: Annotated[
        bool,
        typer.Option("--keep-tokens", help="Let tokens, sessions and codes work even if it is not known which ended."),
    ] = False,
    passphrase_stdin: PassphraseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Put a backup in the place of the data, while no server runs on it; it is checked before anything changes."""
    settings = load_settings()
    passphrase = _passphrase(settings, from_input=passphrase_stdin)
    with database_faults_explained(settings.database_url), _opened(file, passphrase_stdin) as source:
        done = await restore_backup(
            settings, source, passphrase, replace=replace, erase_again=erase_again, keep_tokens=keep_tokens
        )
    made = done.manifest
    if settings.base_url != made.base_url:
        print_warning(
            f"the backup is of {made.base_url}; tokens made there are void while the base URL is {settings.base_url}"
        )
    if settings.secret and settings.secret.encode() != settings.pepper_file.read_bytes():
        print_warning(
            f"{ENV_PREFIX}SECRET is not the backup's pepper: no server starts until it is unset, since the backup's "
            f"is in {settings.pepper_file}; or negotiator keys adopt makes API keys, open codes and sessions void"
        )
    wrapping = settings.keys_secret_file
    if archive.KEYS_WRAPPING in made.members:
        if settings.keys_in == "files":
            print_warning(f"the backup's signing keys are in the database: set {ENV_PREFIX}KEYS_IN=database")
        if settings.keys_secret and settings.keys_secret.encode() != wrapping.read_bytes():
            print_warning(
                f"{ENV_PREFIX}KEYS_SECRET is not the secret of the backup's signing keys: no server starts until it is "
                f"unset, since the backup's is in {wrapping}; or negotiator keys adopt makes new keys, and tokens void"
            )
    elif settings.keys_in == "database":
        print_warning(f"the backup's signing keys are files: run negotiator keys import {settings.keys_dir}")
    if done.erased_again is None:
        print_warning(
            f"whoever was erased after {timestamp(made.made_at)} is back: there was no audit trail here to read them "
            "from; erase them again"
        )
    if done.ended != "repeated":
        print_warning(
            f"what ended after {timestamp(made.made_at)} is not known here: disabled accounts are open, and passwords, "
            f"passkeys{', tokens, sessions, codes' * keep_tokens} and API keys work as they did then; end them again"
        )
    lines = [f"Restored: {_content(made)}.", _ENDED[done.ended]]
    if done.erased_again:
        lines.append(f"Erased again, as the audit trail asks: {done.erased_again}.")
    lines += [f"The data that was there is in {place}." for place in done.set_aside]
    result = _json(made) | {
        "restored": True,
        "set_aside": done.set_aside,
        "erased_again": done.erased_again,
        "ended": done.ended,
    }
    print_result(result, "\n".join(lines), as_json=as_json)


def _passphrase(settings: Settings, *, from_input: bool, is_new: bool = False) -> str:
    if from_input:
        passphrase = sys.stdin.buffer.readline().decode(errors="replace").rstrip("\r\n")
    elif settings.backup_passphrase:
        passphrase = settings.backup_passphrase
    elif sys.stdin.isatty():
        passphrase = str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=is_new, err=True))
    else:
        raise typer.BadParameter(f"a passphrase is needed: --passphrase-stdin, or {ENV_PREFIX}BACKUP_PASSPHRASE")
    if is_new and len(passphrase) < _SHORTEST:
        raise InvalidRequest(f"A passphrase has at least {_SHORTEST} characters.")
    return passphrase


def _new(file: str) -> AbstractContextManager[NewBackup]:
    return _object_store().new_object(file) if file.startswith(_OBJECT) else new_file(Path(file))


def _opened(file: str, passphrase_stdin: bool) -> AbstractContextManager[ByteSource]:
    if file.startswith(_OBJECT):
        return nullcontext(_object_store().open_object(file))
    if file != _PIPE:
        if not Path(file).is_file():
            raise UnreadableBackup(f"{file} is not a file.")
        return Path(file).open("rb")
    if passphrase_stdin:
        raise typer.BadParameter("standard input cannot be both the passphrase and the backup")
    return nullcontext(sys.stdin.buffer)


def _object_store() -> Any:
    """The module, which needs an extra and is loaded only for an object."""
    try:
        from negotiator.backup import object_store
    except ModuleNotFoundError:
        raise Unavailable(f"{_OBJECT} needs the extra: pip install 'negotiator[s3]'.") from None
    return object_store


def _content(manifest: Manifest) -> str:
    counts = ", ".join(counted(manifest.counts.get(table, 0), table) for table in _SHOWN)
    return (
        f"made {timestamp(manifest.made_at)} by Negotiator {manifest.version} of {manifest.base_url}, "
        f"schema {manifest.schema}, {counts}"
    )


def _json(manifest: Manifest) -> dict[str, Any]:
    return {
        "made_at": timestamp(manifest.made_at),
        "version": manifest.version,
        "schema": manifest.schema,
        "engine": manifest.engine,
        "base_url": manifest.base_url,
        "counts": dict(manifest.counts),
    }
