"""`crosspath domain check`."""

from pathlib import Path

import orjson
import typer

from agents.personas import personas_for
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
    return 1 if faults else 0


def _persona_faults(path: Path) -> list[Fault]:
    try:
        personas_for(load_domain(path))
    except BadInput as error:
        return list(error.faults)
    return []
