"""`make bench-docs`: puts the tables of `.bench/tables` into the pages of docs/benchmarks.

A table's place is between `<!-- table NAME -->` and `<!-- end -->`. Tables without a place, and places without a table,
stay as they are.
"""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = sorted((ROOT / "docs/benchmarks").glob("*.md"))
PLACE: Final = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def pasted(page: str, tables: Path) -> str:
    """The page with every table that there is."""

    def put(place: re.Match[str]) -> str:
        table = tables / f"{place[2]}.md"
        return f"{place[1]}\n{table.read_text().strip()}\n\n{place[3]}" if table.exists() else place[0]

    return PLACE.sub(put, page)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(pasted(page.read_text(), ROOT / ".bench/tables"))
