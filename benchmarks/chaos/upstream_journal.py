"""What the stand-in with faults really received, by its own journal."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Request:
    """One completion that was asked for: when (seconds since 1970), which (by its body), and what it met."""

    at: float
    digest: str
    attempt: int
    fault: str


def read_journal(file: Path) -> list[Request]:
    """Every request so far, in the order in which they came."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    requests = [Request(line["at"], line["digest"], line["attempt"], line["fault"]) for line in lines]
    return sorted(requests, key=lambda request: request.at)


def most_of_one(requests: list[Request]) -> int:
    """How often the same body came at most."""
    return max(Counter(request.digest for request in requests).values(), default=0)
