"""`GET /` in a real browser: a case is built or loaded and decided, and whatever went wrong is said."""

import json
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.app.jobs.batches import Batches
from tests.app.web.browser import Visit
from tests.app.web.conftest import spoil

pytestmark = pytest.mark.asyncio(loop_scope="module")

POOL = frozenset({"tot", "medprompt", "cot", "common_bias", "rare_bias"})
Body = dict[str, Any]


async def with_example(page: Page) -> None:
    """The page with its first example loaded."""
    await page.goto("/")
    await page.locator("#example option").nth(1).wait_for(state="attached")
    await page.select_option("#example", index=1)
    await expect(page.locator("#evidence li").first).to_be_visible()


async def decided(page: Page) -> Body:
    """The answer that the page got for its first example, once it is shown."""
    await with_example(page)
    await page.click("#decide")
    await expect(page.locator(".facts")).to_be_visible()
    return dict(json.loads(await page.locator(".facts pre").nth(1).text_content() or ""))


def section(page: Page, title: str) -> Any:
    return page.locator("section", has=page.get_by_role("heading", name=title))


async def test_an_example_is_decided(visit: Visit) -> None:
    answer = await decided(visit.page)

    await expect(visit.page.locator(".verdict .label")).to_have_text(answer["label"])
    await expect(visit.page.locator("#status")).to_contain_text("Decided")
    await expect(visit.page.locator(".stand-in")).to_contain_text("It is no language model")
    await expect(visit.page.locator("footer")).to_contain_text("Compatibility, not correctness.")
    await expect(visit.page.locator("footer")).to_contain_text("not a clinical decision-support system")


async def test_every_agent_stands_beside_the_anchor(visit: Visit) -> None:
    answer = await decided(visit.page)

    heads = await visit.page.locator(".posteriors thead th").all_inner_texts()
    for agent in answer["agents"]:
        (head,) = [head for head in heads if head.startswith(agent["agent"].replace("_", " "))]
        assert f"{agent['js']:.3f} · rank {agent['rank']}" in head
        assert f"weight {agent['weight']:.2f}" in head
    rows = await visit.page.locator(".posteriors tbody th").all_inner_texts()
    assert set(rows) == {label for agent in answer["agents"] for label in agent["posterior"]}


async def test_every_aggregator_is_compared_and_every_rank_is_shown(visit: Visit) -> None:
    answer = await decided(visit.page)

    rows = await visit.page.locator(".compare tbody tr").count()
    assert rows == 1 + len(answer["compare"]) == 12
    findings = answer["anchor"]["findings"]
    cells = visit.page.locator(".heat td[class^=heat-]")
    assert await cells.count() == len(findings) * len(answer["anchor"]["distribution"])


async def test_agents_come_in_one_by_one(visit: Visit, service: Batches) -> None:
    service.gate.close(after=1)
    await with_example(visit.page)
    await visit.page.click("#decide")

    await expect(visit.page.locator("#status")).to_have_text("1 of 5 agents have answered.")
    await expect(visit.page.get_by_text("is being asked", exact=True)).to_have_count(4)
    service.gate.open()
    await expect(visit.page.locator("#status")).to_contain_text("Decided")


async def test_whoever_stops_it_is_told_so(visit: Visit, service: Batches) -> None:
    service.gate.close(after=1)
    await with_example(visit.page)
    await visit.page.click("#decide")
    await expect(visit.page.locator("#status")).to_have_text("1 of 5 agents have answered.")

    await visit.page.click("#stop")

    await expect(visit.page.get_by_role("alert")).to_contain_text("nobody is asked any more")
    await expect(visit.page.locator("#decide")).to_be_enabled()
    service.gate.open()


