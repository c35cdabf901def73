"""Where settings are written: `NEGOTIATOR_*` variables, `.env` and `negotiator.toml`. They win in that order.

`--config FILE`, or `NEGOTIATOR_CONFIG`, names the one file that is read. Otherwise each of the two files is the first
one found in the current folder, the checkout and `/etc/negotiator`. In the current folder, which may be one that
everybody writes to, such as `/tmp`, only a file of this user or of root counts.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

from dotenv.parser import parse_stream

ENV_PREFIX: Final = "NEGOTIATOR_"
CONFIG_VARIABLE: Final = f"{ENV_PREFIX}CONFIG"
TOML_NAME: Final = "negotiator.toml"
ENV_NAME: Final = ".env"
SYSTEM_FOLDER: Final = Path("/etc/negotiator")
_PACKAGE: Final = Path(__file__).resolve().parents[1]


class SettingsError(Exception):
    """One line that says which setting is wrong, where it is written, and how to mend it."""


@dataclass(frozen=True, slots=True)
class GivenSetting:
    """A value that was given. `place` names it for a message; relative paths in it start at `folder`."""

    value: Any
    place: str
    folder: Path


@dataclass(frozen=True, slots=True)
class SettingsSources:
    """The given settings by name in lower case, the files they may come from, and files that cannot be read."""

    given: Mapping[str, GivenSetting]
    files: tuple[Path, ...]
    unreadable: tuple[Path, ...] = ()


def checkout() -> Path | None:
    """The root of the checkout that this package lies in; none when it was installed from a wheel."""
    root = _PACKAGE.parent
    return root if _is_file(root / "pyproject.toml") else None


def user_folder(variable: str, below_home: str) -> Path:
    """`negotiator` in a folder of the XDG base directory specification: the variable's, or the default below home."""
    given = os.environ.get(variable, "")
    if given.startswith("/"):
        return Path(given) / "negotiator"
    try:
        return Path.home() / below_home / "negotiator"
    except RuntimeError:
        raise SettingsError(f"{ENV_PREFIX}DATA_DIR must be set: this user has no home folder.") from None


def own_variables() -> dict[str, str]:
    """The variables of this process that are settings, names in upper case, `NEGOTIATOR_CONFIG` excepted."""
    return {
        name.upper(): value
        for name, value in os.environ.items()
        if name.upper().startswith(ENV_PREFIX) and name.upper() != CONFIG_VARIABLE
    }


def find_files() -> tuple[Path, ...]:
    """The settings files that apply to this process."""
    if named := os.environ.get(CONFIG_VARIABLE):
        return (Path(named).expanduser().resolve(),)
    here = Path.cwd()
    folders = [folder for folder in (checkout(), SYSTEM_FOLDER) if folder is not None]
    found = (
        here / name
        if _is_own_file(here / name)
        else next((folder / name for folder in folders if _is_file(folder / name)), None)
        for name in (ENV_NAME, TOML_NAME)
    )
    return tuple(path for path in found if path is not None)


def _is_own_file(path: Path) -> bool:
    """Whether this is a file of the user who runs this process, of root, or of who became root by `sudo`."""
    try:
        owner = str(path.stat().st_uid)
    except OSError:
        return False
    user = os.geteuid()
    trusted = {"0", str(user), os.environ.get("SUDO_UID") if user == 0 else None}
    return _is_file(path) and owner in trusted


def _is_file(path: Path) -> bool:
    """As `Path.is_file`, which raises where this user cannot search the folder, such as root's home."""
    return os.path.isfile(path)  # noqa: PTH113


