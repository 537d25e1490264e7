"""What a caller asks, resolved: names into domains, personas, backbones and aggregators. Pure; asks nobody."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from agents.backbone import Backbone
from agents.limits import Lane
from agents.personas import GENERIC, POOL, Persona, personas_for
from agents.purse import Purse
from agents.redis_client import RedisServer
from aggregators import AGGREGATORS, ANCHORED, JUDGES, Parameters
from anchor.anchors import ANCHORS, Anchor
from anchor.artefact import Origin, origin_of
from app.calibrations import Calibrations
from app.degradation import Require
from app.elicitation.tables import TableSource, TableView
from app.schemas.common import MOST_FINDINGS
from app.schemas.decide import DecideBody
from domains.case import Case, Domain, Kind, build_case
from domains.catalogue import Catalogue, ad_hoc_domain
from domains.errors import BadInput, Fault, NotFound

Elicitation = Literal["per_case", "table"]
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
    """Who and what there is to ask, and the operator's rules. `simulated`: the domains that the stand-in knows;
    `elicitation`: where ranks come from unless a caller says; `redis`: the server that all stores share, if any."""

    catalogue: Catalogue
    backbones: Mapping[str, Backbone]
    personas: Mapping[str, str]
    calibrations: Calibrations
    tables: TableSource
    simulated: frozenset[str]
    default_domain: str
    quorum: int
    deadline_s: float
    whole_set: int
    elicitation: Elicitation
    redis: RedisServer | None = None


@dataclass(frozen=True)
class Inquiry:
    """One case and everything that is asked about it. `also_anchors` are those whose material is asked for besides
    `anchor`'s, to be scored later; `anchors` has them all by name, `anchor` first. With `skip_unanimous` judges are not
    asked about a case in which the agents agree; with `explain` the answer says what the anchor is made of. `table` is
    where ranks are looked up before anybody is asked (None: every case is asked about, as in the paper). `lane` is
    where its requests queue, `purse` what they are paid from (None: nobody counts)."""

    domain: Domain
    case: Case
    agents: tuple[Agent, ...]
    backbone: Backbone
    aggregator: str
    anchor: str | None
    also_anchors: tuple[str, ...]
    anchors: Mapping[str, Anchor]
    parameters: Parameters
    compare: tuple[str, ...]
    require: Require
    abstain_below: Mapping[str, float]
    deadline_s: float
    quorum: int
    whole_set: int
    skip_unanimous: bool = False
    explain: bool = False
    table: TableView | None = None
    lane: Lane = "interactive"
    purse: Purse | None = None

    @property
    def elicitation(self) -> Elicitation:
        """Where the ranks come from."""
        return "per_case" if self.table is None else "table"

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges to be asked: those that are among the aggregators."""
        used = (self.aggregator, *self.compare)
        return tuple([name for name in JUDGES if name in used])


NO_CASE = Case("", (), ())


def inquire(body: DecideBody, council: Council) -> Inquiry:
    """The inquiry a body asks for.

    Raises:
        BadInput: every name that nothing has, and every fault of the case.
    """
    faults: list[Fault] = []
    inquiry = resolve(body, council, faults, with_case=True)
    if faults:
        raise BadInput(faults)
    return inquiry


def looks_into_files(body: DecideBody, council: Council) -> bool:
    """Whether `inquire` reads anything for this body that is not in memory: a pack, or the folder of calibrations. Then
    it is not for the event loop; nor are labels of the caller's own, which may be many."""
    fitted = body.anchor is not None and body.anchor not in ANCHORS
    return fitted or body.labels is not None or not council.catalogue.is_loaded(body.domain or council.default_domain)


def resolve(
    body: DecideBody,
    council: Council,
    faults: list[Fault],
    also_anchors: Sequence[str] = (),
    *,
    with_case: bool = False,
) -> Inquiry:
    """What a body asks, about no case yet unless `with_case`, and for which other anchors; names that nothing has and
    faults of the case are noted in `faults`.

    Raises:
        BadInput: there is no such domain or backbone, without which nothing more can be said.
    """
    domain = _domain(body, council)
    backbone = backbone_for(domain, body.backbone, council, "domain" if body.labels is None else "labels")
    faults += _unknown_rules(body)
    named = ([("anchor", body.anchor)] if body.anchor else []) + [("anchors", name) for name in also_anchors]
    elicitation = _elicitation(body, domain, council)
    origin = partial(origin_of, domain, backbone.settings.model, elicitation)
    anchors = _anchors(named, council, domain, origin, faults)
    faults += _too_long(body, council)
    agents = _agents(body, domain, council, backbone, faults)
    return Inquiry(
        domain=domain,
        case=_case(body, domain, faults) if with_case else NO_CASE,
        agents=agents,
        backbone=backbone,
        aggregator=body.aggregator,
        anchor=body.anchor,
        also_anchors=tuple(also_anchors),
        anchors=anchors,
        parameters=Parameters(tau=body.params.tau, w_r=body.params.w_r),
        compare=tuple(dict.fromkeys(body.compare)),
        require=body.require,
        abstain_below=body.abstain_below.model_dump(exclude_none=True),
        deadline_s=body.deadline_s or council.deadline_s,
        quorum=min(council.quorum, len(agents)),
        whole_set=council.whole_set,
        skip_unanimous=body.params.skip_unanimous,
        explain=body.explain,
        table=council.tables.of(backbone, domain) if elicitation == "table" else None,
    )


