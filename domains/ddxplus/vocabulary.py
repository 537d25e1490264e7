"""The findings of a release, and which finding each token of a patient's row stands for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from domains.case import Finding, Kind
from domains.ddxplus.release import Evidence, Release
from domains.ddxplus.wording import Wording

SEXES = {"F": Finding("sex_f", "Female sex", "context", "sex"), "M": Finding("sex_m", "Male sex", "context", "sex")}

AGE_BANDS: tuple[tuple[int, Finding], ...] = (
    (0, Finding("age_under_1", "Age under 1 year", "context", "age")),
    (1, Finding("age_1_4", "Age 1 to 4 years", "context", "age")),
    (5, Finding("age_5_14", "Age 5 to 14 years", "context", "age")),
    (15, Finding("age_15_29", "Age 15 to 29 years", "context", "age")),
    (30, Finding("age_30_44", "Age 30 to 44 years", "context", "age")),
    (45, Finding("age_45_59", "Age 45 to 59 years", "context", "age")),
    (60, Finding("age_60_74", "Age 60 to 74 years", "context", "age")),
    (75, Finding("age_75_over", "Age 75 years or over", "context", "age")),
)
"""DDXPlus's eight age bands (arXiv 2205.09148): the first year of each, and its finding."""


@dataclass(frozen=True)
class Vocabulary:
    """All findings in the pack's order, and every token of the release; a token that means "no" stands for None."""

    findings: tuple[Finding, ...]
    by_token: Mapping[str, Finding | None]
    place: Mapping[str, int]


def age_band(years: int) -> Finding:
    """The age band of a patient this many years old (0 or more)."""
    return next(finding for first, finding in reversed(AGE_BANDS) if years >= first)


def root_of(finding: Finding) -> str:
    """The evidence code (or `age`, `sex`) of which a finding is one value."""
    return finding.group or finding.id


def build_vocabulary(release: Release, wording: Wording) -> Vocabulary:
    """Demographics first, then the evidences; values that mean "no" are not findings."""
    by_token: dict[str, Finding | None] = {}
    for evidence in _parents_first(release.evidences):
        by_token.update(_tokens(evidence, wording))
    demographics = [*SEXES.values(), *(finding for _, finding in AGE_BANDS)]
    stated = [finding for finding in by_token.values() if finding is not None]
    findings = sorted((*demographics, *stated), key=lambda finding: finding.kind)  # context before evidence; stable
    return Vocabulary(tuple(findings), by_token, {finding.id: place for place, finding in enumerate(findings)})


def _tokens(evidence: Evidence, wording: Wording) -> Iterator[tuple[str, Finding | None]]:
    kind: Kind = "context" if evidence.antecedent else "evidence"
    if not evidence.values:
        yield evidence.code, Finding(evidence.code, wording.state(evidence), kind)
    for value in evidence.values:
        token = evidence.token(value)
        present = value != evidence.default
        yield token, Finding(token, wording.state(evidence, value), kind, evidence.code) if present else None


def _parents_first(evidences: Mapping[str, Evidence]) -> list[Evidence]:
    """The release's order, but with a group's leading question (E_53, pain) before the questions that follow on it."""
    ordered: dict[str, Evidence] = {}
    for evidence in evidences.values():
        parent = evidences.get(evidence.parent)
        if parent is not None:
            ordered.setdefault(parent.code, parent)
        ordered.setdefault(evidence.code, evidence)
    return list(ordered.values())
