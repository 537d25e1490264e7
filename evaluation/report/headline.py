"""The first screen's sentence: did it help, by how much, how sure."""

from dataclasses import dataclass
from typing import Literal

from evaluation.comparisons import Comparison
from evaluation.report.formats import count_text, interval_text, p_text, percent_text, points_text
from evaluation.report.study import Report, ScoredRun
from evaluation.report.summaries import method_title

Answer = Literal["helped", "hurt", "mixed", "open", "untold"]
LEVEL = 0.05
HEAD = "loglin"
"""The paper's best head; the one the answer is about."""

_OPENING: dict[Answer, str] = {
    "helped": "It helped.",
    "hurt": "It hurt.",
    "mixed": "It helped on some backbones.",
    "open": "Not settled.",
    "untold": "Cannot be told.",
}


@dataclass(frozen=True, slots=True)
class Headline:
    """`opening` is the answer in a word or two, `sentence` says by how much and how sure, and `rule` what counts."""

    answer: Answer
    opening: str
    sentence: str
    rule: str


def headline(report: Report) -> Headline:
    """LogLin against the best forward-only rule where the agents disagree; settled where Holm's p is below 5 %."""
    told = [(run, found) for run in report.runs if (found := _gain(run)) is not None]
    answer = _answer([found for _, found in told], len(report.runs))
    if not told:
        sentence = "No run has both an anchor and cases in which the agents disagree."
    elif len(report.runs) == 1:
        sentence = _one(*told[0])
    else:
        sentence = _several(told, len(report.runs))
    if report.stand_ins:
        sentence += " Stand-in: no language model answered, and nothing is proven about any."
    opening = _OPENING[answer]
    if answer == "mixed":
        signs = [_sign(found) for _, found in told]
        opening = f"It helped on {signs.count(1)} of {len(report.runs)} backbones."
    rule = f"Settled: Holm's p below {LEVEL:g}. The agents disagree where their first labels are not all the same."
    return Headline(answer, opening, sentence, rule)


def _gain(run: ScoredRun) -> Comparison | None:
    found = run.numbers.comparisons["disagree"].methods.get(HEAD)
    return None if found is None or found.gain is None or found.p_holm is None else found


def _sign(found: Comparison) -> int:
    """1 or −1 where the gain is settled, 0 where not."""
    gain, p = found.gain, found.p_holm
    if gain is None or p is None or p >= LEVEL:
        return 0
    return 1 if gain > 0 else -1


def _answer(found: list[Comparison], runs: int) -> Answer:
    if not found:
        return "untold"
    signs = [_sign(each) for each in found]
    if all(sign > 0 for sign in signs) and len(signs) == runs:
        return "helped"
    if all(sign < 0 for sign in signs):
        return "hurt"
    return "mixed" if 1 in signs else "open"


def _one(run: ScoredRun, found: Comparison) -> str:
    rule = method_title(run.numbers.comparisons["disagree"].reference or "")
    gain = found.gain or 0.0
    share = percent_text(run.numbers.rate(HEAD, "disagree"))
    return (
        f"Where the agents disagree, LogLin is right in {share} of the cases:"
        f" {points_text(gain)} percentage points against {rule}, the best forward-only rule (95 % interval"
        f" {interval_text(found.gain_interval, signed=True)}, mid-p McNemar with Holm's correction"
        f" p {_p(found.p_holm)}, n = {count_text(run.numbers.cases['disagree'])})."
    )


def _several(told: list[tuple[ScoredRun, Comparison]], runs: int) -> str:
    gains = [found.gain or 0.0 for _, found in told]
    signs = [_sign(found) for _, found in told]
    above = sum(gain > 0 for gain in gains)
    cases = [run.numbers.cases["disagree"] for run, _ in told]
    spread = f"{points_text(min(gains))} to {points_text(max(gains))}"
    losses = signs.count(-1)
    hurt = f", beside {losses} settled loss{'' if losses == 1 else 'es'}" if losses else ""
    return (
        f"Where the agents disagree, LogLin is above the best forward-only rule on {above} of {runs} backbones, by"
        f" {spread} percentage points (mean {points_text(sum(gains) / len(gains))}); {signs.count(1)} of these gains"
        f" {'is' if signs.count(1) == 1 else 'are'} settled{hurt} (mid-p McNemar with Holm's correction,"
        f" n = {count_text(min(cases))} to {count_text(max(cases))})."
    )


def _p(p: float | None) -> str:
    text = p_text(p)
    return text if text.startswith("<") else f"= {text}"
