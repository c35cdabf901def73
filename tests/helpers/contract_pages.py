"""The numbered sections of `docs/contract`."""

import re
from functools import cache
from typing import Final

from tests.house.source_tree import ROOT

CONTRACT: Final = ROOT / "docs" / "contract"


@cache
def sections() -> frozenset[str]:
    """The numbers of the contract's pages and sections, such as `2` and `2.7`."""
    pages = {page: page.name.partition("-")[0] for page in CONTRACT.glob("[0-9]*-*.md")}
    headings = {number for page in pages for number in re.findall(r"^## (\d+\.\d+) ", page.read_text(), re.MULTILINE)}
    return frozenset(pages.values()) | headings
