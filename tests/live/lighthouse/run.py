"""Audits ten pages of the example database with Lighthouse and prints its scores; fails below 95.

`npm ci` in this folder installs Lighthouse. Pages of a signed-in user get their cookie as a header.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.helpers.chromium import CHROMIUM, WHOLE_CHROMIUM, launched
from tests.helpers.console_pages import PAGES, ConsolePage
from tests.helpers.example_site import ExampleSite, example_site

HERE: Final = Path(__file__).parent
LEAST: Final = 95
AUDITED: Final = (
    *("home", "prepare", "workspace-software", "agents", "live", "memories", "wins", "tools"),
    *("guide", "sign-in"),
)
CATEGORIES: Final = ("accessibility", "best-practices")
_SECONDS: Final = 180


def audit(site: ExampleSite, page: ConsolePage, report: Path) -> dict[str, int]:
    """The score of each category, 0 to 100."""
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in site.cookies["cookies"])
    headers = {"Cookie": cookies} if page.visitor == "ada" else {}
    command = [
        *("node", str(HERE / "node_modules/lighthouse/cli/index.js"), site.base + site.path(page)),
        *("--quiet", f"--only-categories={','.join(CATEGORIES)}", "--output=json"),
        *(f"--output-path={report}", f"--extra-headers={json.dumps(headers)}"),
        "--chrome-flags=--headless=new --no-sandbox",
    ]
    chosen = WHOLE_CHROMIUM if WHOLE_CHROMIUM.exists() else CHROMIUM
    environment = {**os.environ, "CHROME_PATH": str(chosen)}
    subprocess.run(command, check=True, env=environment, timeout=_SECONDS, cwd=HERE)
    found: Any = json.loads(report.read_text())
    for audited in found["audits"].values():
        if audited["score"] is not None and audited["score"] < 1 and audited.get("weight", 1):
            sys.stderr.write(f"{page.name}: {audited['title']}\n")
    return {name: round(100 * found["categories"][name]["score"]) for name in CATEGORIES}


def main() -> None:
    """Print the table; exit with 1 where a score is too low."""
    pages = {page.name: page for page in PAGES}
    low = False
    sys.stdout.write("| page | accessibility | best practices |\n|---|---|---|\n")
    with TemporaryDirectory() as folder, example_site(Path(folder)) as site:
        with launched() as browser:
            site.sign_in(browser)
        for name in AUDITED:
            scores = audit(site, pages[name], Path(folder) / "report.json")
            low = low or min(scores.values()) < LEAST
            sys.stdout.write(f"| {name} | {' | '.join(map(str, scores.values()))} |\n")
            sys.stdout.flush()
    sys.exit(low)


if __name__ == "__main__":
    main()
