"""Dashboard and alerts ask for metrics and labels that the service has."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.settings import load_settings
from tests.app.conftest import running
from tests.docs.documents import ROOT

FOLDER = ROOT / "docs/monitoring"
OF_PROMETHEUS = {"up", "instance", "job", "le"}
NAME = re.compile(r"\b(?:crosspath|process|python)_\w+")
SELECTOR = re.compile(r"\b((?:crosspath|process)_\w+)\{([^}]*)\}")
GROUPED = re.compile(r"\bby \(([^)]*)\)")


def dashboard() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))
    return content


def expressions() -> Iterator[str]:
    """Every query of the dashboard and of the alerts."""
    for panel in dashboard()["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    yield from (variable["query"]["query"] for variable in dashboard()["templating"]["list"][1:])
    yield from re.findall(r"expr: (.*)", (FOLDER / "alerts.yml").read_text("utf-8"))


@pytest.fixture
async def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Each metric that operations.md lists, with its labels, and what the process has beside these."""
    page = (ROOT / "docs/operations.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`crosspath_\w+`(?:, )?)+) \|([\w, ]*)\|", page, re.MULTILINE)
    labels = {name: set(of.replace(" ", "").split(",")) - {""} for names, of in rows for name in NAME.findall(names)}
    async with running(load_settings(data_dir=tmp_path_factory.mktemp("data"))) as service:
        exposition = (await service.client.get("/metrics")).text
    for family in text_string_to_metric_families(exposition):
        if family.name.endswith("_created"):
            continue
        exposed = {f"{family.name}_total", family.name}
        listed = exposed & set(labels)
        assert listed or family.name.startswith(("process_", "python_")), f"{family.name} is not in operations.md"
        labels |= {name: set() for name in (sample.name for sample in family.samples) if name not in labels}
    return labels


def metric(name: str) -> str:
    return re.sub(r"_(bucket|count|sum)$", "", name)


async def test_every_metric_that_is_asked_for_exists(known: dict[str, set[str]]) -> None:
    asked = {metric(name) for expression in expressions() for name in NAME.findall(expression)}

    assert asked - set(known) == set()


async def test_every_label_that_is_asked_for_exists(known: dict[str, set[str]]) -> None:
    for expression in expressions():
        for name, inside in SELECTOR.findall(expression):
            used = set(re.findall(r"(\w+)\s*(?:=~|!=|=)", inside))
            assert used - known[metric(name)] - OF_PROMETHEUS == set(), expression
        grouped = {label.strip() for found in GROUPED.findall(expression) for label in found.split(",")}
        of_all = set().union(*(known[metric(name)] for name in NAME.findall(expression)))
        assert grouped - of_all - OF_PROMETHEUS == set(), expression


async def test_every_metric_of_ours_is_on_the_dashboard_or_in_an_alert(known: dict[str, set[str]]) -> None:
    asked = {metric(name) for expression in expressions() for name in NAME.findall(expression)}
    ours = {metric(name) for name in known if name.startswith("crosspath_")}

    assert ours - asked == {"crosspath_breaker_changes_total"}  # the state says it


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


def test_files_that_are_mounted_are_there() -> None:
    compose = (FOLDER / "docker-compose.monitoring.yml").read_text("utf-8")
    mounted = re.findall(r"- \./(\S+?):", compose)

    assert len(mounted) == 5
    assert [name for name in mounted if not (ROOT / name).is_file()] == []
