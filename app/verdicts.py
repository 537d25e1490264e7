"""Writes what the judges said as members of an answer."""

from aggregators.verdict import Matrix, Verdict
from app.asking import Outcome
from app.hearing import Hearing
from app.schemas.common import Members
from app.statements import stated, unstated

_NO_MATRIX: Members = {"matrix": None, "inconsistency": None, "sensitivity": None, "flaw": None}


def judge_states(hearing: Hearing) -> list[Members]:
    """One `JudgeAnswer` for each judge that was asked for, or was to be skipped."""
    names = hearing.inquiry.domain.label_names
    skipped = [{"judge": judge, **unstated("skipped"), **_NO_MATRIX} for judge in skipped_judges(hearing)]
    return [_judge_state(judge, outcome, names) for judge, outcome in hearing.verdicts.items()] + skipped


def skipped_judges(hearing: Hearing) -> list[str]:
    """The judges that were not asked, as they were told, since the agents agree."""
    return [judge for judge in hearing.inquiry.judges if judge not in hearing.verdicts]


def judge_deviations(hearing: Hearing) -> list[str]:
    """What judges did not do as asked, for `degraded`."""
    failed = [f"judge_failed:{judge}" for judge, outcome in hearing.verdicts.items() if outcome.value is None]
    flawed = [f"matrix_missing:{judge}" for judge, said in hearing.verdicts.items() if said.value and said.value.flaw]
    return failed + flawed


def _judge_state(judge: str, outcome: Outcome[Verdict], names: tuple[str, ...]) -> Members:
    verdict = outcome.value
    if verdict is None:
        return {"judge": judge, **stated(outcome, None, names), **_NO_MATRIX}
    matrix = verdict.matrix
    return {
        "judge": judge,
        **stated(outcome, verdict.posterior, names),
        "matrix": _matrix(matrix, names) if matrix else None,
        "inconsistency": _inconsistency(matrix, names) if matrix else None,
        "sensitivity": verdict.sensitivity or None,
        "flaw": verdict.flaw or None,
    }


def _matrix(matrix: Matrix, names: tuple[str, ...]) -> Members:
    return {
        "hypotheses": [names[label] for label in matrix.label_H],
        "evidence": matrix.evidence_E,
        "marks": matrix.mark_EH,
        "diagnostic": matrix.diagnostic_E,
    }


def _inconsistency(matrix: Matrix, names: tuple[str, ...]) -> dict[str, int]:
    return {names[label]: score for label, score in zip(matrix.label_H, matrix.inconsistency_H, strict=True)}
