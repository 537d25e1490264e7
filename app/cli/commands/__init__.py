"""What each command takes, in the order in which `--help` lists them."""

from app.cli.commands import service, runs, upkeep  # isort: skip

__all__ = ["runs", "service", "upkeep"]
