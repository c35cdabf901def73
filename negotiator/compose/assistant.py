"""The component of the negotiation assistant: negotiations, memory and the teleprompter."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from negotiator.advice.advisor_selection import build_advisor
from negotiator.advice.plans.evidence import AlternativeLead, LeadFinder, NoLeads
from negotiator.agents.routes import AgentNames
from negotiator.compose.admin import try_advisor, try_embedder
from negotiator.compose.services import Component, Services, offered_operations
from negotiator.config.settings import Settings
from negotiator.directory.catalogue_index import CatalogueIndex, find_alternatives
from negotiator.memory import search as memory_search
from negotiator.memory.benchmarks_routes import BenchmarkRoutes
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from negotiator.memory.memories_lifecycle import ReferenceChecks
from negotiator.memory.memories_routes import MemoryReviews, MemoryRoutes
from negotiator.memory.search import MemorySearch
from negotiator.memory.searchable_text import MemoryEmbedder
from negotiator.memory.transfer_routes import TransferRoutes
from negotiator.memory.wins_routes import WinRoutes
from negotiator.negotiations import queries, tactic_queries
from negotiator.negotiations.advice_routes import NegotiationAdvice
from negotiator.negotiations.outcome_routes import OutcomeRoutes
from negotiator.negotiations.past_evidence import PastEvidenceReader
from negotiator.negotiations.plan_routes import BattlePlans
from negotiator.negotiations.routes import Negotiations
from negotiator.negotiations.tactic_recogniser import TacticRecogniser
from negotiator.negotiations.tactic_routes import Tactics
from negotiator.negotiations.usage_routes import UsageRoutes
from negotiator.rehearsals.routes import Rehearsals
from negotiator.runtime.thread_pools import BuiltOnce
from negotiator.teleprompter.audio_pipeline import AudioPipeline
from negotiator.teleprompter.bus import publish_revocations
from negotiator.teleprompter.bus_servers import make_bus
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.cues.matcher import build_matcher
from negotiator.teleprompter.event_log import EventLog
from negotiator.teleprompter.routes import SessionRoutes
from negotiator.teleprompter.schemas import EngineView
from negotiator.teleprompter.speech.recognizer import EngineCapabilities
from negotiator.teleprompter.speech.recognizer_factory import make_recognizer, recognizer_state
from negotiator.teleprompter.tickets import Tickets
from negotiator.teleprompter.user_classifiers import UserClassifiers
from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser
from negotiator.teleprompter.utterances import UtteranceService
from negotiator.teleprompter.websocket_context import SharedContext, WebSocketTimeouts
from negotiator.teleprompter.websocket_endpoint import STREAM_PATH, WebSocketEndpoint


@dataclass(frozen=True, slots=True)
class MemoryServices:
    """The memory slices, and the search that plans, suggestions and cues use."""

    memories: MemoryRoutes
    transfer: TransferRoutes
    search: MemorySearch
    embedder: MemoryEmbedder

    def check(self) -> str:
        """The health check: `ok` with the model's name when it is loaded, `lesser` when a weaker one stands in.

        `loading` while searches find by words alone, `idle` before anything is remembered, `failing` with the reason.
        """
        embedder = self.embedder.embedder
        if embedder.lesser:
            return f"lesser: {embedder.model}, as {embedder.lesser}"
        if embedder.state != "loading" and self.embedder.failure:
            return f"failing: {embedder.model}. {self.embedder.failure}"
        return f"{'ok' if embedder.state == 'ready' else embedder.state}: {embedder.model}"

    async def warm(self) -> None:
        """Load the model in the background if there is any memory, else only build its file.

        A process of a service without memories stays small.
        """
        if self.embedder.embedder.state != "idle":
            await self.embedder.retry()
            return
        if await self.memories.store.read(memory_search.is_any_stored):
            self.embedder.prepare()
        else:
            self.embedder.build()

    async def close(self) -> None:
        await self.search.close()
        await self.embedder.close()


def build_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings and the installed packages select."""
    return choose_embedder(
        settings.embedding_url,
        key=settings.embedding_key,
        model=settings.embedding_model,
        models=settings.models_folder,
    )


MEMORY_REFERENCES: Final = ReferenceChecks(
    queries.require_negotiation, tactic_queries.require_tactic, queries.require_real
)


