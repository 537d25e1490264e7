"""The page: whole by itself, safe, readable by machines that read it aloud, and honest about the stand-in."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from evaluation.report.page import STAND_IN_NOTICE, render_page
from evaluation.report.study import Report

VOID = {"meta", "link", "br", "img"}


class Outline(HTMLParser):
    """The elements of a page and their attributes; that every one is closed is checked on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag in tags]


def outline(page: str) -> Outline:
    parsed = Outline()
    parsed.feed(page)
    parsed.close()
    assert parsed.open == []
    return parsed


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return render_page(report, "report-files/")


def test_every_element_is_closed_and_every_id_is_its_own(page: str) -> None:
    ids = [attributes["id"] for _, attributes in outline(page).found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    parsed = outline(page)
    assert not parsed.all("script", "img", "iframe", "object", "embed")
    assert [attributes["href"] for attributes in parsed.all("link")] == ["data:,"]  # else a browser asks for an icon
    assert not any("src" in attributes for _, attributes in parsed.found)
    assert all(str(attributes["href"]).startswith("#") for attributes in parsed.all("a"))
    assert not re.search(r"@import|url\((?!#)", page)
    assert len(page.encode()) < 4_000_000


def test_links_lead_to_sections(page: str) -> None:
    parsed = outline(page)
    ids = {attributes.get("id") for _, attributes in parsed.found}
    assert all(str(attributes["href"])[1:] in ids for attributes in parsed.all("a"))


def test_tables_have_captions_and_scopes_and_scroll_by_keyboard(page: str) -> None:
    parsed = outline(page)
    assert len(parsed.all("table")) == len(parsed.all("caption")) == 21
    assert all(attributes.get("scope") for attributes in parsed.all("th"))
    boxes = [attributes for attributes in parsed.all("div") if attributes.get("class") == "scroll"]
    assert all(box.get("tabindex") == "0" and box.get("aria-label") for box in boxes)


def test_figures_are_told_in_words(page: str) -> None:
    drawings = [attributes for attributes in outline(page).all("svg") if attributes.get("role") == "img"]
    assert len(drawings) >= 9
    assert all(attributes.get("aria-label") for attributes in drawings)


def test_the_stand_in_is_named_at_the_top_and_on_its_figures(report: Report) -> None:
    page = render_page(replace(report, runs=report.runs[1:]))
    assert STAND_IN_NOTICE in page.split("<h1")[0]
    for drawing in re.findall(r"<svg[^>]*role=\"img\".*?</svg>", page, re.DOTALL):
        shown = " ".join(re.findall(r"class=\"watermark\"[^>]*>([^<]*)<", drawing))
        assert shown == STAND_IN_NOTICE


def test_a_model_is_no_stand_in(report: Report) -> None:
    assert "no language model" not in render_page(replace(report, runs=report.runs[:1]))


def test_what_a_run_says_is_text(report: Report) -> None:
    evil = '</title><script>alert(1)</script>"><img src=x onerror=alert(1)>'
    runs = []
    for run in report.runs:
        manifest = run.manifest.model_copy(
            update={
                "domain": run.manifest.domain.model_copy(update={"name": evil}),
                "asked": run.manifest.asked.model_copy(update={"agents": [evil]}),
                "versions": run.manifest.versions.model_copy(update={"prompts": {evil: evil}}),
            }
        )
        numbers = replace(run.numbers, excluded={evil: 1}, agents=(evil,) * 5, fallback={evil: {"all": 1}})
        runs.append(replace(run, title=evil, manifest=manifest, numbers=numbers, notes=(evil,)))
    parsed = outline(render_page(replace(report, runs=tuple(runs), notes=(evil,)), evil))
    assert not parsed.all("script", "img")
    assert not any(name.startswith("on") for _, attributes in parsed.found for name in attributes)


def test_claims_and_identities_are_on_the_page(page: str, report: Report) -> None:
    assert f"All {report.identities} identities that must hold in any evaluation" in page
    assert page.count('class="verdict') == len(report.verdicts) * (len(report.runs) + 2)


def test_a_broken_identity_is_said_first(report: Report) -> None:
    broken = replace(report.runs[0].identities[0], holds=False)
    run = replace(report.runs[0], identities=(broken,))
    page = render_page(replace(report, runs=(run, *report.runs[1:])))
    assert "do not believe the numbers" in page.split("<main")[0]
