"""A bare Starlette endpoint that answers the same bytes: what reading the catalogue is measured against."""

import itertools
import os
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

BODIES = [path.read_bytes() for path in sorted(Path(os.environ["BODIES"]).iterdir())]
TURN = itertools.cycle(BODIES)


async def answer(_request: Request) -> Response:
    """The next of the recorded bodies."""
    return Response(next(TURN), media_type="application/json")


app = Starlette(routes=[Route("/api/v1/tools", answer), Route("/api/v1/tools/{id}", answer)])
