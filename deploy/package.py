"""Builds the files of a release: the sdist, the wheel made from it, and the lock of what a server needs.

python -m deploy.package [FOLDER]        # writes them into FOLDER, `dist` by default
python -m deploy.package lock [NAME…]    # prints the lock of a server, or of the packages that are named
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[1]
_CONTENT: Final = ("pyproject.toml", "README.md", "LICENSE", "negotiator")
"""What the sdist is made of. Everything else of the repository is for those who work on it."""
_SERVER_EXTRAS: Final = ("embedding", "speech", "tracing")
_BUILD: Final = "from setuptools import build_meta; import sys; print(build_meta.build_{}(sys.argv[1]))"
_ENTRY: Final = re.compile(r"^(?=[a-zA-Z0-9])", re.MULTILINE)
_END_OF_NAME: Final = re.compile(r"[^\w.-]")
_VIA: Final = re.compile(r"^ +# +(?:via )?([a-z0-9.-]+)(?= |$)", re.MULTILINE)


def build(folder: Path) -> list[Path]:
    """Write sdist, wheel and `requirements.lock` into the folder; the same commit gives the same bytes.

    The time in both archives is `SOURCE_DATE_EPOCH`, else the commit's; without either it is now.
    """
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **_commit_time()}
    with tempfile.TemporaryDirectory() as scratch:
        # A copy, since setuptools would put into the wheel what an older build left in `build`.
        source = Path(scratch, "source")
        _copy(source)
        archive = _setuptools("sdist", source, folder, environment)
        if epoch := environment.get("SOURCE_DATE_EPOCH"):
            _make_reproducible(archive, int(epoch))
        with tarfile.open(archive) as packed:
            # Python knows filters from 3.11.4 on; Debian 12 has 3.11.2.
            packed.extraction_filter = getattr(tarfile, "data_filter", None)
            packed.extractall(scratch)  # noqa: S202  our own archive
        unpacked = Path(scratch, archive.name.removesuffix(".tar.gz"))
        wheel = _setuptools("wheel", unpacked, folder, environment)
    lock = folder / "requirements.lock"
    lock.write_text(server_lock())
    return [archive, wheel, lock]


def server_lock(names: Iterable[str] = ()) -> str:
    """The part of `requirements.lock` that a server with speech and embeddings needs, or that these packages need."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(each for name in _SERVER_EXTRAS for each in extras[name])]
    needed = {_canonical(each) for each in names or wanted}
    entries = _ENTRY.split((_ROOT / "requirements.lock").read_text())[1:]
    needed_by: dict[str, set[str]] = {}
    for entry in entries:
        needed_by.setdefault(_canonical(entry), set()).update(_VIA.findall(entry))
    while more := {name for name, users in needed_by.items() if users & needed} - needed:
        needed |= more
    return "".join(entry for entry in entries if _canonical(entry) in needed)


def _canonical(requirement: str) -> str:
    """The name at the beginning of a requirement, as the lock writes it."""
    return re.sub(r"[-_.]+", "-", _END_OF_NAME.split(requirement, maxsplit=1)[0]).lower()


def _commit_time() -> dict[str, str]:
    if "SOURCE_DATE_EPOCH" in os.environ or not (_ROOT / ".git").exists():
        return {}
    command = ("git", "log", "-1", "--format=%ct")
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, check=False, text=True)  # noqa: S603
    return {} if done.returncode else {"SOURCE_DATE_EPOCH": done.stdout.strip()}


def _copy(target: Path) -> None:
    """Copy the content of the sdist, with the same modes whatever the umask was at the checkout."""
    for name in _CONTENT:
        source = _ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.mkdir(exist_ok=True)
            shutil.copy(source, target / name)
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _setuptools(kind: str, source: Path, folder: Path, environment: dict[str, str]) -> Path:
    """Build without an environment of its own: setuptools is what the lock names."""
    command = (sys.executable, "-c", _BUILD.format(kind), str(folder.resolve()))
    done = subprocess.run(  # noqa: S603
        command, cwd=source, env=environment, capture_output=True, check=False, text=True, umask=0o022
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return folder / done.stdout.splitlines()[-1]


def _make_reproducible(archive: Path, epoch: int) -> None:
    """Write the archive anew: members in order, of nobody, with one time."""
    packed = BytesIO()
    with tarfile.open(archive) as old, tarfile.open(fileobj=packed, mode="w") as new:
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = epoch
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    archive.write_bytes(gzip.compress(packed.getvalue(), mtime=epoch))


def main(arguments: list[str]) -> None:
    """Print the lock, or build and print what was made."""
    if arguments[:1] == ["lock"]:
        sys.stdout.write(server_lock(arguments[1:]))
        return
    for made in build(Path(*arguments[:1] or ["dist"])):
        sys.stdout.write(f"{made} ({made.stat().st_size // 1024} KiB)\n")


if __name__ == "__main__":
    main(sys.argv[1:])
