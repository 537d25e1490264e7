"""A small pack whose numbers are easy to think about, and questions as the project puts them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.personas import PERSONAS, forward_question
from anchor.elicitor import rank_question
from anchor.ranks import Ranks
from domains.case import KINDS, Case, Domain, Finding, Kind, Label, build_case
from domains.catalogue import BUILT_IN
from domains.knowledge import Knowledge
from domains.posterior import Posterior
from domains.question import Question
from simulator.prompt_reader import Pack
from simulator.world import Profile, World

PACKS = tuple(BUILT_IN / name for name in ("chest_pain", "it_incident"))
REAL_DDXPLUS = Path(__file__).parents[2].parent / "shared/ddxplus"

DOMAIN = Domain(
    name="garden",
    title="What ails a plant",
    case_noun="plant",
    label_noun="ailment",
    labels=tuple(Label(name) for name in ("Drought", "Frost", "Mildew", "Rust", "Slugs", "Blight")),
    findings=(
        Finding("dry_summer", "A dry summer", "context"),
        Finding("cold_night", "A cold night", "context"),
        Finding("spots_brown", "Brown spots", "evidence", group="spots"),
        Finding("spots_grey", "Grey spots", "evidence", group="spots"),
        Finding("wilted", "Wilted leaves", "evidence"),
        Finding("holes", "Holes in the leaves", "evidence"),
        Finding("colour", "A blue pot", "evidence"),
    ),
    description="Plants in pots.",
)
KNOWLEDGE = Knowledge(
    prior_L=np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03]),
    probability_LJ=np.array(
        [
            [0.9, 0.1, 0.1, 0.1, 0.9, 0.1, 0.0],
            [0.2, 0.9, 0.3, 0.3, 0.6, 0.1, 0.0],
            [0.3, 0.3, 0.7, 0.7, 0.2, 0.1, 0.0],
            [0.4, 0.4, 0.8, 0.8, 0.3, 0.1, 0.0],
            [0.1, 0.4, 0.1, 0.1, 0.2, 0.95, 0.0],
            [0.3, 0.3, 0.6, 0.6, 0.7, 0.2, 0.0],
        ]
    ),
    known_J=np.array([True] * 6 + [False]),
)
PACK = Pack(DOMAIN, KNOWLEDGE)

USUAL = Profile(know=2.0, private=1.5, tilt=1.0, sharp=0.5, back=2.0, rho=0.5, seed=3)
EXACT = Profile(know=0, private=0, tilt=0, sharp=1, back=0, rho=0, seed=0, shared=0, hidden=0, context=1, jitter=0)
"""No error at all."""


def world(profile: Profile = USUAL, backbone: str = "garden 3 0", **changes: Any) -> World:
    """A world of the small pack."""
    return World(DOMAIN, KNOWLEDGE, replace(profile, **changes), backbone)


def places(*stated: str) -> list[tuple[int, bool]]:
    """Findings by id, a leading minus for an absent one."""
    return [(DOMAIN.finding_index[name.lstrip("-")], not name.startswith("-")) for name in stated]


def case(domain: Domain, *stated: str, extra: dict[Kind, list[str]] | None = None) -> Case:
    """A case of known findings (by id, a leading minus for an absent one) and ad-hoc texts by kind."""
    kinds = {finding.id: finding.kind for finding in domain.findings}
    halves: dict[Kind, list[dict[str, object]]] = {kind: [] for kind in KINDS}
    for name in stated:
        halves[kinds[name.lstrip("-")]].append({"id": name.lstrip("-"), "present": not name.startswith("-")})
    for kind, texts in (extra or {}).items():
        halves[kind].extend({"id": f"own-{kind}-{place}", "text": text} for place, text in enumerate(texts))
    return build_case(domain, halves)


def forward(domain: Domain, asked: Case, persona: str = "cot") -> Question[Posterior]:
    """A forward question of a built-in persona."""
    return forward_question(domain, asked, PERSONAS[persona])


def backward(domain: Domain, asked: Case, step: Kind, **options: Any) -> Question[Ranks]:
    """An elicitation question about all labels and the case's findings of one kind."""
    findings = [o.finding for o in asked.observations(step) if o.present or step == "evidence"]
    seed = domain.case_seed(asked)
    return rank_question(step, domain, list(range(len(domain.labels))), findings, seed, **options)
