"""`negotiator backup`, `verify` and `restore`: everything that cannot be rebuilt, in one encrypted file."""

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Annotated, Any, Final

import typer

from negotiator.backup.archive import Manifest, UnreadableBackup, check_key
from negotiator.backup.making import new_file, write_backup
from negotiator.backup.restoring import restore_backup, verify_backup
from negotiator.base.values import timestamp
from negotiator.cli.database import database_faults_explained, load_settings
from negotiator.cli.output import JsonOption, async_command, counted, print_result, print_warning
from negotiator.compose.ownership import erase_again
from negotiator.config.settings import ENV_PREFIX, Settings

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="The backup: a file, or - for standard input.")]
KeyOption = Annotated[
    bool, typer.Option("--key-stdin", help="Read the backup key from standard input, as age-keygen writes it.")
]
_PIPE: Final = "-"
_ENDED: Final = {
    "repeated": "What was revoked, disabled, changed or used after the backup stays so.",
    "all": "Every token, session and code has ended: users sign in again, agents without an API key register anew.",
    "none": "Tokens, sessions and codes of the backup work again.",
}
_SHOWN: Final = ("users", "agents", "negotiations", "memories", "wins", "tools")


@async_command
async def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file, or - for standard output.")],
    key_stdin: KeyOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write database, signing keys, pepper and unsent mails into one encrypted file; the server may run."""
    settings = load_settings()
    key = _key(settings, from_input=key_stdin)
    if file == _PIPE and sys.stdout.isatty():
        raise typer.BadParameter("a terminal cannot take a backup: name a file, or pipe it")
    with database_faults_explained(settings.database_url):
        if file == _PIPE:
            await write_backup(settings, sys.stdout.buffer, key)
            sys.stdout.buffer.flush()
            return
        with new_file(Path(file)) as target:
            manifest = await write_backup(settings, target, key)
            size = target.tell()
    line = f"{file} has {size:,} bytes: {_content(manifest)}."
    print_result(_json(manifest) | {"file": file, "bytes": size}, line, as_json=as_json)


@async_command
async def verify(file: FileArgument, key_stdin: KeyOption = False, as_json: JsonOption = False) -> None:
    """Read a whole backup and check it as restore would, without changing anything."""
    settings = load_settings()
    key = _key(settings, from_input=key_stdin)
    with _opened(file, key_stdin) as source:
        manifest = verify_backup(settings, source, key)
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
    key_stdin: KeyOption = False,
    as_json: JsonOption = False,
) -> None:
    """Put a backup in the place of the data, while no server runs on it; it is checked before anything changes."""
    settings = load_settings()
    key = _key(settings, from_input=key_stdin)
    with database_faults_explained(settings.database_url), _opened(file, key_stdin) as source:
        done = await restore_backup(
            settings, source, key, replace=replace, erase_again=erase_again, keep_tokens=keep_tokens
        )
    made = done.manifest
    if settings.base_url != made.base_url:
        print_warning(
            f"the backup is of {made.base_url}; tokens made there are void while the base URL is {settings.base_url}"
        )
    if settings.secret and settings.secret.encode() != settings.pepper_file.read_bytes():
        print_warning(
            f"{ENV_PREFIX}SECRET is not the backup's pepper: no server starts until it is unset, since the backup's "
            f"is in {settings.pepper_file}"
        )
    wrapping = settings.keys_secret_file
    if wrapping.exists():
        if settings.keys_in == "files":
            print_warning(f"the backup's signing keys are in the database: set {ENV_PREFIX}KEYS_IN=database")
        if settings.keys_secret and settings.keys_secret.encode() != wrapping.read_bytes():
            print_warning(
                f"{ENV_PREFIX}KEYS_SECRET is not the secret of the backup's signing keys: no server starts until it is "
                f"unset, since the backup's is in {wrapping}"
            )
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


def _key(settings: Settings, *, from_input: bool) -> str:
    if from_input:
        lines = (line.decode(errors="replace").strip() for line in iter(sys.stdin.buffer.readline, b""))
        key = next((line for line in lines if not line.startswith("#")), "")
    elif settings.backup_key:
        key = settings.backup_key
    elif sys.stdin.isatty():
        key = str(typer.prompt("Backup key", hide_input=True, err=True))
    else:
        raise typer.BadParameter(f"a backup key is needed: --key-stdin, or {ENV_PREFIX}BACKUP_KEY")
    check_key(key)
    return key


def _opened(file: str, key_stdin: bool) -> AbstractContextManager[IO[bytes]]:
    if file != _PIPE:
        if not Path(file).is_file():
            raise UnreadableBackup(f"{file} is not a file.")
        return Path(file).open("rb")
    if key_stdin:
        raise typer.BadParameter("standard input cannot be both the backup key and the backup")
    return nullcontext(sys.stdin.buffer)


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
