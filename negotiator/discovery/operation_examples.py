"""An example of every operation: its body, its answer, and a `curl` command."""

import json
import shlex
from typing import Any
from urllib.parse import urlencode

from negotiator.base.schema_examples import example_input, example_output
from negotiator.http.operation import Operation


def example_body(operation: Operation) -> dict[str, Any]:
    """The example without the members that belong in the path."""
    example = example_input(operation.input)
    return {name: value for name, value in example.items() if name not in operation.path_parameters}


def example_answer(operation: Operation) -> Any:
    """An answer of the operation with all its members; None where it answers no JSON."""
    return None if operation.output is None else example_output(operation.output)


def curl_command(operation: Operation, base: str) -> str:
    """A shell command that calls the operation; the caller fills in `$TOKEN` and the parameters of the path."""
    path = operation.path
    for name in operation.path_parameters:
        path = path.replace(f"{{{name}}}", f"${name.upper()}")
    given, words = example_body(operation), [f'curl "{base}{path}"']
    if operation.reads_query and given:
        words = [f'curl "{base}{path}?{urlencode(given, doseq=True)}"']
    if operation.method not in {"GET", "POST"}:
        words.append(f"-X {operation.method}")
    if operation.access == "bearer":
        words.append('-H "Authorization: Bearer $TOKEN"')
    if not operation.reads_query:
        words += _sent(operation, given)
    return " \\\n  ".join(words)


def _sent(operation: Operation, given: dict[str, Any]) -> list[str]:
    if not given and operation.method == "POST":
        return ["-X POST"]
    if operation.encoding == "form":
        fields = (f"{name}={value}" for name, value in given.items())
        return [f"--data-urlencode {shlex.quote(field)}" for field in fields]
    if operation.encoding == "event":
        return ["-H 'Content-Type: application/secevent+jwt'", f"--data-raw {shlex.quote(given['token'])}"]
    sent = shlex.quote(json.dumps(given, indent=2, ensure_ascii=False))
    return ["-H 'Content-Type: application/json'", f"-d {sent}"]
