"""`crosspath data ddxplus`."""

import asyncio
from pathlib import Path

from rich.console import Console

from app.official_data import fetch_official
from domains.ddxplus import convert


def run(out: Path, source: Path | None) -> int:
    """Convert a local folder, or fetch the official release and convert that."""
    conversion = convert(source, out) if source else asyncio.run(fetch_official(out))
    Console(stderr=True).print(conversion.summary())
    return 0
