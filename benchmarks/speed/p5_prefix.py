"""P5: how much of a case's five forward prompts a provider's prefix cache can serve once (agents/prefix.py)."""

from itertools import islice

from agents.prefix import Shared, shared_prefix
from benchmarks.chaos.figure import Figure
from domains.catalogue import CASES_FILE, Catalogue, load_cases

CASES, BAR = 20, 0.75


def measure() -> list[Figure]:
    """The least share of some cases of each built-in pack, and what stands first."""
    catalogue = Catalogue()
    domains = {name: catalogue.get(name) for name in catalogue.names()}
    shared = {
        name: [
            shared_prefix(domain, case) for case in islice(load_cases(catalogue.path(name) / CASES_FILE, domain), CASES)
        ]
        for name, domain in domains.items()
    }
    every = [each for of_domain in shared.values() for each in of_domain]
    least, whole = min(each.share for each in every), min(each.share_with_exemplars for each in every)
    tokens = min(each.tokens for each in every)
    fixed = all(
        len({each.fixed for each in of_domain}) == 1 and of_domain[0].fixed > 0 for of_domain in shared.values()
    )
    return [
        Figure(
            "P5 forward prompts in their common prefix",
            f"≥ {BAR:.0%}",
            f"{least:.1%} ({whole:.1%} with MedPrompt's exemplars; from {tokens:,} tokens on)",
            least >= BAR,
        ),
        Figure("P5 the domain's fixed part stands first", "in all", "in all" if fixed else "not in all", fixed),
    ]


def _of_domain(catalogue: Catalogue, name: str) -> list[Shared]:
    domain = catalogue.get(name)
    cases = load_cases(catalogue.path(name) / CASES_FILE, domain)
    return [shared_prefix(domain, case) for case in islice(cases, CASES)]