def read_sources(known: Iterable[str], files: Iterable[Path], variables: Mapping[str, str]) -> SettingsSources:
    """What the variables and files give; `SettingsError` when one of them names no known setting or cannot be read."""
    known = frozenset(known)
    given: dict[str, GivenSetting] = {}
    read: list[Path] = []
    unreadable: list[Path] = []
    for path in reversed(tuple(files)):
        reader = _read_env if path.name == ENV_NAME else _read_toml
        try:
            given |= _known(reader(path), known)
        except PermissionError:
            if path.parent != SYSTEM_FOLDER:
                raise SettingsError(
                    f"{path} cannot be read: permission denied; run this as its owner, or name another by --config."
                ) from None
            unreadable.append(path)
        except OSError as fault:
            raise SettingsError(f"{shown(path)} cannot be read: {fault.strerror}.") from None
        except UnicodeDecodeError:
            raise SettingsError(f"{shown(path)} is not UTF-8 text.") from None
        else:
            read.insert(0, path)
    given |= _known(_read_variables(variables), known)
    return SettingsSources(given, tuple(read), tuple(unreadable))


def shown(path: Path) -> str:
    """The path for a message: only its name when it lies in the current folder."""
    return path.name if path.parent == Path.cwd() else str(path)


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?` when a known name is close, else where all of them are listed."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]}?" if close else "; /docs/guides/settings on a server lists them all."


def _known(given: dict[str, GivenSetting], known: frozenset[str]) -> dict[str, GivenSetting]:
    """The settings as they are; raises for one of another name, as it is written there."""
    for name, setting in given.items():
        if name not in known:
            written = setting.place.rpartition(": ")[2]
            names = sorted(map(_variable, known) if written.startswith(ENV_PREFIX) else known)
            raise SettingsError(f"{setting.place} is not a setting{suggestion(written, names)}")
    return given


def _variable(name: str) -> str:
    return f"{ENV_PREFIX}{name.upper()}"


def _read_variables(variables: Mapping[str, str]) -> dict[str, GivenSetting]:
    given: dict[str, GivenSetting] = {}
    for variable, value in variables.items():
        name = variable[len(ENV_PREFIX) :].lower()
        given[name] = GivenSetting(value, variable, Path.cwd())
    return given


def _read_env(path: Path) -> dict[str, GivenSetting]:
    """The settings of a `.env` file; variables without the prefix belong to other programs."""
    given: dict[str, GivenSetting] = {}
    for binding in parse_stream(StringIO(path.read_text("utf-8"))):
        text = binding.original.string
        line = binding.original.line + text.count("\n", 0, len(text) - len(text.lstrip()))
        if binding.error:
            raise SettingsError(f"{shown(path)}, line {line}: this is not NAME=value.")
        variable = (binding.key or "").upper()
        if variable.startswith(ENV_PREFIX) and binding.value is not None:
            name, place = variable[len(ENV_PREFIX) :].lower(), f"{shown(path)}, line {line}: "
            given[name] = GivenSetting(binding.value, f"{place}{variable}", path.parent)
    return given


def _explained(reason: str, line: str) -> str:
    """The parser's reason, with what to do about it in this line."""
    if reason == "Invalid value":
        return f'{reason}; text needs quotes: name = "text"'
    if reason == "Cannot overwrite a value":
        return f"{line.partition('=')[0].strip()} is given twice"
    return reason


def _read_toml(path: Path) -> dict[str, GivenSetting]:
    text = path.read_text("utf-8")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        reason = str(fault)
        if found := re.fullmatch(r"(.*) \(at line (\d+), column \d+\)", reason):
            line = text.splitlines()[int(found[2]) - 1 :][:1]
            said = _explained(found[1], line[0] if line else "")
            raise SettingsError(f"{shown(path)}, line {found[2]}: {said}.") from None
        raise SettingsError(f"{shown(path)} is not TOML: {reason}.") from None
    given: dict[str, GivenSetting] = {}
    for name, value in values.items():
        key = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(name)}\b", text, re.MULTILINE)
        line = f", line {text.count(chr(10), 0, key.start()) + 1}" if key else ""
        place = f"{shown(path)}{line}: "
        given[name] = GivenSetting(value, f"{place}{name}", path.parent)
    return given
