"""Which bus the settings ask for."""

from collections.abc import Sequence

from negotiator.settings import Settings
from negotiator.store.store import Store
from negotiator.teleprompter.streams.bus import Bus, topic_of


def make_bus(chosen: Settings) -> Bus:
    """The bus that reaches every process which shares the store."""
    if chosen.redis_url:
        from negotiator.teleprompter.streams.buses.redis import ByRedis

        return ByRedis(chosen.redis_url)
    if chosen.database_url.startswith("sqlite"):
        from negotiator.teleprompter.streams.buses.datagrams import Datagrams

        return Datagrams(chosen.data_dir / "bus")
    from negotiator.teleprompter.streams.buses.postgres import ByNotify

    return ByNotify(chosen.database_url)


def tell_revocations(store: Store, bus: Bus) -> None:
    """Have the bus tell every process, after each commit, whose credentials were revoked in it."""

    def tell(subjects: Sequence[str]) -> None:
        for subject in set(subjects):
            bus.tell(topic_of(subject))

    store.listen(tell)
