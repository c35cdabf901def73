"""Every setting with its default."""

from collections.abc import Iterable
from typing import Any

from docs.pages.markdown import code, grid, span
from negotiator.config.settings import Settings
from negotiator.config.settings_files import ENV_PREFIX
from negotiator.http.operation import ServiceDescription


def page(_service: ServiceDescription) -> Iterable[str]:
    """Settings in the order of their class."""
    yield "# Settings\n"
    yield (
        f"From variables with the prefix `{ENV_PREFIX}`, then a file `.env` with the same names, then a file\n"
        "`negotiator.toml` (names in lower case, without the prefix). Each file is the first one found in the\n"
        "current folder, the checkout and `/etc/negotiator`; `--config FILE` or `NEGOTIATOR_CONFIG` names the one\n"
        "file that is read instead. A relative path in a file starts at the file's folder. An unknown or ill-typed\n"
        "setting stops the start with one line. [Operations](operations.md#settings) says how commands find the\n"
        "settings of a running server.\n"
    )
    schema = Settings.model_json_schema()["properties"]
    rows = (
        (
            code(f"{ENV_PREFIX}{name.upper()}"),
            "see meaning" if field.default_factory else _default(schema[name].get("default")),
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
