"""A folder of data that belongs to the service's own user is not used by root, nor by whom it is closed to."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from negotiator.base.errors import Unavailable
from negotiator.cli.database import check_owner
from negotiator.config.settings import Settings

NOBODY = 65534


def settings_of(owner: int, *, exists: bool = True) -> Settings:
    """Settings whose data folder has this owner."""
    folder: Any = SimpleNamespace(
        exists=lambda: exists, stat=lambda: SimpleNamespace(st_uid=owner), __str__=lambda: "/data"
    )
    return cast("Settings", SimpleNamespace(data_dir=folder))


def test_root_is_told_whose_data_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(Unavailable, match=r"belongs to nobody: .*`runuser -u nobody"):
        check_owner(settings_of(NOBODY))
    with pytest.raises(Unavailable, match="belongs to user 54321"):
        check_owner(settings_of(54321))


def test_their_own_and_a_new_folder_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    check_owner(cast("Settings", SimpleNamespace(data_dir=tmp_path)))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    check_owner(settings_of(0))
    check_owner(settings_of(NOBODY, exists=False))


@pytest.mark.parametrize("may_write", [True, False])
def test_another_user_is_told_whose_data_they_are_unless_they_may_write(
    monkeypatch: pytest.MonkeyPatch, may_write: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "access", Mock(return_value=may_write))
    if may_write:
        check_owner(settings_of(NOBODY))
        return
    with pytest.raises(Unavailable, match=r"belongs to nobody: .*`sudo -u nobody"):
        check_owner(settings_of(NOBODY))
