"""`negotiator serve` in a world of the tests: tokens live seconds, and one more authority is trusted."""

import os
import runpy
import ssl
from functools import partial
from typing import Any, Final

from starlette.applications import Starlette

from negotiator.cli import supervisor
from negotiator.compose import app, services
from negotiator.config import settings
from negotiator.trust.fetcher import Fetcher

LIFE: Final = 3
"""Seconds that access tokens live: the setting's least is a minute, and no test should wait that long."""
AUTHORITY: Final = "TEST_AUTHORITY"


def create() -> Starlette:
    """The application, with settings of the environment but for the life of tokens."""
    tls = ssl.create_default_context(cafile=os.environ[AUTHORITY])
    services.Fetcher = partial(Fetcher, tls=tls)
    return app.create_app(settings.load().model_copy(update={"token_ttl": LIFE}))


def _launch() -> None:
    """The command itself, with this factory instead of the product's."""
    serve = supervisor.main

    def serve_this(log_format: supervisor.LogFormat, options: dict[str, Any], drain: float) -> None:
        serve(log_format, {**options, "app": f"{__spec__.name}:create"}, drain)

    supervisor.main = serve_this
    runpy.run_module("negotiator", run_name="__main__")


if __name__ == "__main__":
    _launch()
