"""Writes `docs/reference`, the guides that are a reference, the index, and a screen and a chart of `docs/benchmarks`.

`python -m docs.generate` writes, with `--check` it only compares.

One function a page, each from the one place that knows: the service description, the settings, the refusal
family, the scopes, the command tree, the tables. Nothing is written here by hand but the frames around them.
"""

import argparse
import sys
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from docs.pages import benchmarks, cli, conformance, errors, index, operations, scopes, settings, tables
from docs.pages.chart import benchmark_chart
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.http.operation import ServiceDescription

FOLDER: Final = Path(__file__).parent / "reference"
INDEX: Final = Path(__file__).parent / "index.md"
BENCHMARKS: Final = Path(__file__).parent / "benchmarks"
GUIDES: Final = Path(str(resources.files("negotiator.console"))) / "guides"
SERVED: Final = frozenset({"settings", "cli", "scopes", "errors"})
"""The pages that stand among the guides, so that a server shows them."""
BASE: Final = "https://negotiator.example"
PAGES: Final[dict[str, Callable[[ServiceDescription], Iterable[str]]]] = {
    "operations": operations.page,
    "settings": settings.page,
    "errors": errors.page,
    "scopes": scopes.page,
    "cli": cli.page,
    "tables": tables.page,
    "conformance": conformance.page,
}
_NOTICE: Final = "<!-- Written by docs/generate.py (`make docs`); changes here are lost. -->\n\n"


def service() -> ServiceDescription:
    """The description of a service with every setting at its default."""
    with TemporaryDirectory() as folder:
        path = Path(folder)
        plain: dict[str, Any] = {"base_url": BASE, "data_dir": path, "keys_dir": path, "secret": "none"}
        return build_application(Settings(**plain)).service


def pages() -> dict[Path, str]:
    """Every page's path and text."""
    described = service()
    written = {
        (GUIDES if name in SERVED else FOLDER) / f"{name}.md": _NOTICE + "\n".join(page(described)) + "\n"
        for name, page in PAGES.items()
    }
    written[BENCHMARKS.with_suffix(".md")] = _NOTICE + "\n".join(benchmarks.page(BENCHMARKS)) + "\n"
    written[INDEX] = _NOTICE + "\n".join(index.page()) + "\n"
    return {**written, BENCHMARKS.with_suffix(".svg"): benchmark_chart(benchmarks.read_tables(BENCHMARKS))}


def stale() -> list[Path]:
    """The pages that are not what the code says, and files that are no page."""
    written = pages()
    changed = [path for path, text in written.items() if not path.exists() or path.read_text() != text]
    return sorted([*changed, *(set(FOLDER.glob("*")) - written.keys())])


def main() -> int:
    """Write the pages, or name the stale ones and answer 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if a page is stale")
    if parser.parse_args().check:
        found = stale()
        for path in found:
            sys.stderr.write(f"{path.relative_to(FOLDER.parents[1])} is stale; run make docs\n")
        return min(len(found), 1)
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
