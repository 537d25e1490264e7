"""The command line: `commands/` has what each takes; what it does is in the module of its name here, imported when it
runs.

So `--help` is fast: it loads neither the web framework nor numpy, and is written as plain text, since the library that
would draw boxes around it takes longer to load than all else.
"""

import sys

from app.cli import commands
from app.cli.declaring import app
from domains.errors import CrosspathError

__all__ = ["commands", "run"]


def run() -> None:
    """Run the command line; a fault of the input is one line on stderr and exit code 2, any other of ours 1."""
    try:
        app()
    except CrosspathError as error:
        faults = getattr(error, "faults", None)
        for line in map(str, faults) if faults else [str(error)]:
            print(f"crosspath: {line}", file=sys.stderr)  # noqa: T201
        sys.exit(2 if faults else 1)
