"""Fills a table ahead of time: what `crosspath elicit` does. May be stopped anywhere; what was answered is not asked
again."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.backbone import Backbone
from agents.deadline import Deadline
from agents.metering import Terms
from agents.purse import Purse, worst_cost
from agents.replies import Usage
from agents.replies.reply import NO_USAGE
from agents.wire import first_dialect, request_body
from anchor.elicitor import rank_question
from anchor.ranks import Ranks
from anchor.table import Block, Ratings, blocks, finding_key, most_pairs
from app.asking import Outcome, ask_ranks
from app.elicitation.store import TableUnavailable
from app.elicitation.tables import TableView
from app.runs.run import STOPPING, Halt, first_of
from domains.case import Domain, digest
from domains.question import Question
from domains.simplex import Mask

DEADLINE_S = 3600.0
"""By when one question must be answered: late, since waiting for a turn counts. Each request has a limit of its own."""
BYTES_A_TOKEN, TOKENS_A_RANK = 4.0, 7.0
"""What English text and the ratings asked for come to, roughly; only for what is said before the first call."""


@dataclass(frozen=True)
class Need:
    """What a table lacks: its questions, and how many pairs there are and are full."""

    blocks: Sequence[Block]
    pairs: int
    full: int

    @property
    def ranks(self) -> int:
        """Ranks to be asked for; a pair that lacks several answers counts as often."""
        return sum(block.pairs for block in self.blocks)


@dataclass(frozen=True)
class Forecast:
    """What filling a table will take, roughly; `most_usd` is what it can cost at most. None is unknown."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    most_usd: float | None


@dataclass(frozen=True)
class Answered:
    """One question of the fill: what became of it, and how many pairs it asked for."""

    block: Block
    outcome: Outcome[Ranks]

    @property
    def rated(self) -> int:
        """How many of the pairs it asked for it brought."""
        value = self.outcome.value
        return 0 if value is None else self.block.pairs - int((value.missing_JM & self.block.wanted_JM).sum())

    @property
    def usage(self) -> Usage:
        """What it took now."""
        return sum((cost.usage for cost in self.outcome.costs), NO_USAGE)


@dataclass
class Filled:
    """What a fill did: questions, requests and tokens, and why questions got no answer."""

    asked: int = 0
    requests: int = 0
    usage: Usage = NO_USAGE
    causes: Counter[str] = field(default_factory=Counter)


class Filler:
    """Fills the table of one backbone and one domain up to so many answers a pair."""

    def __init__(self, live: TableView, backbone: Backbone, domain: Domain, answers: int) -> None:
        self._live = live
        self._backbone = backbone
        self._domain = domain
        self._answers = answers

    async def need(self) -> Need:
        """What the table lacks now.

        Raises:
            TableUnavailable: its store cannot be reached.
        """
        table = await self._live.refresh()
        lacking = tuple(blocks(table, self._answers, most_pairs(self._backbone.settings.max_output_tokens)))
        return Need(lacking, table.answers_JL.size, int((table.answers_JL >= max(self._answers, 1)).sum()))

    def forecast(self, need: Need) -> Forecast:
        """What that will take."""
        settings = self._backbone.settings
        dialect = first_dialect(settings)
        bodies = [len(request_body(self._question(block, block.wanted_JM), settings, dialect)) for block in need.blocks]
        prompt, completion = round(sum(bodies) / BYTES_A_TOKEN), round(need.ranks * TOKENS_A_RANK)
        most = [worst_cost(settings.prices, body, settings.max_output_tokens) for body in bodies]
        return Forecast(
            calls=len(bodies),
            prompt_tokens=prompt,
            completion_tokens=completion,
            usd=settings.prices.cost(Usage(prompt, completion, 0)) if settings.prices else None,
            most_usd=None if None in most else sum(cost for cost in most if cost is not None),
        )

    async def fill(self, need: Need, purse: Purse, halt: Halt, watch: Callable[[Answered], None]) -> Filled:
        """Ask what is needed, as many at a time as the backbone takes; each answer is kept as it comes.

        Raises:
            TableUnavailable: its store cannot be reached any more.
        """
        filled = Filled()
        free = asyncio.Semaphore(self._backbone.settings.concurrency)

        async def one(block: Block) -> None:
            answered = await self._ask(block, purse)
            _add(filled, answered)
            watch(answered)
            failure = answered.outcome.failure
            if failure is not None and failure.cause in STOPPING:
                halt.call(f"{failure.cause}: {failure.detail}")

        try:
            async with asyncio.TaskGroup() as group:
                for block in need.blocks:
                    await free.acquire()
                    if halt.reason:
                        break
                    group.create_task(one(block)).add_done_callback(lambda _: free.release())
        except BaseExceptionGroup as failures:
            raise first_of(failures) from failures
        return filled

    async def _ask(self, block: Block, purse: Purse) -> Answered:
        terms = Terms(Deadline.after(DEADLINE_S), "batch", purse)
        outcome = await ask_ranks(
            self._backbone, lambda wanted_JM: self._question(block, wanted_JM), block.wanted_JM, terms
        )
        if outcome.value is not None and not await self._live.keep(self._ratings(block, outcome, outcome.value)):
            raise TableUnavailable("the store of the tables cannot be written; what was answered before is in it")
        return Answered(block, outcome)

    def _question(self, block: Block, wanted_JM: Mask) -> Question[Ranks]:
        findings = [self._domain.findings[place] for place in block.finding_J]
        seed = digest([self._live.origin.key(block.kind), [finding.id for finding in findings]])
        return rank_question(block.kind, self._domain, block.label_M, findings, seed, wanted_JM, block.sample)

    def _ratings(self, block: Block, outcome: Outcome[Ranks], ranks: Ranks) -> Ratings:
        return Ratings(
            kind=block.kind,
            sample=block.sample,
            labels=tuple(self._domain.label_names[label] for label in block.label_M),
            findings=tuple(finding_key(self._domain.findings[place]) for place in block.finding_J),
            rank_JM=ranks.rank_JM,
            stand_in=any(answer.stand_in for answer in outcome.answers),
            deviations=tuple(sorted({name for answer in outcome.answers for name in answer.deviations})),
        )


def _add(filled: Filled, answered: Answered) -> None:
    filled.asked += 1
    filled.requests += sum(cost.requests for cost in answered.outcome.costs)
    filled.usage += answered.usage
    if answered.outcome.failure is not None:
        filled.causes[answered.outcome.failure.cause] += 1
