"""What `serve` says of the interpreter it runs on."""

import pytest

from negotiator.cli import serve


@pytest.mark.parametrize(
    ("version", "has_hole"),
    [((3, 11, 9), True), ((3, 11, 10), False), ((3, 12, 5), True), ((3, 12, 6), False), ((3, 13, 0), False)],
)  # fmt: skip
def test_a_known_hole_of_the_interpreter_is_one_line(
    version: tuple[int, int, int], has_hole: bool
) -> None:
    warning = serve.interpreter_warning(version)
    assert ("CVE-2024-7592" in warning) is has_hole
    assert "\n" not in warning
