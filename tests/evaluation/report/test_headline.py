"""The first sentence: what it answers, given what the tests against the best rule found."""

from dataclasses import replace

import pytest

from evaluation.comparisons import Comparison, Comparisons
from evaluation.intervals import Interval
from evaluation.report.headline import Answer, headline
from evaluation.report.study import Report


def found(report: Report, *outcomes: tuple[float, float]) -> Report:
    """The report, had LogLin's gains and Holm's p on Disagree been these, one pair a run."""
    runs = []
    for run, (gain, p_holm) in zip(report.runs, outcomes, strict=False):
        comparison = Comparison(Interval(0.4, 0.6), gain, Interval(gain - 0.05, gain + 0.05), 9, 3, p_holm / 2, p_holm)
        comparisons = {**run.numbers.comparisons, "disagree": Comparisons("range", {"loglin": comparison})}
        runs.append(replace(run, numbers=replace(run.numbers, comparisons=comparisons)))
    return replace(report, runs=tuple(runs))


@pytest.mark.parametrize(
    ("outcomes", "answer", "opening"),
    [
        ([(0.04, 0.01)], "helped", "It helped."),
        ([(-0.04, 0.01)], "hurt", "It hurt."),
        ([(0.04, 0.05)], "open", "Not settled."),
        ([(0.04, 0.01), (0.02, 0.04)], "helped", "It helped."),
        ([(0.04, 0.01), (-0.02, 0.9)], "mixed", "It helped on 1 of 2 backbones."),
        ([(0.04, 0.2), (0.02, 0.9)], "open", "Not settled."),
        ([(-0.04, 0.01), (0.02, 0.9)], "open", "Not settled."),
    ],
)
def test_the_answer(report: Report, outcomes: list[tuple[float, float]], answer: Answer, opening: str) -> None:
    said = headline(found(report, *outcomes))
    assert (said.answer, said.opening) == (answer, opening)


def test_one_run_says_by_how_much_and_how_sure(report: Report) -> None:
    sentence = headline(found(report, (0.04, 0.0123))).sentence
    assert "+4.0 percentage points against Range" in sentence
    assert "95 % interval −1.0 to +9.0" in sentence
    assert "p = 0.012" in sentence


def test_several_runs_say_on_how_many_and_name_settled_losses(report: Report) -> None:
    sentence = headline(found(report, (0.04, 0.01), (-0.02, 0.01))).sentence
    assert "on 1 of 2 backbones, by −2.0 to +4.0 percentage points (mean +1.0); 1 of these gains is settled" in sentence
    assert "1 settled loss" in sentence


def test_a_stand_in_never_stands_without_its_name(report: Report) -> None:
    assert "Stand-in: no language model" in headline(report).sentence
    alone = replace(report, runs=report.runs[:1])
    assert "Stand-in" not in headline(alone).sentence
