"""Every setting with its default."""

from collections.abc import Iterable
from typing import Any

from docs.pages.markdown import code, grid, span
from negotiator.http.operation import ServiceDescription
from negotiator.settings import ENV_PREFIX, Settings


def page(_service: ServiceDescription) -> Iterable[str]:
    """Settings in the order of their class."""
    yield "# Settings\n"
    yield (
        f"From variables with the prefix `{ENV_PREFIX}`, then a file `.env`, then a file `negotiator.toml` (names in\n"
        "lower case, without the prefix), each in the folder the server starts in. An unknown or ill-typed setting\n"
        "stops the start with one line.\n"
    )
    schema = Settings.model_json_schema()["properties"]
    rows = (
        (
            code(f"{ENV_PREFIX}{name.upper()}"),
            _default(schema[name].get("default")),
            _bounds(schema[name]),
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    )
    yield from grid(("Setting", "Default", "Allowed", "Meaning"), rows)


def _default(value: Any) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType]
    return code(text)


def _bounds(schema: dict[str, Any]) -> str:
    options = schema.get("enum") or schema.get("items", {}).get("enum")
    if options:
        return " ".join(code(str(option)) for option in options)
    if schema.get("type") == "boolean":
        return "`true` `false`"
    return span(schema.get("minimum"), schema.get("maximum"))
