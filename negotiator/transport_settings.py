"""The operator's limits on connections, requests' sizes and slow clients; part of `settings`."""

from pydantic import Field
from pydantic_settings import BaseSettings


class TransportSettings(BaseSettings):
    """What `edge/connections` needs to know. Connections and streams are counted in each worker."""

    header_limit_bytes: int = Field(
        16_384, ge=2048, le=65_536, description="Bytes of a request's request line and headers."
    )
    header_limit_count: int = Field(100, ge=20, le=1000, description="Headers of a request.")
    header_timeout: float = Field(
        10, ge=0.1, le=600, description="Seconds for a request's headers to arrive."
    )
    body_timeout: float = Field(
        30,
        ge=0.1,
        le=600,
        description="Seconds for a request's body to arrive, and one more for each 8 KiB that came.",
    )
    idle_timeout: float = Field(
        5,
        ge=0.1,
        le=3600,
        description="Seconds that a connection stays open between requests; behind a proxy, more than the proxy's own.",
    )
    write_timeout: float = Field(
        30, ge=0.1, le=600, description="Seconds that a client may leave an answer unread."
    )
    connection_limit: int = Field(
        4096, ge=8, le=1_000_000, description="Open connections per worker, streams not counted."
    )
    connection_limit_address: int = Field(
        256,
        ge=1,
        le=1_000_000,
        description="The same of one client address (IPv6: of one /64); trusted proxies have no such limit.",
    )
    stream_limit: int = Field(
        4096, ge=1, le=1_000_000, description="Open WebSockets and event streams per worker."
    )
    stream_limit_address: int = Field(
        256, ge=1, le=1_000_000, description="The same of one client address."
    )
    worker_timeout: int = Field(
        30,
        ge=5,
        le=600,
        description="Seconds after which a worker that does not react is replaced.",
    )
