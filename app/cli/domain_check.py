"""`crosspath domain check`."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import typer

from agents.personas import personas_for
from agents.prefix import CHARACTERS_A_TOKEN, shared_prefix
from domains.case import Domain
from domains.catalogue import check_domain, load_domain
from domains.errors import BadInput, Fault


def run(path: Path, as_json: bool) -> int:
    """Print every fault of a pack; 1 if there is any."""
    if not path.is_dir():
        raise BadInput.at(str(path), "no such folder")
    faults = check_domain(path) or _persona_faults(path)
    if as_json:
        typer.echo(orjson.dumps([{"where": f.where, "problem": f.problem} for f in faults]).decode())
    elif faults:
        for fault in faults:
            typer.echo(str(fault))
    else:
        domain = load_domain(path)
        typer.echo(
            f"{domain.name}: {len(domain.labels)} labels, {len(domain.findings)} findings, "
            f"{len(domain.exemplars)} exemplars. Nothing wrong."
        )
        for line in _prefix(domain):
            typer.echo(line)
    return 1 if faults else 0


def _prefix(domain: Domain) -> Iterator[str]:
    """What a provider's prefix cache can do for the domain, told by its first worked example."""
    for exemplar in domain.exemplars[:1]:
        shared = shared_prefix(domain, exemplar.case)
        yield (
            f"Of the five forward prompts of a case {shared.share:.0%} lies in their common prefix "
            f"({shared.share_with_exemplars:.0%} with worked examples), about {shared.tokens:,} tokens; "
            f"{shared.fixed // CHARACTERS_A_TOKEN:,} of them are the same for every case."
        )


def _persona_faults(path: Path) -> list[Fault]:
    try:
        personas_for(load_domain(path))
    except BadInput as error:
        return list(error.faults)
    return []
