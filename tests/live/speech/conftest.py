"""Every recogniser, made once for a module's tests."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from negotiator.teleprompter.speech.recognizer import Recognizer
from negotiator.teleprompter.speech.recognizer_factory import make_recognizer
from tests.conftest import make_settings
from tests.live.speech.fake_speech_services import KEY, MODEL, fake_transcriptions

STREAMS = 8
STANDINS = Path(__file__).parent / "standins"

Engines = Callable[[str], Awaitable[Recognizer]]


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """Have every worker started from here load the stand-in for pocketsphinx."""
    root = Path(__file__).parents[3]
    patch.setenv("PYTHONPATH", f"{root}:{STANDINS}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engines(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Engines]:
    """Gives the recogniser of a name, as the settings would choose it."""
    folder = tmp_path_factory.mktemp("speech")
    made: dict[str, Recognizer] = {}
    async with AsyncExitStack() as stack:

        async def make(name: str) -> Recognizer:
            chosen: dict[str, Any] = {"speech_engine": name, "speech_workers": 1}
            if name == "openai":
                service = await stack.enter_async_context(fake_transcriptions())
                chosen |= {"speech_url": service.url, "speech_key": KEY, "speech_model": MODEL}
            return make_recognizer(make_settings(folder, folder, **chosen))

        async def get(name: str) -> Recognizer:
            if name not in made:
                made[name] = await make(name)
                stack.push_async_callback(made[name].close)
            return made[name]

        yield get
