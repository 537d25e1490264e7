"""Writes what the judges said as members of an answer."""

from agents.answer import Answer
from aggregators.verdict import Matrix, Verdict
from app.hearing import Hearing, Outcome
from app.schemas.decide import JudgeAnswer, MatrixAnswer, Tokens


def judge_states(hearing: Hearing) -> list[JudgeAnswer]:
    """One entry for each judge that was asked."""
    names = hearing.inquiry.domain.label_names
    return [_judge_state(judge, outcome, names) for judge, outcome in hearing.verdicts.items()]


def judge_deviations(hearing: Hearing) -> list[str]:
    """What judges did not do as asked, for `degraded`."""
    failed = [f"judge_failed:{judge}" for judge, outcome in hearing.verdicts.items() if outcome.value is None]
    flawed = [f"matrix_missing:{judge}" for judge, said in hearing.verdicts.items() if said.value and said.value.flaw]
    return failed + flawed


def _judge_state(judge: str, outcome: Outcome[Verdict], names: tuple[str, ...]) -> JudgeAnswer:
    if outcome.value is None:
        failure = outcome.failure
        return JudgeAnswer(
            judge=judge,
            status="failed",
            cause=failure.cause if failure else None,
            detail=failure.detail if failure else None,
        )
    return _written(judge, outcome.value, outcome.answers[-1], names)


def _written(judge: str, verdict: Verdict, answer: Answer[Verdict], names: tuple[str, ...]) -> JudgeAnswer:
    posterior, matrix = verdict.posterior, verdict.matrix
    return JudgeAnswer(
        judge=judge,
        status="ok",
        top=names[posterior.label_M[0]],
        posterior={names[label]: mass for label, mass in zip(posterior.label_M, posterior.mass_M, strict=True)},
        reasoning=posterior.reasoning,
        matrix=_matrix(matrix, names) if matrix else None,
        inconsistency=_inconsistency(matrix, names) if matrix else None,
        sensitivity=verdict.sensitivity or None,
        flaw=verdict.flaw or None,
        stated_sum=posterior.stated_sum,
        unresolved_mass=posterior.unresolved,
        invalid_entries=posterior.invalid,
        model=answer.model,
        latency_ms=answer.latency_ms,
        tokens=Tokens(prompt=answer.usage.prompt, completion=answer.usage.completion, cached=answer.usage.cached),
        cached=answer.cached,
    )


def _matrix(matrix: Matrix, names: tuple[str, ...]) -> MatrixAnswer:
    return MatrixAnswer(
        hypotheses=[names[label] for label in matrix.label_H],
        evidence=list(matrix.evidence_E),
        marks=[list(row) for row in matrix.mark_EH],
        diagnostic=list(matrix.diagnostic_E),
    )


def _inconsistency(matrix: Matrix, names: tuple[str, ...]) -> dict[str, int]:
    return {names[label]: score for label, score in zip(matrix.label_H, matrix.inconsistency_H, strict=True)}
