"""Traces by OpenTelemetry's SDK, sent to a collector over OTLP/HTTP (docs/decisions/0028-traces.md).

Loaded only where `traces_url` is set. Spans wait in a bounded queue for a thread that sends them; when the collector
is away or hangs, the oldest are dropped, and no request waits.
"""

import asyncio
import contextlib
import logging
import os
import random
import threading
from collections.abc import Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, Sampler, SamplingResult
from opentelemetry.trace import Link, NoOpTracer, SpanKind, TraceState
from opentelemetry.util.types import Attributes

from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.metrics import Counter, MetricRegistry
from negotiator.runtime.tracing import use_tracer

QUEUE: Final = 2048
"""Spans that wait at most."""
_BATCH: Final = 256
_EVERY_MILLISECONDS: Final = 2000
_PATIENCE: Final = 5.0
"""Seconds for one batch, attempts included."""
_LAST_PATIENCE: Final = 2.0
"""Seconds for the remaining spans when the process ends."""
_MOST_ATTRIBUTES: Final = 16
_LONGEST_VALUE: Final = 2000


class _Share(Sampler):
    """Records a share of all traces. A client cannot name a trace id that is always recorded."""

    def __init__(self, share: float) -> None:
        self._share = share

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        recorded = random.random() < self._share  # noqa: S311  no secret
        return SamplingResult(Decision.RECORD_AND_SAMPLE if recorded else Decision.DROP, attributes)

    def get_description(self) -> str:
        return f"a share of {self._share}"


class _CountingExporter(SpanExporter):
    """Counts the spans that were sent and lost, and logs when the collector does not take them."""

    def __init__(self, exporter: SpanExporter, sent: Counter, lost: Counter) -> None:
        self._exporter, self._sent, self._lost = exporter, sent, lost
        self._faults = FaultLog("the collector takes no traces")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self._sent.add(len(spans))
            self._faults.worked()
        else:
            self._lost.add(len(spans))
            self._faults.failed("a batch was not taken in time")
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class TraceExport:
    """Records the share `sample` of all traces.

    A caller's valid `traceparent` is joined. Its sampled flag does not count: any client could have all its requests
    recorded.
    """

    def __init__(self, url: str, *, sample: float, version: str, meters: MetricRegistry) -> None:
        self._url = url
        share = _Share(sample)
        self._sampler = ParentBased(share, remote_parent_sampled=share, remote_parent_not_sampled=share)
        self._version = version
        name, meaning = "negotiator_trace_spans_total", "Spans sent to the collector, and lost"
        self._sent = meters.counter(name, meaning, outcome="sent")
        self._lost = meters.counter(name, meaning, outcome="lost")
        self._provider: TracerProvider | None = None

    def start(self) -> None:
        """Start the thread that sends; before that nothing is recorded."""
        logger = logging.getLogger("opentelemetry")
        logger.addHandler(logging.NullHandler())
        logger.propagate = False  # `_CountingExporter` logs
        exporter = OTLPSpanExporter(self._url, timeout=_PATIENCE)
        service = {
            "service.name": "negotiator",
            "service.version": self._version,
            "service.instance.id": f"{os.uname().nodename}:{os.getpid()}",
        }
        self._provider = TracerProvider(
            self._sampler,
            Resource.create(service),
            shutdown_on_exit=False,
            span_limits=SpanLimits(max_span_attributes=_MOST_ATTRIBUTES, max_span_attribute_length=_LONGEST_VALUE),
        )
        self._provider.add_span_processor(
            BatchSpanProcessor(
                _CountingExporter(exporter, self._sent, self._lost),
                max_queue_size=QUEUE,
                max_export_batch_size=_BATCH,
                schedule_delay_millis=_EVERY_MILLISECONDS,
            )
        )
        # Not the global provider: the spans of libraries may hold what must not leave this process.
        use_tracer(self._provider.get_tracer("negotiator", self._version))

    async def close(self) -> None:
        """Send the remaining spans, for at most two seconds."""
        provider, self._provider = self._provider, None
        if provider is None:
            return
        use_tracer(NoOpTracer())
        # A thread that the interpreter does not wait for: the SDK gives a collector that hangs half a minute.
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            provider.shutdown()
            with contextlib.suppress(RuntimeError):  # the loop has ended in the meantime
                loop.call_soon_threadsafe(done.set)

        threading.Thread(target=end, daemon=True).start()
        try:
            async with asyncio.timeout(_LAST_PATIENCE):
                await done.wait()
        except TimeoutError:
            return
