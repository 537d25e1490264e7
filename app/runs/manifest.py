"""Writes down what a run does, as its `run.toml` keeps it."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

import structlog

from agents.backbone import Backbone
from agents.personas import GENERIC, PERSONAS, Persona, forward_question
from aggregators import JUDGES
from aggregators.verdict import PARSER as VERDICT_PARSER
from anchor.elicitor import rank_question
from app import __version__
from app.inquiry import NO_CASE, Inquiry
from app.runs.dataset import Dataset
from domains.case import KINDS, Domain, Finding, Kind, digest
from domains.errors import BadInput
from evaluation.manifest import (
    FORMAT,
    Asked,
    BackboneEntry,
    DatasetEntry,
    DomainEntry,
    Manifest,
    ParameterEntry,
    Rules,
    Versions,
    differences,
)

_log = structlog.get_logger(__name__)

_ANY_FINDING = Finding("f", "f", "evidence")


def describe_run(inquiry: Inquiry, dataset: Dataset) -> Manifest:
    """The manifest of a run that asks this of these cases. It has no id yet."""
    anchors = inquiry.anchors
    generic = [PERSONAS[GENERIC]] if any(anchor.generic for anchor in anchors.values()) else []
    personas = [*(agent.persona for agent in inquiry.agents), *generic]
    backbones = {b.name: b for b in (inquiry.backbone, *(agent.backbone for agent in inquiry.agents))}
    steps = [kind for kind in KINDS if any(kind in anchor.steps for anchor in anchors.values())]
    return Manifest(
        format=FORMAT,
        id="",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(inquiry, personas, steps),
        dataset=DatasetEntry(path=str(dataset.path.resolve()), sha256=dataset.sha256, cases=len(dataset)),
        domain=describe_domain(inquiry.domain),
        asked=Asked(
            agents=[agent.name for agent in inquiry.agents],
            anchors=list(anchors),
            aggregators=[inquiry.aggregator, *inquiry.compare],
        ),
        parameters=ParameterEntry(
            tau=inquiry.parameters.tau,
            w_r=inquiry.parameters.w_r,
            seed=inquiry.parameters.seed,
            elicitation=inquiry.elicitation,
            table="" if inquiry.table is None else inquiry.table.frozen,
            skip_unanimous=inquiry.skip_unanimous,
        ),
        rules=Rules(quorum=inquiry.quorum, deadline_s=inquiry.deadline_s, whole_set=inquiry.whole_set),
        backbones={name: _backbone(backbone) for name, backbone in backbones.items()},
    )


def refuse_differing(kept: Manifest, now: Manifest) -> None:
    """Nothing, if a run that was begun so would go on the same; another version of the service is only told
    (docs/decisions/0012).

    Raises:
        BadInput: it would not; each setting is named.
    """
    differing = differences(kept, now)
    if differing:
        raise BadInput(differing)
    if kept.versions.service != now.versions.service:
        _log.info("run_of_another_version", run=kept.id, begun=kept.versions.service, now=now.versions.service)


def _versions(inquiry: Inquiry, personas: Sequence[Persona], steps: Sequence[Kind]) -> Versions:
    """Hashes of prompts and parsers, as the questions themselves carry them into the reply store's keys."""
    domain = inquiry.domain
    forward = forward_question(domain, NO_CASE, personas[0]).versions
    prompts = {"forward": forward["prompt"], "forward_parser": forward["parser"]}
    for kind in steps:
        backward = rank_question(kind, domain, (0,), (_ANY_FINDING,), seed="").versions
        prompts |= {kind: backward["prompt"], f"{kind}_parser": backward["parser"]}
    for judge in inquiry.judges:
        prompts |= {judge: JUDGES[judge].digest, f"{judge}_parser": VERDICT_PARSER}
    return Versions(
        service=__version__,
        prompts=prompts,
        personas={persona.name: persona.digest for persona in personas},
        calibrations={anchor.name: anchor.digest for anchor in inquiry.anchors.values() if anchor.digest},
    )


def describe_domain(domain: Domain) -> DomainEntry:
    """A domain as a manifest names it."""
    return DomainEntry(name=domain.name, digest=digest(asdict(domain)), labels=list(domain.label_names))


def _backbone(backbone: Backbone) -> BackboneEntry:
    settings = backbone.settings
    return BackboneEntry(
        model=settings.model,
        base_url=settings.base_url,
        structured=settings.structured,
        max_output_tokens=settings.max_output_tokens,
        allow_sampling_deviation=settings.allow_sampling_deviation,
        extra_body=digest(settings.extra_body) if settings.extra_body else "",
        profile="" if backbone.start is None else backbone.start.in_words(),
    )
