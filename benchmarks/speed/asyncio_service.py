"""The service on asyncio's own loop in place of uvloop: `python -m benchmarks.speed.asyncio_service --port PORT`."""

import argparse

from app.cli.serve import Server, config_of
from app.logs import configure_logs
from app.main import create_app
from app.settings import load_settings

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    settings = load_settings()
    configure_logs(settings.log_level)
    app = create_app(settings)
    config = config_of(app, "127.0.0.1", parser.parse_args().port)
    config.loop = "asyncio"
    Server(config, app).run()
