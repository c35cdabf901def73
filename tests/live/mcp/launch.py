"""`negotiator serve` in a world of the tests: tokens live seconds, and one more authority is trusted."""

import os
import runpy
import ssl
from collections.abc import Sequence
from functools import partial
from typing import Final

from starlette.applications import Starlette

from negotiator import app, settings
from negotiator.compose import services
from negotiator.trust.fetch import Fetcher

LIFE: Final = 3
"""Seconds that access tokens live: the setting's least is a minute, and no test should wait that long."""
AUTHORITY: Final = "TEST_AUTHORITY"


def create() -> Starlette:
    """The application, with settings of the environment but for the life of tokens."""
    tls = ssl.create_default_context(cafile=os.environ[AUTHORITY])
    services.Fetcher = partial(Fetcher, tls=tls)
    return app.create_app(settings.load().model_copy(update={"token_ttl": LIFE}))


def _launch() -> None:
    """The command itself, which hands over to the supervisor: with this factory instead of the product's."""
    handing_over = os.execv

    def execv(path: str, arguments: Sequence[str]) -> None:
        ours = f"{__spec__.name}:create"
        handing_over(
            path,
            [each.replace("negotiator.cli.worker:create_app", ours) for each in arguments],
        )

    os.execv = execv
    runpy.run_module("negotiator", run_name="__main__")


if __name__ == "__main__":
    _launch()
