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

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.metrics import Counter, MetricRegistry
from negotiator.runtime.tracing import Attributes, Span, SpanKind

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

_KINDS: Final = {
    "server": trace.SpanKind.SERVER,
    "client": trace.SpanKind.CLIENT,
    "consumer": trace.SpanKind.CONSUMER,
    "internal": trace.SpanKind.INTERNAL,
}
_PROPAGATOR: Final = TraceContextTextMapPropagator()


class _RecordedSpan:
    """A span that the exporter gets."""

    __slots__ = ("_span", "_tracer")

    def __init__(self, tracer: trace.Tracer, span: trace.Span) -> None:
        self._tracer, self._span = tracer, span

    @property
    def is_open(self) -> bool:
        return self._span.is_recording()

    @property
    def traceparent(self) -> str:
        return _header(self._span.get_span_context())

    def child(self, name: str, kind: SpanKind = "internal", attributes: Attributes | None = None) -> Span:
        parent = trace.set_span_in_context(self._span)
        return _RecordedSpan(self._tracer, self._tracer.start_span(name, parent, _KINDS[kind], dict(attributes or {})))

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def note(self, attributes: Attributes) -> None:
        self._span.set_attributes(dict(attributes))

    def end(self, error: str = "") -> None:
        if not self._span.is_recording():
            return
        if error:
            self._span.set_attribute("error.type", error)
            self._span.set_status(trace.StatusCode.ERROR)
        self._span.end()


class _UnrecordedSpan:
    """A caller's span that is passed on, with nothing recorded here."""

    __slots__ = ("traceparent",)

    is_open = False

    def __init__(self, context: trace.SpanContext) -> None:
        self.traceparent = _header(context, trace.TraceFlags.DEFAULT)

    def child(self, *_arguments: object, **_named: object) -> Span:
        return self

    def rename(self, name: str) -> None:
        pass

    def note(self, attributes: Attributes) -> None:
        pass

    def end(self, error: str = "") -> None:
        pass


def _header(context: trace.SpanContext, flags: int | None = None) -> str:
    flags = int(context.trace_flags) if flags is None else flags
    trace_id, span_id = (trace.format_trace_id(context.trace_id), trace.format_span_id(context.span_id))
    return f"00-{trace_id}-{span_id}-{flags:02x}"


def _sent(traceparent: str) -> trace.SpanContext | None:
    """The span that a header names; None when it is malformed."""
    context = _PROPAGATOR.extract({"traceparent": traceparent}, Context())
    span = trace.get_current_span(context).get_span_context()
    return span if span.is_valid else None


def _begun(tracer: trace.Tracer, name: str, kind: SpanKind, parent: trace.SpanContext | None) -> _RecordedSpan:
    context = Context()
    if parent is not None:
        context = trace.set_span_in_context(trace.NonRecordingSpan(parent), context)
    return _RecordedSpan(tracer, tracer.start_span(name, context, _KINDS[kind]))


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
    """A `TraceSource` that records the share `sample` of all work.

    A caller's valid `traceparent` is joined either way. Its sampled flag decides what is recorded only if
    `follows_caller`: otherwise any client could have all its requests recorded.
    """

    def __init__(self, url: str, *, sample: float, follows_caller: bool, version: str, meters: MetricRegistry) -> None:
        self._url = url
        self._sample = sample
        self._follows_caller = follows_caller
        self._version = version
        name, meaning = "negotiator_trace_spans_total", "Spans sent to the collector, and lost"
        self._sent = meters.counter(name, meaning, outcome="sent")
        self._lost = meters.counter(name, meaning, outcome="lost")
        self._provider: TracerProvider | None = None
        self._tracer: trace.Tracer | None = None

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
            ALWAYS_ON,
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
        self._tracer = self._provider.get_tracer("negotiator", self._version)

    def begin(self, name: str, kind: SpanKind = "internal", *, traceparent: str = "") -> Span | None:
        if self._tracer is None:
            return None
        caller = _sent(traceparent) if traceparent else None
        if self._follows_caller and caller is not None:
            recorded = caller.trace_flags.sampled
        else:
            recorded = random.random() < self._sample  # noqa: S311  no secret
        if recorded:
            return _begun(self._tracer, name, kind, caller)
        return _UnrecordedSpan(caller) if caller is not None else None

    def join(self, name: str, kind: SpanKind, traceparent: str) -> Span | None:
        if self._tracer is None:
            return None
        sender = _sent(traceparent)
        return None if sender is None else _begun(self._tracer, name, kind, sender)

    async def close(self) -> None:
        """Send the remaining spans, for at most two seconds."""
        provider, self._provider, self._tracer = self._provider, None, None
        if provider is None:
            return
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
