"""Tables as a process sees them: what it was told it knows, what others were told it finds out, away is no failure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx
import numpy as np
import pytest

from agents.backbone import Backbone
from agents.endpoint import BackboneSettings
from agents.replies import MemoryReplies
from anchor.table import Ratings, unanswered
from app.elicitation.store import Page, TableStore, TableUnavailable, encode
from app.elicitation.tables import AWAY_S, REFRESH_S, FrozenTable, LiveTable, Tables, origin_of
from domains.case import Finding
from tests.anchor.tables import DOMAIN, LABELS, ORIGIN, of_kind, ratings, table_of

EVERY = range(LABELS)
EVIDENCE, CONTEXT = of_kind("evidence"), of_kind("context")
ANSWER = ratings("evidence", [[1, 2, 3], [4, 5, 6], [0, 0, 0]])
WHOLE = [ANSWER, ratings("context", [[1, 1, 1], [2, 2, 2]])]


def backbone(model: str = "m") -> Backbone:
    """One that nobody asks anything here."""
    transport = httpx.MockTransport(lambda request: httpx.Response(500))
    settings = BackboneSettings(base_url="http://model/v1", model=model)
    return Backbone("b", settings, transport, MemoryReplies())


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Memory:
    """A store in memory that counts how often it is read, and can be away."""

    logs: dict[str, list[bytes]] = field(default_factory=dict)
    reads: int = 0
    away: bool = False

    async def read(self, key: str, start: int) -> Page:
        self.reads += 1
        if self.away:
            raise TableUnavailable("away")
        entries = self.logs.get(key, [])
        return Page(len(entries), entries[start:])

    async def append(self, key: str, entry: bytes) -> None:
        if self.away:
            raise TableUnavailable("away")
        self.logs.setdefault(key, []).append(entry)

    async def close(self) -> None:
        """Nothing is held open."""


def opened(store: TableStore, clock: Clock | None = None) -> LiveTable:
    return Tables(store, clock or Clock()).of(backbone(), DOMAIN)


async def kept(table: LiveTable, answers: Sequence[Ratings]) -> None:
    for answer in answers:
        assert await table.keep(answer)


async def test_what_is_kept_is_known(store: TableStore) -> None:
    table = opened(store)
    await kept(table, [ANSWER])

    assert (await table.known(EVIDENCE, EVERY)).rank_SJM.tolist() == [ANSWER.rank_JM.tolist()]


async def test_another_process_knows_it_too(store: TableStore) -> None:
    mine, theirs = opened(store), opened(store)
    assert unanswered((await theirs.known(EVIDENCE, EVERY)).rank_SJM).all()
    await kept(mine, [ANSWER])

    assert (await theirs.known(EVIDENCE, EVERY)).rank_SJM.tolist() == [ANSWER.rank_JM.tolist()]


async def test_the_first_of_two_who_answer_at_once_stays_for_everybody(store: TableStore) -> None:
    mine, theirs, third = opened(store), opened(store), opened(store)
    other = ratings("evidence", [[6, 6, 6]] * 3)
    await kept(mine, [ANSWER])
    await kept(theirs, [other])

    assert (await third.known(EVIDENCE, EVERY)).rank_SJM.tolist() == [ANSWER.rank_JM.tolist()]


async def test_another_backbone_has_a_table_of_its_own(store: TableStore) -> None:
    tables = Tables(store)
    await kept(tables.of(backbone("one"), DOMAIN), [ANSWER])

    known = await tables.of(backbone("other"), DOMAIN).known(EVIDENCE, EVERY)

    assert unanswered(known.rank_SJM).all()


async def test_a_full_table_is_read_once() -> None:
    memory, clock = Memory(), Clock()
    await kept(opened(memory), WHOLE)
    table = opened(memory, clock)
    await table.known(EVIDENCE, EVERY)
    reads = memory.reads

    for _ in range(3):
        await table.known([*EVIDENCE, *CONTEXT], EVERY)

    assert memory.reads == reads


async def test_a_finding_of_the_case_s_own_is_no_reason_to_read_it_again() -> None:
    memory = Memory()
    await kept(opened(memory), WHOLE)
    table = opened(memory)
    await table.known(EVIDENCE, EVERY)
    reads = memory.reads

    await table.known([*EVIDENCE, Finding("mine", "Mine", "evidence")], EVERY)

    assert memory.reads == reads


async def test_answers_that_others_add_to_a_full_table_are_found_out_after_a_while() -> None:
    memory, clock = Memory(), Clock()
    await kept(opened(memory), WHOLE)
    table = opened(memory, clock)
    await table.known(EVIDENCE, EVERY)
    await kept(opened(memory), [ratings("evidence", [[6, 6, 6]] * 3, sample=1)])

    assert len((await table.known(EVIDENCE, EVERY)).rank_SJM) == 1
    clock.now += REFRESH_S + 1
    assert len((await table.known(EVIDENCE, EVERY)).rank_SJM) == 2


async def test_a_store_that_was_emptied_is_read_from_its_beginning() -> None:
    memory = Memory()
    table = opened(memory)
    await kept(table, [ANSWER, ratings("evidence", [[6, 6, 6]] * 3, sample=1)])
    await table.refresh()
    memory.logs.clear()
    await kept(opened(memory), [ratings("evidence", [[5, 5, 5]] * 3, sample=2)])

    await table.refresh()

    assert table.table.ranks(EVIDENCE, EVERY)[2].tolist() == [[5, 5, 5]] * 3


async def test_an_entry_that_cannot_be_read_hides_no_other() -> None:
    memory = Memory()
    key = origin_of(backbone(), DOMAIN).key("evidence")
    memory.logs[key] = [b"spoilt", encode(ANSWER, key)]

    assert (await opened(memory).known(EVIDENCE, EVERY)).rank_SJM.tolist() == [ANSWER.rank_JM.tolist()]


async def test_a_store_that_is_away_is_an_empty_table_and_said_to_be() -> None:
    known = await opened(Memory(away=True)).known(EVIDENCE, EVERY)

    assert unanswered(known.rank_SJM).all()
    assert known.unavailable


async def test_what_is_in_memory_does_without_the_store() -> None:
    memory, clock = Memory(), Clock()
    table = opened(memory, clock)
    await kept(table, WHOLE)
    memory.away = True
    clock.now += REFRESH_S + 1

    known = await table.known(EVIDENCE, EVERY)

    assert known.rank_SJM.tolist() == [ANSWER.rank_JM.tolist()]
    assert not known.unavailable


async def test_what_could_not_be_kept_is_known_here_at_least() -> None:
    table = opened(Memory(away=True))

    assert not await table.keep(ANSWER)
    assert (await table.known(EVIDENCE, EVERY)).rank_SJM.tolist() == [ANSWER.rank_JM.tolist()]


async def test_a_store_that_is_away_is_left_alone_for_a_moment() -> None:
    memory, clock = Memory(away=True), Clock()
    table = opened(memory, clock)
    for _ in range(5):
        await table.known(EVIDENCE, EVERY)
    assert memory.reads == 1

    memory.away = False
    clock.now += AWAY_S
    assert not (await table.known(EVIDENCE, EVERY)).unavailable


async def test_who_answered_is_known_with_the_answers(store: TableStore) -> None:
    answer = Ratings("evidence", 0, ANSWER.labels, ANSWER.findings, ANSWER.rank_JM, True, ("temperature",))
    await kept(opened(store), [answer])

    known = await opened(store).known(EVIDENCE, EVERY)

    assert (known.stand_in, known.deviations) == (True, frozenset({"temperature"}))


async def test_a_frozen_table_never_changes() -> None:
    ranks = np.zeros((1, len(DOMAIN.findings), LABELS), dtype=np.int8)
    frozen = FrozenTable(table_of(ranks), ORIGIN)

    assert await frozen.keep(ANSWER)

    assert (await frozen.known(EVIDENCE, EVERY)).rank_SJM.tolist() == [[[0, 0, 0]] * 3]


@pytest.mark.parametrize("sample", [0, 1])
async def test_one_answer_of_any_sample_is_enough_for_a_case(sample: int) -> None:
    table = opened(Memory())
    await kept(table, [Ratings("evidence", sample, ANSWER.labels, ANSWER.findings, ANSWER.rank_JM)])

    assert not unanswered((await table.known(EVIDENCE, EVERY)).rank_SJM).any()
