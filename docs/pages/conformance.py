"""What MCP's official suite asks for that this server has no reason to have."""

from collections.abc import Iterable

from docs.pages.markdown import code, grid
from negotiator.http.operation import ServiceDescription
from tests.live.conformance.expected import AUTHORIZATION, NOT_APPLICABLE, REVISIONS, UNTESTABLE


def page(service: ServiceDescription) -> Iterable[str]:
    """The scenarios left out, with their reasons."""
    del service
    yield "# MCP conformance\n"
    yield (
        "`make conformance` runs the official suite (`@modelcontextprotocol/conformance`) with the scenarios that "
        f"{' and '.join(REVISIONS)} require and with its scenarios for authorization servers "
        f"({', '.join(code(name) for name in sorted(AUTHORIZATION))}), the Inspector with `--strict`, `mcp-remote` "
        "with a token and signing in by itself, and the first generation of the TypeScript SDK signing in. Everything "
        "passes but what stands here; what stands here and passes is an error too.\n"
    )
    yield from grid(
        ("Scenario", "Why it does not apply"), ((code(name), reason) for name, reason in sorted(NOT_APPLICABLE.items()))
    )
    yield "Checks inside a scenario that otherwise applies:\n"
    yield from grid(
        ("Scenario", "Check", "Why it does not apply"),
        (
            (code(scenario), code(check), reason)
            for scenario, checks in UNTESTABLE.items()
            for check, reason in checks.items()
        ),
    )
