"""A small domain, cases and worked examples of it."""

from collections.abc import Mapping

from agents.personas import Persona, forward_question
from domains.case import Case, Domain, Exemplar, Finding, Kind, Label, build_case

FINDINGS = tuple(Finding(f"c{place}", f"Context {place}", "context") for place in range(3)) + tuple(
    Finding(f"e{place}", f"Evidence {place}", "evidence") for place in range(6)
)
INCIDENTS = Domain(
    name="incidents",
    title="Root causes of incidents",
    case_noun="incident",
    label_noun="root cause",
    labels=(Label("Bad deploy", ("release",), "the change itself"), Label("Disk full"), Label("DNS failure")),
    findings=FINDINGS,
    description="Incidents of a web service.",
)


def case(*stated: str, gold: str | None = None, case_id: str = "") -> Case:
    """A case from finding ids; `-e1` is e1 stated absent."""
    halves: Mapping[Kind, list[Mapping[str, object]]] = {"context": [], "evidence": []}
    for item in stated:
        finding = item.removeprefix("-")
        halves["context" if finding.startswith("c") else "evidence"].append(
            {"id": finding, "present": not item.startswith("-")}
        )
    return build_case(INCIDENTS, halves, case_id, gold)


def solved(*stated: str) -> Exemplar:
    return Exemplar(case(*stated, gold="Disk full"), f"Because of {stated[0]}.")


def user_text(persona: Persona, domain: Domain = INCIDENTS, of: Case | None = None) -> str:
    return forward_question(domain, of or case("c0", "e0", "-e1"), persona).messages[1].content
