"""`crosspath simulate`."""

import uvicorn

from app.assembly import stand_in
from app.logs import configure_logs
from app.settings import load_settings
from domains.catalogue import Catalogue


def run(host: str, port: int, profile: str | None, seed: int, shapes: str) -> int:
    """Serve the stand-in until stopped."""
    settings = load_settings()
    configure_logs(settings.log_level)
    app = stand_in(Catalogue(settings.domains_dir), profile=profile, seed=seed, shapes=shapes)
    uvicorn.run(app, host=host, port=port, log_level=settings.log_level, access_log=False, server_header=False)
    return 0
