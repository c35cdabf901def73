"""What the README says of the project is true; `test_guide` runs its commands, `test_readme_plan` compares its plan."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_commands_are_targets_of_the_makefile() -> None:
    named = re.findall(r"^    make (\w+)|`make (\w+)`", README, re.MULTILINE)
    targets = set(re.findall(r"^([a-z-]+):.*[^#]## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"run", "test", "demo"} <= {one or other for one, other in named} <= targets
    assert len(targets) <= 13, "a newcomer reads what `make` lists; the rest is for `make help-all`"


def test_it_is_two_screens_long_and_says_first_what_a_person_gains() -> None:
    """Ninety lines of text and two pictures are about 110 lines on a screen."""
    assert len(README.splitlines()) <= 92
    assert README.count("<img ") == 2
    fold = README[: README.index("## A first request")]
    assert not re.search(r"\b(OAuth|MCP|SQLite|JWT|token|scope)", fold)


def test_its_pictures_are_there() -> None:
    pictures = re.findall(r'<img src="([^"]+)" width="\d+" alt="[^"]{20,}"', README)
    assert len(pictures) == 2
    assert all((ROOT / picture).is_file() for picture in pictures)
