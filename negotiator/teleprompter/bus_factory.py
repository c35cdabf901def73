"""Which bus the settings ask for."""

from collections.abc import Sequence

from negotiator.settings import Settings
from negotiator.store.store import Store
from negotiator.teleprompter.bus import Bus, revocation_topic


def make_bus(chosen: Settings) -> Bus:
    """The bus that reaches every process which shares the store."""
    if chosen.redis_url:
        from negotiator.teleprompter.bus_redis import RedisBus

        return RedisBus(chosen.redis_url)
    if chosen.database_url.startswith("sqlite"):
        from negotiator.teleprompter.bus_datagrams import DatagramBus

        return DatagramBus(chosen.data_dir / "bus")
    from negotiator.teleprompter.bus_postgres import PostgresBus

    return PostgresBus(chosen.database_url)


def publish_revocations(store: Store, bus: Bus) -> None:
    """Have the bus tell every process, after each commit, whose credentials were revoked in it."""

    def tell(subjects: Sequence[str]) -> None:
        for subject in set(subjects):
            bus.tell(revocation_topic(subject))

    store.listen(tell)
