"""The Grafana dashboard: panels that fit, and queries of metrics that the service has."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from negotiator.config.settings import Settings
from tests.conftest import connect, make_settings, running
from tests.helpers.prometheus_rules import OBSERVABILITY, metric_names, named_metrics, promtool

DASHBOARD: dict[str, Any] = json.loads((OBSERVABILITY / "dashboard.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
QUERIES: list[str] = [target["expr"] for panel in PANELS if panel["type"] != "row" for target in panel["targets"]]


def test_the_panels_have_what_grafana_needs() -> None:
    assert {"uid", "title", "schemaVersion", "time", "templating", "panels"} <= set(DASHBOARD)
    ids = [panel["id"] for panel in PANELS]
    assert len(ids) == len(set(ids))
    names = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    assert names == {"datasource", "instance"}
    for panel in PANELS:
        assert panel["title"]
        if panel["type"] == "row":
            continue
        assert panel["type"] == "timeseries"
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert panel["fieldConfig"]["defaults"]["unit"]
        references = [target["refId"] for target in panel["targets"]]
        assert references
        assert len(references) == len(set(references))


def test_no_panel_covers_another() -> None:
    taken = [panel["gridPos"] for panel in PANELS]
    assert all(each["x"] >= 0 and each["x"] + each["w"] <= 24 for each in taken)
    for one, other in combinations(taken, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below, (one, other)


@pytest.mark.asyncio
async def test_every_query_names_metrics_that_exist_and_every_metric_is_shown(settings: Settings) -> None:
    token, nowhere = "only the collector knows", "http://127.0.0.1:9/v1/traces"
    chosen = make_settings(settings.data_dir, settings.keys_dir, metrics_token=token, traces_url=nowhere)
    async with running(chosen) as application, connect(application) as client:
        answer = await client.get("/metrics", headers={"authorization": f"Bearer {token}"})
    shown = metric_names(answer.text)
    named = {name for query in QUERIES for name in named_metrics(query)}
    assert named <= shown
    families = {line.split()[2] for line in answer.text.splitlines() if line.startswith("# TYPE")}
    unseen = [each for each in families if not any(name.startswith(each) for name in named)]
    assert unseen == []


def test_every_query_is_promql(tmp_path: Path) -> None:
    plain = [query.replace("$__rate_interval", "5m").replace("$instance", ".*") for query in QUERIES]
    rules = [{"record": f"panel:{at}", "expr": query} for at, query in enumerate(plain)]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = promtool("check", "rules", "--lint=none", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
