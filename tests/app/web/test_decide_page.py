"""`GET /` in a real browser: a case is built or loaded and decided, and whatever went wrong is said."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.app.jobs.batches import Batches
from tests.app.web.browser import Visit, visiting
from tests.app.web.conftest import spoil

pytestmark = pytest.mark.asyncio(loop_scope="module")

POOL = frozenset({"tot", "medprompt", "cot", "common_bias", "rare_bias"})
LOOKED_AT = 3
"""How many examples are decided before any test; those after them are asked anew."""
HEADS = {"minjs", "fwdjs", "loglin"}
Body = dict[str, Any]


async def opened(page: Page) -> None:
    """The page, once it knows its domain."""
    await page.goto("/")
    await page.locator("#example option").nth(1).wait_for(state="attached")


async def with_example(page: Page, example: int = 1) -> None:
    """The page with one of its examples loaded."""
    await opened(page)
    await page.select_option("#example", index=example)
    await expect(page.locator("#evidence li").first).to_be_visible()


async def shown(page: Page, place: int = 1) -> Body:
    """The answer that the page shows; the request is in place 0."""
    await expect(page.locator(".facts")).to_be_visible()
    return dict(json.loads(await page.locator(".facts pre").nth(place).text_content() or ""))


async def decided(page: Page, example: int = 1) -> Body:
    """The answer that the page got for an example, once it is shown."""
    await with_example(page, example)
    await page.click("#decide")
    return await shown(page)


def words(name: str) -> str:
    return name.replace("_", " ")


class Seen:
    """A decision that is shown, for tests that only look; and what was answered."""

    def __init__(self, page: Page, answer: Body) -> None:
        self.page = page
        self.answer = answer


async def most_disputed(service: Batches) -> int:
    """The place of the example that the agents disagree about most."""
    (name, *_) = [domain["name"] for domain in (await service.client.get("/domains")).json()]
    bodies = (await service.client.get(f"/domains/{name}")).json()["examples"][:LOOKED_AT]
    answers = [(await service.client.post("/decide", json=body)).json() for body in bodies]
    tops = [len({agent["top"] for agent in answer["agents"]}) for answer in answers]
    return 1 + tops.index(max(tops))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def seen(browser: Browser, service: Batches) -> AsyncIterator[Seen]:
    async with visiting(browser, str(service.client.base_url)) as visit:
        yield Seen(visit.page, await decided(visit.page, await most_disputed(service)))
        assert visit.errors == []


async def test_an_example_is_decided(seen: Seen) -> None:
    await expect(seen.page.locator(".verdict .label")).to_have_text(seen.answer["label"])
    await expect(seen.page.locator("#status")).to_have_text(f"Decided: {seen.answer['label']}.")


async def test_it_is_said_what_a_decision_is_not(seen: Seen) -> None:
    await expect(seen.page.locator(".stand-in")).to_contain_text("It is no language model")
    await expect(seen.page.locator("footer")).to_contain_text("Compatibility, not correctness.")
    await expect(seen.page.locator("footer")).to_contain_text("not a clinical decision-support system")


async def test_who_puts_what_first_is_said_at_once(seen: Seen) -> None:
    anchor = seen.answer["anchor"]["distribution"]
    camps = {row.split("\n")[0].strip() for row in await seen.page.locator(".camps strong").all_inner_texts()}
    assert camps == {agent["top"] for agent in seen.answer["agents"]} | {max(anchor, key=anchor.__getitem__)}
    for agent in seen.answer["agents"]:
        camp = seen.page.locator(".camps li", has=seen.page.get_by_text(words(agent["agent"]), exact=True))
        await expect(camp).to_contain_text(agent["top"])


async def test_every_agent_stands_beside_the_anchor(seen: Seen) -> None:
    heads = await seen.page.locator(".posteriors thead th").all_inner_texts()
    for agent in seen.answer["agents"]:
        (head,) = [head for head in heads if head.startswith(words(agent["agent"]))]
        assert f"{agent['js']:.3f} · rank {agent['rank']}" in head
        assert f"weight {agent['weight']:.2f}" in head
    rows = await seen.page.locator(".posteriors tbody th").all_inner_texts()
    assert set(rows) == {label for agent in seen.answer["agents"] for label in agent["posterior"]}


async def test_every_aggregator_is_compared(seen: Seen) -> None:
    rows = await seen.page.locator(".compare tbody tr").all_inner_texts()
    assert len(rows) == 1 + len(seen.answer["compare"]) == 12
    for name, says in seen.answer["compare"].items():
        (row,) = [row for row in rows if row.startswith(words(name) + "\t")]
        assert says["label"] in row
        assert ("differs" in row) == (says["label"] != seen.answer["label"])


async def test_every_rank_is_shown(seen: Seen) -> None:
    for finding in seen.answer["anchor"]["findings"]:
        row = seen.page.locator(".heat tbody tr", has=seen.page.get_by_role("rowheader", name=finding["text"]))
        cells = await row.first.locator("td").all_inner_texts()
        assert cells == [f"{finding['ranks'][label]:g}" for label in seen.answer["anchor"]["distribution"]]


async def test_what_tells_two_labels_apart_makes_the_anchors_ratio(seen: Seen) -> None:
    anchor = seen.answer["anchor"]["distribution"]
    first, *_, last = sorted(anchor, key=anchor.__getitem__, reverse=True)
    await seen.page.get_by_label("This label").select_option(last)
    await seen.page.get_by_label("against").select_option(first)

    ratio = anchor[first] / anchor[last]
    said = f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"
    together = seen.page.locator(".contrast p", has_text="Together they make")
    await expect(together).to_have_text(f"Together they make {first} {said} × as likely as {last}.")


@pytest.mark.parametrize("width", [360, 768, 1440])
async def test_the_page_is_as_wide_as_the_window(seen: Seen, width: int) -> None:
    await seen.page.set_viewport_size({"width": width, "height": 800})

    assert await seen.page.evaluate("document.documentElement.scrollWidth") == width
    views = [await seen.page.locator(f"{view}:visible").count() for view in (".posteriors", ".cards")]
    assert views == ([1, 0] if width == 1440 else [0, 1])


async def test_agents_come_in_one_by_one(visit: Visit, service: Batches) -> None:
    service.gate.close(after=1)
    await with_example(visit.page, 4)
    await visit.page.click("#decide")

    await expect(visit.page.locator("#status")).to_have_text("1 of 5 agents have answered.")
    await expect(visit.page.locator(".posteriors").get_by_text("is being asked", exact=True)).to_have_count(4)
    service.gate.open()
    await expect(visit.page.locator("#status")).to_contain_text("Decided")


async def test_whoever_stops_it_is_told_so(visit: Visit, service: Batches) -> None:
    service.gate.close(after=1)
    await with_example(visit.page, 5)
    await visit.page.click("#decide")
    await expect(visit.page.locator("#status")).to_have_text("1 of 5 agents have answered.")

    await visit.page.click("#stop")

    await expect(visit.page.get_by_role("alert")).to_contain_text("nobody is asked any more")
    await expect(visit.page.locator("#decide")).to_be_enabled()


async def test_a_case_is_built_with_the_keyboard_alone(visit: Visit, service: Batches) -> None:
    page = visit.page
    await opened(page)
    domain = await page.locator("#domain").input_value()
    findings = (await service.client.get(f"/domains/{domain}")).json()["findings"]
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

    asked = await shown(page, 0)
    assert asked["case"]["context"] == [{"id": chosen["context"]["id"]}]
    assert asked["case"]["evidence"] == [{"id": chosen["evidence"]["id"], "present": False}]


async def test_whoever_removes_a_finding_stays_where_they_are(visit: Visit) -> None:
    await with_example(visit.page)
    texts = await visit.page.locator("#evidence .text").all_inner_texts()
    await visit.page.locator("#evidence .drop").first.press("Enter")

    await expect(visit.page.get_by_label(f"Remove {texts[1]}", exact=True)).to_be_focused()


async def test_a_request_pasted_brings_its_domain(visit: Visit) -> None:
    await opened(visit.page)
    domain = await visit.page.locator("#domain option").last.get_attribute("value") or ""
    body = {"domain": domain, "case": {"id": "mine", "evidence": [{"id": "nobody_knows"}]}}
    await visit.page.locator("#paste summary").click()
    await visit.page.fill("#case-json", json.dumps(body))
    await visit.page.click("#load-json")

    await expect(visit.page.locator("#domain")).to_have_value(domain)
    await expect(visit.page.locator("#evidence li")).to_contain_text("not known here")
    await visit.page.click("#decide")
    await expect(visit.page.get_by_role("alert")).to_contain_text("case.evidence.0")


async def test_what_is_no_case_changes_nothing(visit: Visit) -> None:
    await with_example(visit.page)
    stated = await visit.page.locator("#evidence").inner_text()
    await visit.page.locator("#paste summary").click()
    await visit.page.fill("#case-json", '{"evidence": [null]}')
    await visit.page.click("#load-json")

    await expect(visit.page.locator("#json-state")).to_contain_text("That is no case")
    assert await visit.page.locator("#evidence").inner_text() == stated


async def test_an_empty_case_asks_nobody(visit: Visit, service: Batches) -> None:
    asked = len(service.gate.bodies)
    await opened(visit.page)
    await visit.page.click("#decide")

    await expect(visit.page.locator("#status")).to_have_text("State at least one finding first.")
    assert len(service.gate.bodies) == asked


async def test_a_failing_agent_is_said_in_words(visit: Visit, service: Batches) -> None:
    spoil(service, frozenset({"cot"}))
    answer = await decided(visit.page, 6)

    assert answer["degraded"] == ["agent_failed:cot"]
    alert = visit.page.locator("section.alert", has_text="Not as it was asked")
    await expect(alert).to_contain_text("An agent gave no usable answer and has no voice")
    await expect(alert.locator("li", has_text="cot")).to_have_count(1)
    await expect(visit.page.locator(".posteriors thead .warn", has_text="failed")).to_have_count(1)


async def test_a_dead_backbone_is_a_problem_and_no_decision(visit: Visit, service: Batches) -> None:
    spoil(service, POOL)
    await with_example(visit.page, 7)
    await visit.page.click("#decide")

    await expect(visit.page.get_by_role("alert")).to_contain_text("0 of 5 agents gave a usable answer")
    await expect(visit.page.locator("#status")).to_have_text("No decision.")
    await expect(visit.page.locator(".verdict")).to_have_count(0)
    await expect(visit.page.get_by_text("Waiting for")).to_have_count(0)


async def test_the_sliders_give_what_a_decision_with_their_values_gives(visit: Visit, service: Batches) -> None:
    before = await decided(visit.page)
    asked = len(service.gate.bodies)
    params = {"tau": 12.0, "w_r": 0.85}

    for name, value in params.items():
        async with visit.page.expect_response("**/aggregate") as answered:
            await visit.page.locator(f"#knob-{name}").fill(str(value))
        again = (await (await answered.value).json())["cases"][0]
    await expect(visit.page.locator(".verdict h2")).to_have_text("What if: τ = 12, w_R = 0.85")

    assert len(service.gate.bodies) == asked, "nobody is asked again"
    same = (await service.client.post("/decide", json=await shown(visit.page, 0) | {"params": params})).json()
    weights = [agent["weight"] for agent in same["agents"]]
    assert again["weights"] == pytest.approx(weights, abs=1e-12)
    assert set(again["decisions"]) == HEADS
    for head, decision in again["decisions"].items():
        expected = same if head == same["aggregator"] else same["compare"][head]
        assert decision["label"] == expected["label"]
        assert decision["distribution"] == pytest.approx(expected["distribution"], abs=1e-12)
    assert same["distribution"] != before["distribution"]


async def test_a_slider_says_what_if_and_put_back_gives_the_decision_back(visit: Visit) -> None:
    answer = await decided(visit.page)
    verdict = visit.page.locator(".verdict")
    before = await verdict.inner_text()
    await visit.page.locator(".reason summary").first.click()

    await visit.page.locator("#knob-w_r").fill("1")
    await expect(verdict).to_contain_text("What if: τ = 5, w_R = 1")
    await expect(verdict).to_contain_text(f"What was decided: {answer['label']}.")
    await visit.page.get_by_role("button", name="Back to what was decided").click()

    await expect(visit.page.locator(".knobs [role=status]")).to_have_text("As decided.")
    assert await verdict.inner_text() == before
    assert await visit.page.locator(".reason").first.get_attribute("open") is None, "what was folded stays folded"
