"""The elicitation table: several answers average, the first of a sample stays, and a full one is the network."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchor.network import MISSING, RankArray, count_ranks, replay, reverse
from anchor.ordinal import DEFAULT_MAPS
from anchor.table import (
    blocks,
    domain_digest,
    empty_table,
    evenly_left_out,
    finding_key,
    most_pairs,
    read_written,
    table_origin,
    unanswered,
    written,
)
from domains.case import KINDS, Domain, Finding, Label
from tests.anchor.tables import (
    DOMAIN,
    LABELS,
    ORIGIN,
    answers,
    asked_of_case,
    looked_up,
    of_kind,
    ratings,
    stated,
    table_of,
)

EVERYTHING = np.ones((1, LABELS), dtype=np.bool_)
DRAWN = np.random.default_rng(7).integers(0, 7, (3, len(DOMAIN.findings), LABELS)).astype(np.int8)


@given(answers(samples=1), stated())
def test_a_full_table_of_per_case_answers_gives_the_same_reverse_posterior(rank_SJL: RankArray, case) -> None:  # type: ignore[no-untyped-def]
    own, kept = (
        reverse(replay(count_ranks([ranks], LABELS), DEFAULT_MAPS), EVERYTHING)
        for ranks in (asked_of_case(rank_SJL[0], case), looked_up(table_of(rank_SJL), case))
    )

    assert np.exp(kept.log_reverse_NL) == pytest.approx(np.exp(own.log_reverse_NL), abs=1e-12)
    assert np.exp(kept.log_likelihood_NL) == pytest.approx(np.exp(own.log_likelihood_NL), abs=1e-12)
    assert np.exp(kept.log_prior_NL) == pytest.approx(np.exp(own.log_prior_NL), abs=1e-12)


@given(answers(samples=3), stated())
def test_several_samples_are_the_mean_of_their_histograms(rank_SJL: RankArray, case) -> None:  # type: ignore[no-untyped-def]
    averaged = count_ranks([looked_up(table_of(rank_SJL), case)], LABELS)
    alone = [count_ranks([asked_of_case(rank_JL, case)], LABELS) for rank_JL in rank_SJL]

    for name in ("present_NL7", "absent_NL7", "context_NL7"):
        mean = np.mean([getattr(one, name) for one in alone], axis=0)
        assert getattr(averaged, name) == pytest.approx(mean, abs=1e-12)


@given(answers(samples=3, least=MISSING), stated())
def test_every_pair_with_an_answer_counts_once_however_many_it_has(rank_SJL: RankArray, case) -> None:  # type: ignore[no-untyped-def]
    ranks = looked_up(table_of(rank_SJL), case)
    counted = count_ranks([ranks], LABELS)

    answered = [~unanswered(table) for table in (ranks.evidence_JM, ranks.context_JM) if table is not None]
    total = counted.present_NL7 + counted.absent_NL7 + counted.context_NL7
    assert total.sum(axis=-1)[0] == pytest.approx(sum(each.sum(axis=0) for each in answered), abs=1e-12)


@given(st.permutations(range(3)))
def test_the_order_in_which_samples_come_changes_nothing(order: list[int]) -> None:
    by_sample = [ratings("evidence", DRAWN[sample, 2:], sample) for sample in range(3)]

    grown = empty_table(DOMAIN).grown([by_sample[sample] for sample in order])

    assert np.array_equal(grown.rank_SJL, empty_table(DOMAIN).grown(by_sample).rank_SJL)


def test_the_first_answer_of_a_sample_stays() -> None:
    first, second = ratings("context", [[1, MISSING, 3], [4, 5, 6]]), ratings("context", [[0, 2, 0], [0, 0, 0]])

    table = empty_table(DOMAIN).grown([first]).grown([second])

    assert table.ranks(of_kind("context"), range(LABELS))[0].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_answers_about_some_labels_leave_the_others_open() -> None:
    table = empty_table(DOMAIN).grown([ratings("context", [[6], [2]], labels=["Dead yeast"])])

    assert table.ranks(of_kind("context"), (0, 2)).tolist() == [[[MISSING, 6], [MISSING, 2]]]


def test_a_finding_of_the_case_s_own_has_no_answer_in_any_table() -> None:
    own = Finding("mine", "Fell off the table", "evidence")

    ranks = table_of(DRAWN).ranks([of_kind("evidence")[0], own], range(LABELS))

    assert unanswered(ranks).tolist() == [[False] * LABELS, [True] * LABELS]


def test_a_finding_whose_text_was_changed_has_no_answer_and_the_others_keep_theirs() -> None:
    findings = (Finding("old_yeast", "Yeast was older than a year", "context"), *DOMAIN.findings[1:])
    changed = Domain(DOMAIN.name, DOMAIN.title, DOMAIN.case_noun, DOMAIN.label_noun, DOMAIN.labels, findings)

    table = empty_table(changed).grown([ratings("context", DRAWN[0, :2])])

    assert unanswered(table.rank_SJL[:, :2]).tolist() == [[True] * LABELS, [False] * LABELS]


def test_labels_and_findings_that_the_domain_has_no_more_are_passed_over() -> None:
    gone = ratings("evidence", [[1, 2]], labels=["Burnt", "Dead yeast"], findings=[of_kind("evidence")[1]])
    lost = ratings("evidence", [[1, 2, 3]], findings=[Finding("soggy", "Soggy", "evidence")])

    table = empty_table(DOMAIN).grown([gone, lost])

    assert table.written() == {"dense": {"Dead yeast": "2"}}


def test_counts_are_the_answers_by_rank() -> None:
    assert np.array_equal(
        table_of(DRAWN).counts_JL7.argmax(axis=-1)[DRAWN.std(axis=0) == 0], DRAWN[0][DRAWN.std(axis=0) == 0]
    )
    assert (table_of(DRAWN).counts_JL7.sum(axis=-1) == 3).all()


def test_a_table_without_findings_can_be_asked() -> None:
    bare = Domain("bare", "Bare", "case", "label", (Label("a"), Label("b")))

    assert empty_table(bare).ranks([Finding("x", "X", "evidence")], (0, 1)).shape == (0, 1, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://elsewhere/v1"},
        {"model": "other"},
        {"extra_body": {"reasoning_effort": "low"}},
    ],
)
def test_another_backbone_is_another_table(change: dict[str, object]) -> None:
    usual: dict[str, object] = {"endpoint": "http://model/v1", "model": "model", "extra_body": {}}
    other = table_origin(DOMAIN, **(usual | change))  # type: ignore[arg-type]

    assert all(other.key(kind) != ORIGIN.key(kind) for kind in KINDS)
    assert table_of(DRAWN).digest(other) != table_of(DRAWN).digest(ORIGIN)


def test_the_two_kinds_have_logs_of_their_own() -> None:
    assert ORIGIN.key("context") != ORIGIN.key("evidence")


def test_the_digest_follows_from_the_content() -> None:
    changed = DRAWN.copy()
    changed[2, 4, 1] = (changed[2, 4, 1] + 1) % 7

    assert table_of(DRAWN).digest(ORIGIN) == table_of(DRAWN).digest(ORIGIN)
    assert table_of(DRAWN).digest(ORIGIN) != table_of(changed).digest(ORIGIN)


def test_a_domain_s_digest_follows_from_labels_and_findings() -> None:
    fewer = Domain("bread", "", "loaf", "mistake", DOMAIN.labels, DOMAIN.findings[:-1])

    assert domain_digest(fewer) != domain_digest(DOMAIN)


@given(answers(samples=2, least=MISSING), st.integers(1, 4), st.integers(1, 20))
def test_the_questions_of_a_fill_ask_for_exactly_what_lacks(rank_SJL: RankArray, wanted: int, most: int) -> None:
    table = table_of(rank_SJL)
    asked = np.zeros((max(wanted, 2), len(DOMAIN.findings), LABELS), dtype=np.int64)
    for block in blocks(table, wanted, most):
        assert {DOMAIN.findings[place].kind for place in block.finding_J} == {block.kind}
        asked[block.sample][np.ix_(block.finding_J, block.label_M)] += block.wanted_JM

    lacking = np.ones_like(asked)
    lacking[:2] = rank_SJL == MISSING
    lacking[wanted:] = 0
    assert np.array_equal(asked, lacking)


@given(st.integers(1, 60), st.integers(2, 150), st.integers(1, 400))
def test_no_question_is_larger_than_a_reply_may_be(findings: int, labels: int, most: int) -> None:
    domain = Domain(
        "wide", "", "case", "label",
        tuple(Label(f"l{n}") for n in range(labels)),
        tuple(Finding(f"f{n}", f"F {n}", "evidence") for n in range(findings)),
    )  # fmt: skip

    for block in blocks(empty_table(domain), 1, most):
        assert block.pairs <= max(most, len(block.label_M))
        assert len(block.label_M) <= 64


def test_a_small_reply_limit_makes_small_questions() -> None:
    assert most_pairs(200) == 20
    assert most_pairs(1_000_000) == most_pairs(8_000)


def test_what_could_not_be_asked_is_left_out_for_all_labels_alike() -> None:
    rank_SJM = np.array([[[1, 2], [3, MISSING], [MISSING, MISSING]]], dtype=np.int8)

    left = evenly_left_out(rank_SJM)

    assert left is not None
    assert left.tolist() == [[[1, 2], [MISSING, MISSING], [MISSING, MISSING]]]


def test_nothing_is_left_where_no_finding_is_rated_for_every_label() -> None:
    assert evenly_left_out(np.array([[[1, MISSING], [MISSING, 2]]], dtype=np.int8)) is None
    assert evenly_left_out(np.zeros((0, 2, 2), dtype=np.int8)) is None


@given(st.lists(st.integers(MISSING, 6), max_size=8))
def test_ranks_are_read_as_they_were_written(ranks: list[int]) -> None:
    while ranks and ranks[-1] == MISSING:
        ranks.pop()

    assert read_written(written(ranks)) == ranks


@pytest.mark.parametrize("text", ["7", "1 2", "٣", "x"])
def test_other_signs_are_no_ranks(text: str) -> None:
    with pytest.raises(ValueError, match="digits 0 to 6"):
        read_written(text)


def test_two_findings_of_one_text_are_two() -> None:
    assert finding_key(Finding("a", "Pale", "evidence")) != finding_key(Finding("b", "Pale", "evidence"))