def build_memory(services: Services) -> MemoryServices:
    """Build the memory slices."""
    embedder = MemoryEmbedder(build_embedder(services.settings))
    search = MemorySearch(services.store, embedder)
    memories = MemoryRoutes(services.store, services.cursors, embedder, search, MEMORY_REFERENCES)
    transfer = TransferRoutes(services.store, embedder, MEMORY_REFERENCES)
    return MemoryServices(memories, transfer, search, embedder)


def build_teleprompter(services: Services, memory: MemoryServices, tactics: TacticRecogniser) -> Component:
    """Build the teleprompter's part of the component."""
    settings, store = services.settings, services.store
    recognizer = make_recognizer(settings)
    bus, guard = make_bus(settings), services.pipeline.guard
    analyser = _analyser(services, memory, tactics)
    publish_revocations(store, bus)
    utterances = UtteranceService(store, analyser, EventLog(store, bus, guard))
    audio = AudioPipeline(utterances, recognizer)
    tickets = Tickets(store, guard)
    context = SharedContext(services.pipeline, utterances, tickets, audio, patience=WebSocketTimeouts())
    streams = WebSocketEndpoint(context, origins=settings.allowed_origins)
    sessions = SessionRoutes(store, services.cursors, utterances, settings.base_url, _engine_view(recognizer.caps))
    return Component(
        operations=offered_operations([sessions, streams]),
        sockets={STREAM_PATH: streams},
        checks={"speech": partial(recognizer_state, settings, recognizer)},
        closes=(audio.close, utterances.silence_timers.close, bus.close, analyser.close),
    )


def _analyser(services: Services, memory: MemoryServices, tactics: TacticRecogniser) -> UtteranceAnalyser:
    catalogue, embedder = BuiltOnce(cue_catalogue), memory.embedder.embedder
    matcher = BuiltOnce(lambda: build_matcher(catalogue.now()))
    folder = services.settings.models_folder
    classifiers = UserClassifiers(services.store, embedder, catalogue=catalogue, folder=folder)
    return UtteranceAnalyser(matcher, classifiers, embedder, memory.search, tactics)


def _engine_view(caps: EngineCapabilities) -> EngineView:
    return {
        "id": caps.id,
        "interim": caps.interim,
        "languages": list(caps.languages),
        "processor": caps.third_party or None,
        "quality_note": caps.quality_note,
    }


@dataclass(frozen=True, slots=True)
class DirectoryLeads:
    """Finds alternatives to a seller in the directory: tools that do the same job."""

    catalogue_index: CatalogueIndex

    async def leads(self, sellers: Sequence[str], texts: Sequence[str]) -> tuple[AlternativeLead, ...]:
        found = await find_alternatives(self.catalogue_index, sellers, texts)
        return tuple(AlternativeLead(each["name"], each["url"], each["why"], f"tool:{each['id']}") for each in found)


def build_assistant(services: Services) -> Component:
    """Build the component."""
    settings, store, cursors = services.settings, services.store, services.cursors
    advisor = build_advisor(settings.advisor_url, key=settings.advisor_key, model=settings.advisor_model)
    memory = build_memory(services)
    services.meters.sampled_gauge(
        "negotiator_memory_index_bytes", "Indexes of memories that the workers hold", lambda: memory.search.index_bytes
    )
    past = PastEvidenceReader(store, memory.search)
    leads: LeadFinder = NoLeads()
    if "directory" in settings.services:
        leads = DirectoryLeads(services.catalogue_index)
    recogniser = TacticRecogniser(memory.embedder.embedder, settings.models_folder)
    teleprompter = build_teleprompter(services, memory, recogniser)
    slices = [
        Negotiations(store, cursors, settings.base_url),
        NegotiationAdvice(store, past, advisor),
        UsageRoutes(store),
        OutcomeRoutes(store),
        BattlePlans(store, cursors, advisor, leads, past),
        Tactics(store, cursors, advisor, past, recogniser),
        Rehearsals(store, cursors, advisor, services.secret),
        memory.memories,
        memory.transfer,
        WinRoutes(store, cursors, memory.embedder, MEMORY_REFERENCES),
        BenchmarkRoutes(store),
    ]
    return Component(
        operations=(*offered_operations(slices), *teleprompter.operations),
        page_operations=offered_operations([MemoryReviews(store, memory.search), AgentNames(store)]),
        sockets=teleprompter.sockets,
        checks={"embedding": memory.check, "advisor": advisor.check, **teleprompter.checks},
        periodic_tasks=(advisor.probe, memory.warm),
        tried_services=(try_advisor(settings, advisor), try_embedder(memory.embedder.embedder)),
        closes=(*teleprompter.closes, recogniser.close, advisor.close, memory.close),
    )
