"""The judged queries of `quality/directory/queries.toml`."""

import tomllib
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("queries.toml")


QUERIES: Final[list[dict[str, Any]]] = tomllib.loads(FILE.read_text())["query"]
