"""What schemathesis has to be told of this service: how cases are written as NDJSON. It imports this itself."""

from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def as_lines(context: Any, value: Any) -> bytes:
    """What was drawn for the body, as text."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
