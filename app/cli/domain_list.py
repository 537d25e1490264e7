"""`crosspath domain list`."""

import orjson
import typer
from rich.console import Console
from rich.table import Table

from app.settings import load_settings
from domains.catalogue import Catalogue


def run(as_json: bool) -> int:
    """Print the packs that are found."""
    catalogue = Catalogue(load_settings().domains_dir)
    domains = [catalogue.get(name) for name in catalogue.names()]
    if as_json:
        rows = [
            {"name": d.name, "title": d.title, "labels": len(d.labels), "findings": len(d.findings)} for d in domains
        ]
        typer.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return 0
    table = Table(box=None)
    table.add_column("name", no_wrap=True)
    table.add_column("title", overflow="fold")
    for counted in ("labels", "findings", "exemplars"):
        table.add_column(counted, justify="right", no_wrap=True)
    for d in domains:
        table.add_row(d.name, d.title, str(len(d.labels)), str(len(d.findings)), str(len(d.exemplars)))
    Console().print(table)
    return 0
