"""`crosspath domain new`."""

import json
from pathlib import Path

import typer

from domains.new_pack import write_new_pack


def run(name: str, out: Path, as_json: bool = False) -> int:
    """Write the skeleton, print its folder, and say how to go on."""
    folder = write_new_pack(name, out)
    typer.echo(json.dumps({"folder": str(folder)}) if as_json else str(folder))
    typer.echo(
        f"A small working example: put your own domain in its place, as {folder / 'README.md'} says. Then:\n"
        f"  crosspath domain check {folder}\n"
        f"  CROSSPATH_DOMAINS_DIR={out} crosspath evaluate --dataset {name}",
        err=True,
    )
    return 0
