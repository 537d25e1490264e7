"""What a caller asks, resolved: names into domains, personas, backbones and aggregators. Pure; asks nobody."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.backbone import Backbone
from agents.personas import POOL, Persona, personas_for
from aggregators import AGGREGATORS, ANCHORED, Parameters
from anchor.anchors import ANCHORS
from app.schemas import MOST_FINDINGS, DecideBody
from domains.case import Case, Domain, Kind, build_case
from domains.catalogue import Catalogue, ad_hoc_domain
from domains.errors import BadInput, Fault, NotFound

STAND_IN = "stand-in"
"""The stand-in's model name; `stand-in-PROFILE` are its others."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A persona on a backbone; `name` is the persona's, with `@backbone` where the caller said so."""

    name: str
    persona: Persona
    backbone: Backbone


@dataclass(frozen=True)
class Council:
    """Who and what there is to ask, and the operator's rules. `simulated`: the domains that the stand-in knows."""

    catalogue: Catalogue
    backbones: Mapping[str, Backbone]
    personas: Mapping[str, str]
    simulated: frozenset[str]
    default_domain: str
    quorum: int
    deadline_s: float
    whole_set: int


@dataclass(frozen=True)
class Inquiry:
    """One case and everything that is asked about it."""

    domain: Domain
    case: Case
    agents: tuple[Agent, ...]
    backbone: Backbone
    aggregator: str
    anchor: str | None
    parameters: Parameters
    compare: tuple[str, ...]
    require_complete: bool
    abstain_below: Mapping[str, float]
    deadline_s: float
    quorum: int
    whole_set: int


def inquire(body: DecideBody, council: Council) -> Inquiry:
    """The inquiry a body asks for.

    Raises:
        BadInput: every name that nothing has, and every fault of the case.
    """
    domain = _domain(body, council)
    backbone = _find(council.backbones, body.backbone, "backbone", "backbone")
    if is_stand_in(backbone) and domain.name not in council.simulated:
        raise BadInput.at(
            "labels" if body.labels is not None else "domain",
            "the stand-in is no language model and knows nothing of these labels; declare a backbone",
        )
    faults = [*_unknown_rules(body), *_unknown_anchor(body), *_too_long(body, council)]
    agents = _agents(body, domain, council, backbone, faults)
    case = _case(body, domain, faults)
    if faults or case is None:
        raise BadInput(faults)
    return Inquiry(
        domain=domain,
        case=case,
        agents=agents,
        backbone=backbone,
        aggregator=body.aggregator,
        anchor=body.anchor,
        parameters=Parameters(tau=body.params.tau, w_r=body.params.w_r),
        compare=tuple(dict.fromkeys(body.compare)),
        require_complete=body.require == "complete",
        abstain_below=body.abstain_below.model_dump(exclude_none=True),
        deadline_s=body.deadline_s or council.deadline_s,
        quorum=min(council.quorum, len(agents)),
        whole_set=council.whole_set,
    )


def _domain(body: DecideBody, council: Council) -> Domain:
    if body.labels is None:
        return council.catalogue.get(body.domain or council.default_domain)
    if body.domain is not None:
        raise BadInput.at("labels", "give either a domain or labels of your own, not both")
    return ad_hoc_domain(body.labels)


def is_stand_in(backbone: Backbone) -> bool:
    """Whether a backbone is the stand-in, here or on a port: it goes by that name."""
    return backbone.settings.model == STAND_IN or backbone.settings.model.startswith(f"{STAND_IN}-")


def _unknown_rules(body: DecideBody) -> list[Fault]:
    asked = [("aggregator", body.aggregator), *((f"compare.{place}", name) for place, name in enumerate(body.compare))]
    faults = [Fault(where, _unknown("aggregator", AGGREGATORS)) for where, name in asked if name not in AGGREGATORS]
    if body.anchor is None:
        faults += [Fault(where, "this aggregator needs an anchor") for where, name in asked if name in ANCHORED]
    if body.params.elicitation == "table":
        faults.append(Fault("params.elicitation", "the elicitation table is not available yet; use per_case"))
    return faults


def _unknown_anchor(body: DecideBody) -> list[Fault]:
    known = body.anchor is None or body.anchor in ANCHORS
    return [] if known else [Fault("anchor", _unknown("anchor", ANCHORS))]


def _too_long(body: DecideBody, council: Council) -> list[Fault]:
    if body.deadline_s is None or body.deadline_s <= council.deadline_s:
        return []
    return [Fault("deadline_s", f"this service waits at most {council.deadline_s:g} s")]


def _agents(
    body: DecideBody, domain: Domain, council: Council, backbone: Backbone, faults: list[Fault]
) -> tuple[Agent, ...]:
    personas = personas_for(domain, council.personas)
    agents: dict[str, Agent] = {}
    for place, name in enumerate(body.agents or POOL):
        where = f"agents.{place}"
        persona_name, at, backbone_name = name.partition("@")
        if persona_name not in personas:
            faults.append(Fault(where, _unknown("persona", personas)))
        elif at and backbone_name not in council.backbones:
            faults.append(Fault(where, _unknown("backbone", council.backbones)))
        elif name in agents:
            faults.append(Fault(where, "named twice"))
        else:
            chosen = council.backbones[backbone_name] if at else backbone
            agents[name] = Agent(name, personas[persona_name], chosen)
    return tuple(agents.values())


def _case(body: DecideBody, domain: Domain, faults: list[Fault]) -> Case | None:
    stated: dict[Kind, list[dict[str, object]]] = {
        "context": [finding.model_dump() for finding in body.case.context],
        "evidence": [finding.model_dump() for finding in body.case.evidence],
    }
    count = sum(map(len, stated.values()))
    if count > MOST_FINDINGS:
        faults.append(Fault("case", f"{count} findings; at most {MOST_FINDINGS} are taken"))
        return None
    try:
        return build_case(domain, stated, body.case.id)
    except BadInput as error:
        faults.extend(error.faults)
        return None


def _find(known: Mapping[str, Backbone], name: str, where: str, what: str) -> Backbone:
    if name not in known:
        raise NotFound.at(where, _unknown(what, known))
    return known[name]


def _unknown(what: str, known: Mapping[str, object]) -> str:
    return f"no such {what}; there are: {', '.join(known)}"


def read_personas(folder: Path) -> dict[str, str]:
    """The operator's own personas, by file stem; none where there is no such folder."""
    return {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}
