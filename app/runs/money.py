"""What a run will take, told before it is paid for; and the purse that pays. What is not known stays unknown."""

from collections import Counter
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.endpoint import BackboneSettings
from agents.purse import MOST_USD, Purse, closed_purse
from agents.replies import Usage
from agents.replies.reply import NO_USAGE
from anchor.table import unanswered
from app.asking import Outcome
from app.hearing import Hearing, hear
from app.inquiry import Inquiry
from domains.case import KINDS, Kind
from domains.errors import BadInput, Fault

LOOKING_S = 60.0
"""Looking for kept replies waits for no server; the reply store has its own limits."""


def open_purse(budget_usd: float | None, backbones: Iterable[Backbone], spent_usd: float = 0.0) -> Purse:
    """The purse of a run that asks these backbones; `spent_usd` is what its earlier parts spent.

    Raises:
        BadInput: there is a budget, and a backbone whose prices are not declared; or it is no amount.
    """
    if budget_usd is not None:
        if not 0.0 <= budget_usd <= MOST_USD:
            raise BadInput.at("budget", f"must be an amount in dollars, from 0 to {MOST_USD:,.0f}")
        faults = [
            Fault(f"backbones.{backbone.name}.prices", "a budget needs input and output prices (0 is a price)")
            for backbone in {backbone.name: backbone for backbone in backbones}.values()
            if not _is_priced(backbone.settings)
        ]
        if faults:
            raise BadInput(faults)
    return Purse(budget_usd, spent_usd)


def _is_priced(settings: BackboneSettings) -> bool:
    return settings.prices is not None and settings.prices.cost(NO_USAGE) is not None


def expected_calls(inquiry: Inquiry) -> Counter[str]:
    """Questions that deciding one case asks, by backbone. Requests sent again and pairs asked again come on top."""
    anchors = inquiry.anchors.values()
    calls = Counter(agent.backbone.name for agent in inquiry.agents)
    steps = sum(any(kind in anchor.steps for anchor in anchors) and _asks(inquiry, kind) for kind in KINDS)
    calls[inquiry.backbone.name] += steps + len(inquiry.judges) + any(anchor.generic for anchor in anchors)
    return calls


def _asks(inquiry: Inquiry, kind: Kind) -> bool:
    """Whether a step asks anybody: about a finding of which a table does not know every label's rank."""
    stated = [o.finding for o in inquiry.case.observations(kind) if o.present or kind == "evidence"]
    if inquiry.table is None:
        return bool(stated)
    return bool(unanswered(inquiry.table.table.ranks(stated, range(len(inquiry.domain.labels)))).any())


async def calls_left(inquiry: Inquiry) -> Counter[str]:
    """The same without the questions whose replies are kept already. Nothing is sent."""
    # A quorum would hide the replies to the elicitor; a judge cannot be asked about nothing.
    looking = replace(inquiry, purse=closed_purse(), quorum=1 if inquiry.judges else 0)
    hearing = await hear(looking, Deadline.after(LOOKING_S))
    kept = Counter(name for name, outcome in _by_backbone(hearing) if outcome.value is not None)
    return expected_calls(inquiry) - kept


def _by_backbone(hearing: Hearing) -> list[tuple[str, Outcome[Any]]]:
    """What became of every question, and which backbone it was asked of."""
    inquiry = hearing.inquiry
    steps = [step.outcome for step in hearing.steps.values() if step.outcome]
    generic = [hearing.generic] if hearing.generic else []
    own: list[Outcome[Any]] = [*steps, *hearing.verdicts.values(), *generic]
    forward = [(agent.backbone.name, said) for agent, said in zip(inquiry.agents, hearing.forward, strict=True)]
    return forward + [(inquiry.backbone.name, outcome) for outcome in own]


@dataclass(frozen=True)
class Sample:
    """What one case took: questions and tokens by backbone, and seconds (None where kept replies saved some)."""

    calls: Mapping[str, int]
    usage: Mapping[str, Usage]
    seconds: float | None


def sample_of(hearing: Hearing, seconds: float) -> Sample:
    """What a case that was heard took, replies kept from before counted as if fetched now."""
    calls: Counter[str] = Counter()
    usage: dict[str, Usage] = {}
    cached = False
    for name, outcome in _by_backbone(hearing):
        calls[name] += 1
        failed = [cost.usage for cost in outcome.costs] if outcome.failure else []
        for took in [*(answer.usage for answer in outcome.answers), *failed]:
            usage[name] = usage.get(name, NO_USAGE) + took
        cached = cached or any(answer.cached for answer in outcome.answers)
    return Sample(calls, usage, None if cached else seconds)


@dataclass(frozen=True)
class Plan:
    """What is left of a run: cases, so many of them at a time, and questions by backbone; with `skipping` at most so
    many."""

    cases: int
    in_flight: int
    calls: Mapping[str, int]
    backbones: Mapping[str, BackboneSettings]
    skipping: bool = False


async def plan_run(inquiries: AsyncIterable[Inquiry], in_flight: int, *, resumed: bool) -> Plan:
    """Counts what is left exactly; one inquiry for each case that has no record. Where a run is resumed, replies may
    be kept of cases that have none yet."""
    cases = 0
    calls: Counter[str] = Counter()
    backbones: dict[str, BackboneSettings] = {}
    skipping = False
    async for inquiry in inquiries:
        cases += 1
        skipping = inquiry.skip_unanimous and bool(inquiry.judges)
        calls += await calls_left(inquiry) if resumed else expected_calls(inquiry)
        asked = (inquiry.backbone, *(agent.backbone for agent in inquiry.agents))
        backbones |= {backbone.name: backbone.settings for backbone in asked}
    return Plan(cases, in_flight, calls, backbones, skipping)