def _domain(body: DecideBody, council: Council) -> Domain:
    if body.labels is None:
        return council.catalogue.get(body.domain or council.default_domain)
    if body.domain is not None:
        raise BadInput.at("labels", "give either a domain or labels of your own, not both")
    return ad_hoc_domain(body.labels)


def _elicitation(body: DecideBody, domain: Domain, council: Council) -> Elicitation:
    """Where ranks come from: as the caller says, else as the calibration was fitted that is asked for, else as the
    operator says. Labels and findings of the caller's own are in no table."""
    if body.labels is not None or not domain.findings:
        return "per_case"
    if body.params.elicitation is not None:
        return body.params.elicitation
    fitted = None if body.anchor in ANCHORS else council.calibrations.sound().get(body.anchor or "")
    if fitted is not None:
        return "table" if fitted.origin.source == "table" else "per_case"
    return council.elicitation


def backbone_for(domain: Domain, name: str, council: Council, where: str = "domain") -> Backbone:
    """The backbone of a name, to be asked about a domain that was named at `where`.

    Raises:
        BadInput: there is none, or it is the stand-in and knows nothing of the domain.
    """
    backbone = _find(council.backbones, name, "backbone", "backbone")
    if is_stand_in(backbone) and domain.name not in council.simulated:
        raise BadInput.at(
            where, "the stand-in is no language model and knows nothing of these labels; declare a backbone"
        )
    return backbone


def is_stand_in(backbone: Backbone) -> bool:
    """Whether a backbone is the stand-in, here or on a port: it goes by that name."""
    return backbone.settings.model == STAND_IN or backbone.settings.model.startswith(f"{STAND_IN}-")


def _unknown_rules(body: DecideBody) -> list[Fault]:
    asked = [("aggregator", body.aggregator), *((f"compare.{place}", name) for place, name in enumerate(body.compare))]
    faults = [Fault(where, _unknown("aggregator", AGGREGATORS)) for where, name in asked if name not in AGGREGATORS]
    if body.anchor is None:
        faults += [Fault(where, "this aggregator needs an anchor") for where, name in asked if name in ANCHORED]
    return faults


def _anchors(
    named: Sequence[tuple[str, str]],
    council: Council,
    domain: Domain,
    origin: Callable[[], Origin],
    faults: list[Fault],
) -> dict[str, Anchor]:
    """The anchors asked for, each with the place where it was."""
    anchors: dict[str, Anchor] = {}
    for where, name in named:
        try:
            anchors[name] = ANCHORS[name] if name in ANCHORS else council.calibrations.anchor(name, domain, origin())
        except NotFound:
            faults.append(Fault(where, _unknown("anchor", [*ANCHORS, *council.calibrations.names()])))
        except BadInput as error:
            faults += [Fault(where, fault.problem if fault.where == "anchor" else str(fault)) for fault in error.faults]
    return anchors


def _too_long(body: DecideBody, council: Council) -> list[Fault]:
    if body.deadline_s is None or body.deadline_s <= council.deadline_s:
        return []
    return [Fault("deadline_s", f"this service waits at most {council.deadline_s:g} s")]


def _agents(
    body: DecideBody, domain: Domain, council: Council, backbone: Backbone, faults: list[Fault]
) -> tuple[Agent, ...]:
    personas = personas_for(domain, council.personas)
    del personas[GENERIC]  # it stands outside the pool (method.md, Other anchors), and a record has it by this name
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


def _case(body: DecideBody, domain: Domain, faults: list[Fault]) -> Case:
    stated: dict[Kind, list[dict[str, object]]] = {
        "context": list(map(vars, body.case.context)),
        "evidence": list(map(vars, body.case.evidence)),
    }
    count = sum(map(len, stated.values()))
    if count > MOST_FINDINGS:
        faults.append(Fault("case", f"{count} findings; at most {MOST_FINDINGS} are taken"))
        return NO_CASE
    try:
        return build_case(domain, stated, body.case.id)
    except BadInput as error:
        faults.extend(error.faults)
        return NO_CASE


def _find(known: Mapping[str, Backbone], name: str, where: str, what: str) -> Backbone:
    if name not in known:
        raise NotFound.at(where, _unknown(what, known))
    return known[name]


def _unknown(what: str, known: Iterable[str]) -> str:
    return f"no such {what}; there are: {', '.join(known)}"


def read_personas(folder: Path) -> dict[str, str]:
    """The operator's own personas, by file stem; none where there is no such folder."""
    return {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}
