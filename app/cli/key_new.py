"""`crosspath key new`."""

import json
import sys
from collections.abc import Sequence

from app.access.keys import new_key


def run(owner: str, scopes: Sequence[str] | None, as_json: bool) -> int:
    """Print a key that nobody has, and the entry of the setting that accepts it."""
    key, entry = new_key(owner, scopes or ["decide"])
    if as_json:
        print(json.dumps({"key": key, "entry": str(entry)}))  # noqa: T201
        return 0
    print(key)  # noqa: T201
    print(f"CROSSPATH_API_KEYS={entry}")  # noqa: T201
    print(  # noqa: T201
        "The first line is the key, for the caller: it is shown this once. The second is for the service, which keeps "
        "no key; several entries stand with commas between them.",
        file=sys.stderr,
    )
    return 0