@dataclass(frozen=True)
class Estimate:
    """What is left of a run will take about so much. None is unknown, and `notes` say why."""

    cases: int
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """For people, one thing a line."""
        return [
            f"cases: {self.cases:,}",
            f"calls: {self.calls:,}",
            f"prompt tokens: {_about(self.prompt_tokens, ',')}",
            f"completion tokens: {_about(self.completion_tokens, ',')}",
            f"cost: {_about(self.cost_usd, ',.4f', '$')}",
            f"time: {_about(None if self.seconds is None else round(self.seconds), ',', unit=' s')}",
            *self.notes,
        ]


def _about(value: float | None, form: str, sign: str = "", unit: str = "") -> str:
    return "unknown" if value is None else f"about {sign}{value:{form}}{unit}"


def together(estimates: Mapping[str, Estimate]) -> Estimate:
    """What several runs take one after another, by name. What is unknown of one is unknown of all."""
    every = list(estimates.values())
    if len(every) == 1:
        return every[0]
    prompt, completion = _sum(each.prompt_tokens for each in every), _sum(each.completion_tokens for each in every)
    return Estimate(
        cases=sum(each.cases for each in every),
        calls=sum(each.calls for each in every),
        prompt_tokens=None if prompt is None else round(prompt),
        completion_tokens=None if completion is None else round(completion),
        cost_usd=_sum(each.cost_usd for each in every),
        seconds=_sum(each.seconds for each in every),
        notes=tuple(f"{name}: {note}" for name, each in estimates.items() for note in each.notes),
    )


def estimate(plan: Plan, samples: Sequence[Sample]) -> Estimate:
    """From cases of the same run: what a question took on average, times the questions that are left.

    Free backbones cost nothing however long their replies are; else the cost needs prices and lengths.
    """
    rows = [
        (plan.backbones[name], calls, _per_call(name, samples)) for name, calls in sorted(plan.calls.items()) if calls
    ]
    prompt = _sum(None if usage is None else usage[0] * calls for _, calls, usage in rows)
    completion = _sum(None if usage is None else usage[1] * calls for _, calls, usage in rows)
    return Estimate(
        cases=plan.cases,
        calls=sum(plan.calls.values()),
        prompt_tokens=None if prompt is None else round(prompt),
        completion_tokens=None if completion is None else round(completion),
        cost_usd=_sum(_cost(settings, calls, usage) for settings, calls, usage in rows),
        seconds=_seconds(plan, rows, samples),
        notes=_notes(plan, samples),
    )


PerCall = tuple[float, float, float]
"""Prompt, completion and cached tokens of one question, on average."""


def _per_call(name: str, samples: Sequence[Sample]) -> PerCall | None:
    calls = sum(sample.calls.get(name, 0) for sample in samples)
    total = NO_USAGE
    for sample in samples:
        total += sample.usage.get(name, NO_USAGE)
    if not calls or total.prompt is None or total.completion is None:
        return None
    return total.prompt / calls, total.completion / calls, (total.cached or 0) / calls


def _cost(settings: BackboneSettings, calls: int, usage: PerCall | None) -> float | None:
    prices = settings.prices
    if prices is None or prices.input is None or prices.output is None:
        return None
    if prices.input == prices.output == 0:
        return 0.0
    if usage is None:
        return None
    prompt, completion, cached = usage
    kept = cached if prices.cached is not None else 0.0
    each = (prompt - kept) * prices.input + kept * (prices.cached or 0.0) + completion * prices.output
    return calls * each / 1e6


def _seconds(
    plan: Plan, rows: Sequence[tuple[BackboneSettings, int, PerCall | None]], samples: Sequence[Sample]
) -> float | None:
    """The pace of the first cases, so many at a time; not faster than the declared limits allow."""
    if not plan.cases:
        return 0.0
    timed = [sample.seconds for sample in samples if sample.seconds is not None]
    if not timed:
        return None
    paced = [sum(timed) / len(timed) * plan.cases / min(plan.in_flight, plan.cases)]
    for settings, calls, usage in rows:
        if settings.requests_per_minute is not None:
            paced.append(60.0 * calls / settings.requests_per_minute)
        if settings.tokens_per_minute is not None and usage is not None:
            paced.append(60.0 * calls * (usage[0] + usage[1]) / settings.tokens_per_minute)
    return max(paced)


def _notes(plan: Plan, samples: Sequence[Sample]) -> tuple[str, ...]:
    asked = {name: plan.backbones[name] for name, calls in sorted(plan.calls.items()) if calls}
    notes = [
        f"the cost is unknown: backbones.{name}.prices is not declared"
        for name, settings in asked.items()
        if not _is_priced(settings)
    ]
    if not samples and asked:
        notes.append("tokens and time are unknown until the first cases were run")
    if plan.skipping:
        notes.append("at most: judges are not asked about the cases in which the agents agree")
    notes += [
        f"tokens are unknown: the server of backbone {name} does not count them"
        for name in asked
        if samples and _per_call(name, samples) is None
    ]
    if samples and asked:
        notes.append(f"estimated from {len(samples)} cases of this run")
    return tuple(notes)


def _sum(parts: Iterable[float | None]) -> float | None:
    known = list(parts)
    return None if any(part is None for part in known) else sum(part for part in known if part is not None)
