"""`make screenshots`: a picture of each page, light and dark, wide and narrow, in `docs/console/`, one for the README.

Names given as arguments restrict it to those pages. `--to FOLDER` writes elsewhere, `--png` as PNG.
"""

import argparse
import base64
import sys
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from playwright.sync_api import Page

from tests.helpers.chromium import launched
from tests.helpers.console_pages import PAGES
from tests.helpers.example_site import SCHEMES, WIDTHS, example_site

FOLDER: Final = Path(__file__).parents[3] / "docs" / "console"
_QUALITY: Final = 25
_TALLEST: Final = 1200
_SCALE: Final = 0.75
"""A picture is three quarters as wide as its page."""
README_PICTURE: Final = FOLDER.parent / "workspace.webp"
_README_PAGE: Final = "workspace-salary"
_README_HEIGHT: Final = 1065
_README_QUALITY: Final = 45


def main() -> None:
    """Write the pictures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*")
    options.add_argument("--to", type=Path, default=FOLDER)
    options.add_argument("--png", action="store_true")
    given = options.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    shown = [page for page in PAGES if not given.names or page.name in given.names]
    if not given.names and given.to == FOLDER:
        for old in given.to.glob("*.webp"):
            old.unlink()
    with TemporaryDirectory() as folder, example_site(Path(folder)) as site, launched() as browser:
        site.sign_in(browser)
        for page in shown:
            with site.context(browser, page) as context:
                tab = context.new_page()
                found = site.show(page, tab).status
                if found != page.status:
                    sys.stderr.write(f"{page.name}: {found} in place of {page.status}\n")
                for scheme, width in product(SCHEMES, WIDTHS):
                    site.look(tab, scheme=scheme, width=width)
                    file = given.to / f"{page.name}-{scheme}-{width}"
                    if given.png:
                        tab.screenshot(path=f"{file}.png", full_page=True)
                    else:
                        Path(f"{file}.webp").write_bytes(_picture(tab, width))
                if page.name == _README_PAGE and given.to == FOLDER:
                    site.look(tab, scheme=SCHEMES[0], width=WIDTHS[0])
                    README_PICTURE.write_bytes(_picture(tab, WIDTHS[0], _README_HEIGHT, _README_QUALITY))


def _picture(tab: Page, width: int, tallest: int = _TALLEST, quality: int = _QUALITY) -> bytes:
    """The whole page, up to a height, as WebP: Chromium can write it, Playwright does not offer it."""
    height = min(tallest, int(tab.evaluate("document.documentElement.scrollHeight")))
    session: Any = tab.context.new_cdp_session(tab)
    taken = session.send(
        "Page.captureScreenshot",
        {
            "format": "webp",
            "quality": quality,
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": _SCALE},
        },
    )
    return base64.b64decode(taken["data"])


if __name__ == "__main__":
    main()
