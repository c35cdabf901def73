"""The index of all documents: guides by job, reference, and every decision record by its title."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from negotiator.console.guides_content import JOBS

_DOCS: Final = Path(__file__).parents[1]
_GUIDES: Final = "../negotiator/console/guides"


def page() -> Iterable[str]:
    """The whole page."""
    yield "# Negotiator\n"
    yield (
        "What to offer next and the sentence to say, for people and their agents; and a directory of AI tools.\n"
        "[Everything there is](features.md). A running server shows the guides and the reference at `/docs`, with a\n"
        "search, and with its own address in every command.\n"
    )
    yield "## Guides\n"
    for job in JOBS:
        links = ", ".join(f"[{_title(_DOCS / _GUIDES / f'{name}.md')}]({_GUIDES}/{name}.md)" for name in job.names)
        yield f"- **{job.title}.** {job.reader}: {links}"
    yield (
        "\nA test runs every `sh` snippet of these pages, one page after the other against one server, and compares\n"
        "the answers. To add a guide, write `negotiator/console/guides/NAME.md` and add its name to a job of\n"
        "`negotiator/console/guides.toml`.\n"
    )
    yield "## Reference: generated, never edited\n"
    yield " · ".join(f"[{_title(path)}](reference/{path.name})" for path in sorted((_DOCS / "reference").glob("*.md")))
    yield "\n## Behind it\n"
    yield (
        "- [Architecture](architecture.md): import floors, what a slice consists of, the paths of eight requests;\n"
        "  inside [negotiations](architecture/negotiations.md), [directory](architecture/directory.md) and\n"
        "  [teleprompter](architecture/teleprompter.md)\n"
        "- [The wire contract](contract/README.md): what a client can rely on, numbered, and\n"
        "  [the decisions on what it leaves open](contract/decisions.md)\n"
        "- [Security](security.md): one credential from header to `Caller`, one assertion from string to `User`,\n"
        "  the threats\n"
        "- [Benchmarks](benchmarks.md): eight ratios with goal and peer, and the tables behind them\n"
        "- [Scaling](scaling.md): what ten million agents need, which part gives first, what it costs\n"
    )
    yield "## Decisions\n"
    yield "At most a page each: the question, the figures, the choice, what would change it.\n"
    for record in sorted((_DOCS / "decisions").glob("*.md")):
        number, _, subject = _title(record).partition(": ")
        yield f"- [{number}](decisions/{record.name}): {subject}"


def _title(path: Path) -> str:
    (title,) = re.findall(r"\A(?:<!--.*-->\s+)?# (.+)$", path.read_text(), re.MULTILINE)
    return str(title)
