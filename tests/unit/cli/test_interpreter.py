"""What `doctor` says of the interpreter it runs on."""

from http import cookies

import pytest

from negotiator.cli.doctor import needed_python


@pytest.mark.parametrize(
    ("version", "needed"),
    [((3, 11, 9), "3.11.10"), ((3, 11, 10), ""), ((3, 12, 5), "3.12.6"), ((3, 12, 6), ""), ((3, 13, 0), "")],
)
def test_an_interpreter_with_a_known_hole_is_told_from_one_that_is_patched(
    version: tuple[int, int, int], needed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(cookies, "_unquote_sub", raising=False)
    assert needed_python(version) == needed
    # A distribution mends the library under the same version.
    monkeypatch.setattr(cookies, "_unquote_sub", None, raising=False)
    assert needed_python(version) == ""
