"""The longest questions that the installed domains lead to."""

from collections.abc import Iterator, Mapping
from typing import Any

from agents.personas import forward_question, personas_for
from anchor.elicitor import rank_question
from domains.case import KINDS, Case, Domain
from domains.catalogue import Catalogue
from domains.question import Question


def own_questions(catalogue: Catalogue, own_personas: Mapping[str, str]) -> list[Question[Any]]:
    """What is asked about the exemplars of every domain: each persona's question, and both elicitation steps over all
    labels."""
    return [question for name in catalogue.names() for question in _of(catalogue.get(name), own_personas)]


def _of(domain: Domain, own_personas: Mapping[str, str]) -> Iterator[Question[Any]]:
    labels = tuple(range(len(domain.labels)))
    personas = personas_for(domain, own_personas).values()
    for case in [exemplar.case for exemplar in domain.exemplars] or [Case("", (), ())]:
        yield from (forward_question(domain, case, persona) for persona in personas)
        for kind in KINDS:
            findings = tuple(observation.finding for observation in case.observations(kind))
            if findings:
                yield rank_question(kind, domain, labels, findings, seed="")
