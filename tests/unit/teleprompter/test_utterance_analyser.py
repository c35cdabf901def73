"""Everything asked about an utterance before anything is written."""

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from negotiator.memory.search import MemorySearch
from negotiator.memory.searchable_text import MemoryEmbedder
from negotiator.negotiations.tactic_recogniser import TacticRecogniser
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.store.sqlite import SqliteStore
from negotiator.teleprompter.cues.catalogue import CueCatalogue, Speaker, cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.user_classifiers import UserClassifiers
from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser
from tests.helpers.example_session import example_session
from tests.unit.teleprompter.conftest import AskedEmbedder

pytestmark = pytest.mark.asyncio

PLAN = {
    "objections": [
        {"objection": "Your price is too high for us.", "reply": "Compared with what?"},
        {"objection": "The moon is made of cheese.", "reply": "Is it?"},
    ]
}


@pytest.fixture
def embedder() -> AskedEmbedder:
    return AskedEmbedder()


@pytest_asyncio.fixture
async def analyser(
    store: SqliteStore, small: CueCatalogue, tmp_path: Path, embedder: AskedEmbedder
) -> UtteranceAnalyser:
    """An ear over a small catalogue, warm."""
    heads = UserClassifiers(store, embedder, catalogue=BuiltOnce(lambda: small), folder=tmp_path / "lessons")
    recall = MemorySearch(store, MemoryEmbedder(embedder))
    tactics = TacticRecogniser(embedder, tmp_path / "lessons")
    matcher = BuiltOnce(lambda: build_matcher(small))
    made = UtteranceAnalyser(matcher, heads, embedder, recall, tactics, patience=None)
    await made.heads.of("", "them")
    return made


async def hear(analyser: UtteranceAnalyser, said: str, speaker: Speaker = "them", **asked: Any) -> Any:
    options: dict[str, Any] = {"final": True, "role": "seller", **asked}
    return await analyser.listen("usr_a", said, speaker, **options)


async def test_nothing_that_is_taken_out_reaches_the_embedder_or_the_caller(
    analyser: UtteranceAnalyser, embedder: AskedEmbedder
) -> None:
    ahead = await hear(analyser, "take my card 4111 1111 1111 1111 it is too expensive")
    assert ahead.text == "take my card [card] it is too expensive"
    assert not any("4111" in text for text in embedder.asked)
    assert ahead.matches[0].cue_id == "price_too_high"


async def test_figures_are_read_of_finals_only(analyser: UtteranceAnalyser) -> None:
    said = "we could do fifty two thousand"
    assert [one.low for one in (await hear(analyser, said)).figures] == [52000]
    assert (await hear(analyser, said, final=False)).figures == ()


async def test_the_plan_s_answer_goes_to_the_cue_that_its_objection_is(
    analyser: UtteranceAnalyser, embedder: AskedEmbedder
) -> None:
    ahead = await hear(analyser, "that is too expensive for us", plan=PLAN, session=example_session())
    assert {cue: one.reply for cue, one in ahead.answers.items()} == {"price_too_high": "Compared with what?"}
    before = len(embedder.asked)
    await hear(analyser, "that is too expensive for us", plan=PLAN)
    assert len(embedder.asked) == before + 1


async def test_who_has_no_such_role_is_not_shown_its_cues(analyser: UtteranceAnalyser) -> None:
    buyers = [one.cue_id for one in (await hear(analyser, "you're too expensive", role="buyer")).matches]
    sellers = [one.cue_id for one in (await hear(analyser, "you're too expensive")).matches]
    cues = cue_catalogue().cues
    assert all(cues[name].suits("buyer") for name in buyers)
    assert all(cues[name].suits("seller") for name in sellers)
    assert all(
        cues[one.cue_id].suits(None) for one in (await hear(analyser, "you're too expensive", role=None)).matches
    )


async def test_with_the_embedder_away_patterns_and_figures_are_still_heard(
    analyser: UtteranceAnalyser, embedder: AskedEmbedder
) -> None:
    embedder.away = True
    ahead = await hear(analyser, "that is too expensive, fifty thousand", plan=PLAN)
    assert [(one.cue_id, one.source) for one in ahead.matches] == [("price_too_high", "rule")]
    assert len(ahead.figures) == 1
    assert ahead.memories == ()