async def test_a_case_is_built_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit.page
    await page.goto("/")
    await page.locator("#example option").nth(1).wait_for(state="attached")
    domain = (await (await page.request.get("/domains")).json())[0]["name"]
    findings = (await (await page.request.get(f"/domains/{domain}")).json())["findings"]
    chosen = {kind: next(f for f in findings if f["kind"] == kind) for kind in ("context", "evidence")}

    for kind, presses in (("context", 1), ("evidence", 2)):  # as present, as absent
        await page.locator("#search").focus()
        await page.keyboard.press("Control+A")
        await page.keyboard.type(chosen[kind]["id"])
        for _ in range(presses):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.locator(f"#{kind} li")).to_have_count(1)
    await page.locator("#decide").focus()
    await page.keyboard.press("Enter")

    await expect(page.locator(".facts")).to_be_visible()
    asked = json.loads(await page.locator(".facts pre").nth(0).text_content() or "")
    assert asked["case"]["context"] == [{"id": chosen["context"]["id"]}]
    assert asked["case"]["evidence"] == [{"id": chosen["evidence"]["id"], "present": False}]


async def test_an_empty_case_asks_nobody(visit: Visit, service: Batches) -> None:
    await visit.page.goto("/")
    await visit.page.locator("#example option").nth(1).wait_for(state="attached")
    await visit.page.click("#decide")

    await expect(visit.page.locator("#status")).to_have_text("State at least one finding first.")
    assert service.gate.bodies == []


async def test_a_failing_agent_is_said_in_words(visit: Visit, service: Batches) -> None:
    spoil(service, frozenset({"cot"}))
    answer = await decided(visit.page)

    alert = section(visit.page, "Not as it was asked")
    for note in answer["notes"]:
        await expect(alert).to_contain_text(note)
    await expect(visit.page.locator(".posteriors thead .warn", has_text="failed")).to_have_count(1)


async def test_a_dead_backbone_is_a_problem_and_no_decision(visit: Visit, service: Batches) -> None:
    spoil(service, POOL)
    await with_example(visit.page)
    await visit.page.click("#decide")

    await expect(visit.page.get_by_role("alert")).to_contain_text("0 of 5 agents gave a usable answer")
    await expect(visit.page.locator("#status")).to_have_text("No decision.")
    await expect(visit.page.locator(".verdict")).to_have_count(0)


@pytest.mark.parametrize(("name", "value"), [("tau", 12.0), ("w_r", 0.85)])
async def test_a_slider_gives_what_a_decision_with_its_value_gives(
    visit: Visit, service: Batches, name: str, value: float
) -> None:
    before = await decided(visit.page)
    asked = len(service.gate.bodies)

    async with visit.page.expect_response("**/aggregate") as answered:
        await visit.page.locator(f"#knob-{name}").fill(str(value))
    again = (await (await answered.value).json())["cases"][0]
    await expect(visit.page.locator(".knobs .hint")).to_contain_text("nobody was asked again")

    assert len(service.gate.bodies) == asked
    sent = json.loads(await visit.page.locator(".facts pre").nth(0).text_content() or "")
    same = (await service.client.post("/decide", json=sent | {"params": {name: value}})).json()
    weights = [agent["weight"] for agent in same["agents"]]
    assert again["weights"] == pytest.approx(weights, abs=1e-12)
    for rule, decision in again["decisions"].items():
        expected = same if rule == same["aggregator"] else same["compare"][rule]
        if rule != "random":  # keyed by the case's content here, by its id there
            assert decision["label"] == expected["label"]
            assert decision["distribution"] == pytest.approx(expected["distribution"], abs=1e-12)
    assert same["distribution"] != before["distribution"]


async def test_a_slider_put_back_gives_the_decision_back(visit: Visit) -> None:
    answer = await decided(visit.page)
    shown = await visit.page.locator(".verdict").inner_text()

    await visit.page.locator("#knob-w_r").fill("1")
    await expect(visit.page.locator(".knobs .hint")).to_contain_text("nobody was asked again")
    await visit.page.get_by_role("button", name="As decided").click()

    await expect(visit.page.locator(".knobs .hint")).to_have_text("As decided.")
    assert await visit.page.locator(".verdict").inner_text() == shown
    await expect(visit.page.locator(".verdict .label")).to_have_text(answer["label"])


@pytest.mark.parametrize("width", [360, 768, 1440])
async def test_the_page_is_as_wide_as_the_window(visit: Visit, width: int) -> None:
    await visit.page.set_viewport_size({"width": width, "height": 800})
    await decided(visit.page)

    assert await visit.page.evaluate("document.documentElement.scrollWidth") == width
