"""What an owner's memories are kept, found and compared by; part of the assistant's wing.

The teleprompter; part of the assistant's wing.

The wing of the negotiation assistant.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp

from negotiator.compose.component import Component, OperationSlice, offered_operations
from negotiator.compose.services import Services
from negotiator.directory.tool_alternatives import ToolAlternatives
from negotiator.memory import wins_queries as wins
from negotiator.memory.benchmarks_routes import BenchmarkRoutes
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.embedder_selection import choose_embedder
from negotiator.memory.index_cache import MemoryIndexCache
from negotiator.memory.memories_lifecycle import ReferenceChecks
from negotiator.memory.memories_routes import MemoryRoutes
from negotiator.memory.search import MemorySearch
from negotiator.memory.transfer_import import MemoryImporter
from negotiator.memory.transfer_routes import TransferRoutes
from negotiator.memory.wins_routes import WinRoutes
from negotiator.negotiations import queries, tactic_queries
from negotiator.negotiations.advice_routes import NegotiationAdvice
from negotiator.negotiations.advisor import build_advisor
from negotiator.negotiations.past_evidence import PastEvidenceReader
from negotiator.negotiations.plan_routes import BattlePlans
from negotiator.negotiations.plans.evidence import AlternativeLead, LeadFinder, NoLeads
from negotiator.negotiations.routes import Negotiations
from negotiator.negotiations.tactic_routes import Tactics
from negotiator.settings import Settings
from negotiator.teleprompter.audio_pipeline import AudioPipeline
from negotiator.teleprompter.bus_factory import make_bus, publish_revocations
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.event_log import EventLog
from negotiator.teleprompter.feedback_routes import FeedbackRoutes
from negotiator.teleprompter.schemas import EngineView
from negotiator.teleprompter.session_routes import SESSIONS_PATH, SessionRoutes, UtteranceRoutes
from negotiator.teleprompter.session_view import SessionViews
from negotiator.teleprompter.speech.recognizer import EngineCapabilities
from negotiator.teleprompter.speech.recognizer_factory import make_recognizer
from negotiator.teleprompter.stream_routes import STREAM_PATH, StreamRoutes
from negotiator.teleprompter.tickets import Tickets
from negotiator.teleprompter.user_classifiers import UserClassifiers
from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser
from negotiator.teleprompter.utterances import UtteranceService
from negotiator.teleprompter.websocket_context import SharedContext, WebSocketTimeouts
from negotiator.teleprompter.websocket_endpoint import WebSocketEndpoint


@dataclass(frozen=True, slots=True)
class MemoryServices:
    """The slices, and the recall that plans, suggestions and cues ask."""

    memories: MemoryRoutes
    carrying: TransferRoutes
    recall: MemorySearch
    embedder: Embedder

    def check(self) -> str:
        """Whether the embedder is the one expected, and which it is."""
        named, lesser = self.embedder.model, self.embedder.lesser
        return f"lesser: {named}, as {lesser}" if lesser else f"ok: {named}"

    async def close(self) -> None:
        """Let go of the embedder."""
        await self.embedder.close()


def models_directory(chosen: Settings) -> Path:
    """Where what was built and learned is kept."""
    return chosen.models_dir or chosen.data_dir / "models"


def build_embedder(chosen: Settings) -> Embedder:
    """The embedder that the settings and what is installed lead to."""
    return choose_embedder(
        chosen.embedding_url,
        key=chosen.embedding_key,
        model=chosen.embedding_model,
        models=models_directory(chosen),
    )


MEMORY_REFERENCES: Final = ReferenceChecks(
    queries.require_negotiation, tactic_queries.require_tactic
)


def build_memory(ground: Services) -> MemoryServices:
    """Make the slices."""
    embeds = build_embedder(ground.settings)
    recall = MemorySearch(MemoryIndexCache(ground.store, embeds.model), embeds)
    memories = MemoryRoutes(ground.store, ground.cursors, embeds, recall, MEMORY_REFERENCES)
    bringing = MemoryImporter(ground.store, embeds, MEMORY_REFERENCES)
    carrying = TransferRoutes(ground.store, bringing, more=(wins.list_for_export,))
    return MemoryServices(memories, carrying, recall, embeds)


@dataclass(frozen=True, slots=True)
class TeleprompterServices:
    """The slices, the sockets by their paths, and what they let go of when the process ends, in this order."""

    slices: tuple[OperationSlice, ...]
    sockets: Mapping[str, ASGIApp]
    closes: tuple[Callable[[], Awaitable[None]], ...]


def build_teleprompter(ground: Services, remembered: MemoryServices) -> TeleprompterServices:
    """Make them."""
    chosen, store = ground.settings, ground.store
    recognizer = make_recognizer(chosen)
    bus, ear, guard = make_bus(chosen), _ear(ground, remembered), ground.doorway.guard
    publish_revocations(store, bus)
    listening = UtteranceService(store, ear, EventLog(store, bus, guard))
    views = SessionViews(chosen.base_url, SESSIONS_PATH, _shown(recognizer.caps))
    prompter = UtteranceRoutes(store, listening)
    sessions = SessionRoutes(store, ground.cursors, listening, views)
    streaming = StreamRoutes(Tickets(store, guard))
    stage = AudioPipeline(listening, recognizer)
    floor = SharedContext(
        ground.doorway, listening, streaming.tickets, stage, patience=WebSocketTimeouts()
    )
    return TeleprompterServices(
        (prompter, sessions, FeedbackRoutes(store, listening, ear.heads), streaming),
        {STREAM_PATH: WebSocketEndpoint(floor, streaming.stream, origins=chosen.allowed_origins)},
        (stage.close, listening.silence_timers.close, bus.close, ear.close),
    )


def _ear(ground: Services, remembered: MemoryServices) -> UtteranceAnalyser:
    matcher, embeds = build_matcher(cue_catalogue()), remembered.embedder
    folder = models_directory(ground.settings)
    heads = UserClassifiers(ground.store, embeds, catalogue=matcher.catalogue, folder=folder)
    return UtteranceAnalyser(matcher, heads, embeds, remembered.recall)


def _shown(caps: EngineCapabilities) -> EngineView:
    return {
        "id": caps.id,
        "interim": caps.interim,
        "processor": caps.third_party or None,
        "quality_note": caps.quality_note,
    }


@dataclass(frozen=True, slots=True)
class DirectoryScout:
    """The directory as a scout: a tool that does the same job is somebody to turn to."""

    alternatives: ToolAlternatives

    async def leads(
        self, sellers: Sequence[str], texts: Sequence[str]
    ) -> tuple[AlternativeLead, ...]:
        found = await self.alternatives.find(sellers, texts)
        return tuple(
            AlternativeLead(each.name, each.url, each.why, f"tool:{each.id}") for each in found
        )


def build_assistant(ground: Services) -> Component:
    """Make the wing; the hottest slice first."""
    chosen, store, cursors = ground.settings, ground.store, ground.cursors
    advisor = build_advisor(chosen.advisor_url, key=chosen.advisor_key, model=chosen.advisor_model)
    remembered = build_memory(ground)
    past = PastEvidenceReader(store, remembered.recall)
    scout: LeadFinder = NoLeads()
    if "directory" in chosen.services:
        scout = DirectoryScout(ToolAlternatives(ground.following))
    prompting = build_teleprompter(ground, remembered)
    slices = [
        Negotiations(store, cursors),
        NegotiationAdvice(store),
        BattlePlans(store, cursors, advisor, scout, past),
        Tactics(store, cursors, advisor, past),
        remembered.memories,
        remembered.carrying,
        WinRoutes(store, cursors, remembered.embedder, MEMORY_REFERENCES),
        BenchmarkRoutes(store),
        *prompting.slices,
    ]
    return Component(
        operations=offered_operations(slices),
        sockets=prompting.sockets,
        checks={"embedding": remembered.check},
        closes=(*prompting.closes, advisor.close, remembered.close),
    )
