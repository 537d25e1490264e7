"""What can be asked for: domains, aggregators, anchors, backbones."""

from collections.abc import Iterable

from fastapi import APIRouter, Request, Response

from aggregators import AGGREGATORS, ANCHORED, JUDGES
from anchor.anchors import ANCHORS, Anchor
from anchor.artefact import Calibration
from app.inquiry import Council, is_stand_in
from app.problems import problem
from app.schemas.catalogue import (
    AggregatorEntry,
    AnchorEntry,
    BackboneEntry,
    DomainAnswer,
    DomainSummary,
    FindingEntry,
    LabelEntry,
)
from domains.case import KINDS, Case, Domain
from domains.errors import NotFound

router = APIRouter(tags=["catalogue"])


@router.get("/domains", response_model=list[DomainSummary])
async def list_domains(request: Request) -> list[DomainSummary]:
    """The domains this service knows; the one that is meant where none is named stands first."""
    council: Council = request.app.state.council
    domains = sorted(council.catalogue.sound(), key=lambda domain: domain.name != council.default_domain)
    return [DomainSummary(name=d.name, title=d.title, labels=len(d.labels), findings=len(d.findings)) for d in domains]


@router.get("/domains/{name}", response_model=DomainAnswer)
async def show_domain(name: str, request: Request) -> DomainAnswer | Response:
    """One domain: its labels, its findings, and example bodies for `POST /decide`."""
    council: Council = request.app.state.council
    try:
        domain = council.catalogue.get(name)
    except NotFound:
        return problem(404, "no such domain")
    return DomainAnswer(
        name=domain.name,
        title=domain.title,
        case_noun=domain.case_noun,
        label_noun=domain.label_noun,
        licence=domain.licence,
        labels=[LabelEntry(label=x.name, aliases=list(x.aliases), description=x.description) for x in domain.labels],
        findings=[FindingEntry(id=f.id, text=f.text, kind=f.kind) for f in domain.findings],
        examples=examples(domain, [exemplar.case for exemplar in domain.exemplars]),
    )


def examples(domain: Domain, cases: Iterable[Case]) -> list[dict[str, object]]:
    """Cases as bodies for `POST /decide`."""
    return [
        {
            "domain": domain.name,
            "case": {"id": case.id}
            | {
                kind: [
                    {"id": o.finding.id} | ({} if o.present else {"present": False}) for o in case.observations(kind)
                ]
                for kind in KINDS
            },
        }
        for case in cases
    ]


@router.get("/aggregators", response_model=list[AggregatorEntry])
async def list_aggregators() -> list[AggregatorEntry]:
    """The aggregators by name."""
    return [
        AggregatorEntry(
            name=name, needs_anchor=name in ANCHORED, needs_model=name in JUDGES, description=_first_paragraph(rule)
        )
        for name, rule in AGGREGATORS.items()
    ]


@router.get("/anchors", response_model=list[AnchorEntry])
async def list_anchors(request: Request) -> list[AnchorEntry]:
    """The anchors by name, calibrated ones included, and what has to be asked for each."""
    council: Council = request.app.state.council
    return [
        *(AnchorEntry(name=name, asks=_asked(anchor), description=anchor.summary) for name, anchor in ANCHORS.items()),
        *(
            AnchorEntry(name=name, asks=list(KINDS), description=_fitted(calibration))
            for name, calibration in council.calibrations.sound().items()
        ),
    ]


def _fitted(calibration: Calibration) -> str:
    origin, cases = calibration.origin, calibration.record.covered
    return f"the reverse posterior R', calibrated on {cases} labelled cases of {origin.domain} and {origin.backbone}"


@router.get("/backbones", response_model=list[BackboneEntry])
async def list_backbones(request: Request) -> list[BackboneEntry]:
    """The backbones by name; never their addresses or keys."""
    council: Council = request.app.state.council
    return [
        BackboneEntry(name=name, model=backbone.settings.model, stand_in=is_stand_in(backbone))
        for name, backbone in council.backbones.items()
    ]


def _asked(anchor: Anchor) -> list[str]:
    return [*anchor.steps, *(["generic"] if anchor.generic else [])]


def _first_paragraph(described: object) -> str:
    return " ".join((described.__doc__ or "").partition("\n\n")[0].split())
