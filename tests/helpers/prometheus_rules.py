"""What Prometheus would do with texts of `/metrics`: promtool runs the rules over half an hour of each in a moment."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from tests.helpers.neighbours import require

OBSERVABILITY: Final = Path(__file__).parents[2] / "deploy" / "observability"
ALERTS: Final = OBSERVABILITY / "alerts.yaml"
_WELL: Final = 30
"""Minutes for which the first text holds."""
_COUNTERS: Final = re.compile(r"\w+_(?:total|bucket|count|sum)(?:$|\{)")
_ROUNDS: Final = "negotiator_housekeeping_timestamp_seconds"
_FOUND: Final = re.compile(r'alertname="(\w+)"')


def promtool(*arguments: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    """Run Debian's promtool."""
    command = [require("prometheus"), *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def metric_names(text: str) -> set[str]:
    """The names of the series that a text of `/metrics` can hold, by its types."""
    names: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            parts = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
            names |= {name + part for part in parts}
    return names


def named_metrics(expression: str) -> set[str]:
    """The metrics of this service that a query names."""
    return set(re.findall(r"\b(?:negotiator|process)_\w+", expression))


def alert_rules() -> list[dict[str, Any]]:
    """The rules that operators load."""
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def firing(folder: Path, texts: Sequence[str], *, minutes: int = 30) -> set[str]:
    """The alerts that fire when the first text has held for half an hour and the others together for `minutes`.

    Counters grow evenly from one text to the next. No alert may fire before.
    """
    scrapes = [_samples(text) for text in texts]
    names = dict.fromkeys(name for scrape in scrapes for name in scrape)
    series = [{"series": _of_machine(name), "values": " ".join(_values(name, scrapes, minutes))} for name in names]
    before = _asked(folder, series, f"{_WELL}m")
    assert before == set(), before
    return _asked(folder, series, f"{_WELL + minutes}m")


def _asked(folder: Path, series: list[dict[str, str]], at: str) -> set[str]:
    """The firing alerts at this time, as promtool tells them where it was told to expect none."""
    expression = 'count by (alertname) (ALERTS{alertstate="firing"})'
    query: dict[str, Any] = {"expr": expression, "eval_time": at, "exp_samples": []}
    test: dict[str, Any] = {"interval": "1m", "input_series": series, "promql_expr_test": [query]}
    plan = {"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [test]}
    path = folder / "rules.test.json"
    path.write_text(json.dumps(plan))
    done = promtool("test", "rules", str(path))
    said = done.stdout + done.stderr
    found = set(_FOUND.findall(said))
    assert found or done.returncode == 0, said
    return found


def _samples(text: str) -> dict[str, float]:
    pairs = (line.rpartition(" ") for line in text.splitlines() if line[:1] not in {"#", ""})
    return {name: float(value) for name, _, value in pairs}


def _of_machine(name: str) -> str:
    """The series as Prometheus stores it, with the machine that it came from."""
    bare, _, labels = name.partition("{")
    return f'{bare}{{instance="one:9464",{labels or "}"}'


def _values(name: str, scrapes: Sequence[dict[str, float]], minutes: int) -> list[str]:
    """One value for each minute; `_` where the series is absent."""
    first, *later = [scrape.get(name) for scrape in scrapes]
    if name == _ROUNDS:
        return _rounds(first or 0.0, later, minutes)
    values = [first] * (_WELL + 1)
    length, before = minutes // len(later), first
    for value in later:
        if value is None or not _COUNTERS.match(name):
            values += [value] * length
        else:
            begin = before or 0.0
            values += [begin + (value - begin) * (each + 1) / length for each in range(length)]
        before = value
    return ["_" if value is None else f"{value:.12g}" for value in values]


def _rounds(first: float, later: Sequence[float | None], minutes: int) -> list[str]:
    """promtool's time begins at 0: the rounds come each minute, and end where the texts show no newer one."""
    values = [60 * minute if first else 0 for minute in range(_WELL + 1)]
    goes_on = (later[-1] or 0) > first
    values += [60 * (_WELL + each + 1) if goes_on else values[-1] for each in range(minutes)]
    return [str(value) for value in values]
