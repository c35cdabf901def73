"""Every setting with its default. Where settings are written is `settings_files`.

An unknown or ill-typed setting stops the start with one clear line (docs/contract 5.1).
"""

from contextlib import suppress
from email.utils import getaddresses
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from negotiator.base.values import ascii_host
from negotiator.config.settings_files import (
    ENV_PREFIX,
    GivenSetting,
    SettingsError,
    SettingsSources,
    checkout,
    find_files,
    own_variables,
    read_sources,
    user_folder,
)


class SpeechSettings(BaseModel):
    """Settings of speech recognition."""

    speech_engine: Literal["auto", "none", "whisper", "whisper-tiny", "pocketsphinx", "openai"] = Field(
        "auto",
        description="Speech recogniser; auto: whisper if its weights are installed, else pocketsphinx. openai sends "
        "audio to speech_url.",
    )
    speech_model_path: Path | None = Field(
        None, description="CTranslate2 folder for whisper, in place of its own model."
    )
    speech_url: str = Field("", description="OpenAI-compatible service that audio is sent to: https://host/v1.")
    speech_key: str = Field("", description="Key for speech_url, if it needs one.", repr=False)
    speech_model: str = Field("", description="Name of the model at speech_url.")
    speech_workers: int = Field(
        2,
        ge=1,
        le=64,
        description="Recogniser processes per server process; started when needed. For each, eight audio channels are "
        "recognised at once.",
    )

    @model_validator(mode="after")
    def _can_hear(self) -> Self:
        if self.speech_engine == "openai":
            parts = urlsplit(self.speech_url)
            plain = parts.scheme in {"https", "http"} and parts.hostname and not parts.username
            if not plain or parts.query or parts.fragment:
                raise ValueError("speech_url: must be a plain https URL for openai")
            if not self.speech_model:
                raise ValueError("speech_model: must be set for openai")
        elif self.speech_url:
            raise ValueError("speech_engine: must be openai when speech_url is set")
        return self


class TransportSettings(BaseModel):
    """Limits on connections and slow clients. Connections and streams are counted in each worker."""

    header_timeout: float = Field(10, ge=0.1, le=600, description="Seconds for a request's headers to arrive.")
    body_timeout: float = Field(
        30,
        ge=0.1,
        le=600,
        description="Seconds for a request's body to arrive, and for which a client may leave an answer unread; one "
        "more for each 8 KiB that passed.",
    )
    idle_timeout: float = Field(
        5,
        ge=0.1,
        le=3600,
        description="Seconds that a connection stays open between requests; behind a proxy, more than the proxy's.",
    )
    connection_limit: int = Field(
        4096,
        ge=8,
        le=1_000_000,
        description="Open connections per worker, and as many open WebSockets and event streams.",
    )
    connection_limit_address: int = Field(
        256,
        ge=1,
        le=1_000_000,
        description="Open connections of one client address (IPv6: of one /64), and as many streams; trusted proxies "
        "have no such limit.",
    )
    drain_seconds: float = Field(
        0,
        ge=0,
        le=600,
        description="Seconds for which a server serves on after SIGTERM, saying that it is not ready, before it stops "
        "listening. Ctrl-C does not wait.",
    )
    worker_timeout: int = Field(
        30, ge=5, le=600, description="Seconds after which a worker that does not respond is replaced."
    )


_PORTS: Final = {"http": 80, "https": 443}
_SQLITE: Final = "sqlite+aiosqlite:///"
_POSTGRESQL: Final = "postgresql+asyncpg://"
_SHORTEST_TRAIL: Final = 30
"""Days; a trigger in the database refuses to delete younger events of the audit trail."""
_SHORTEST_SECRET: Final = 32
"""Characters: it is stretched by no slow hash."""
PATHS: Final = ("data_dir", "keys_dir", "models_dir", "policies_dir", "speech_model_path")

Network = IPv4Network | IPv6Network


def _data_folder() -> Path:
    root = checkout()
    return root / "var" if root else user_folder("XDG_DATA_HOME", ".local/share")


def _keys_folder(data: Path) -> Path:
    root = checkout()
    return root / "keys" if root and data == root / "var" else data / "keys"


class Settings(SpeechSettings, TransportSettings):
    """The operator's choices (docs/contract 5.1)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    base_url: str = Field(
        "http://127.0.0.1:8000",
        description="The public address of this service: issuer, resource and base of every link; no trailing slash.",
    )
    listen: str = Field(
        "127.0.0.1:8000",
        description="host:port where serve listens, without --host and --port; port 0 takes a free one.",
    )
    services: list[Literal["assistant", "directory"]] = Field(
        ["assistant", "directory"], description="Which services this process offers, comma-separated."
    )
    database_url: str = Field(
        "",
        description="SQLAlchemy URL; empty: SQLite in the data folder. It ends with ?pooler=transaction where "
        "pgBouncer in transaction mode is between this service and PostgreSQL.",
    )
    database_connections: int = Field(
        16,
        ge=4,
        le=100,
        description="PostgreSQL connections that each worker opens at most; the server's max_connections is for all "
        "workers of all machines.",
    )
    redis_url: str = Field("", description="Redis for rate limits and live events that several machines share.")
    data_dir: Path = Field(
        default_factory=lambda: _data_folder(),
        description="Folder of the database, the outbox and the pepper. Unset: var in the checkout; without one "
        "$XDG_DATA_HOME/negotiator, by default ~/.local/share/negotiator.",
    )
    keys_in: Literal["files", "database"] = Field(
        "files", description="Where the signing keys are: files in keys_dir, or the database."
    )
    keys_secret: str = Field(
        "",
        description="Secret that encrypts the signing keys in the database, the same on all machines, at least 32 "
        "characters; made on first start if empty.",
        repr=False,
    )
    keys_dir: Path = Field(
        default_factory=lambda values: _keys_folder(values["data_dir"]),
        description="Signing keys, one PEM file each, mode 0600. Unset: keys in the checkout where data_dir is unset "
        "too, else keys in the data folder.",
    )
    secret: str = Field("", description="Pepper for codes, keys and cursors; made on first start if empty.", repr=False)
    ephemeral_ttl: int = Field(3600, ge=60, le=86400, description="Life of an anonymous agent's token, seconds.")
    token_ttl: int = Field(3600, ge=60, le=86400, description="Life of every other access token, seconds.")
    unclaimed_retention_days: int = Field(30, ge=1, description="Days an unclaimed agent is kept.")
    audit_retention_days: int = Field(
        400, ge=0, description="Days that an event of the audit trail is kept, at least 30; 0 keeps all. Erasures stay."
    )
    trusted_proxies: list[str] = Field(
        [], description="Networks whose X-Forwarded-For is trusted, comma-separated CIDR."
    )
    trusted_origins: list[str] = Field(
        [], description="Other origins whose pages may open sockets and use public MCP tools, comma-separated."
    )
    register_limit_anonymous: int = Field(
        60, ge=1, description="Anonymous registrations per hour and address; as many of OAuth clients."
    )
    register_limit_assertion: int = Field(600, ge=1, description="Registrations by assertion per hour and address.")
    refresh_ttl: int = Field(
        2_592_000,
        ge=600,
        description="Life of an unused refresh token, seconds; a grant that refresh tokens renew lives six times as "
        "long.",
    )
    dpop_nonce: bool = Field(False, description="Whether DPoP proofs need the server's nonce.")
    claim_failures_per_hour: int = Field(
        1000,
        ge=5,
        description="Wrong delegation codes per hour over all agents; beyond it wrong ones are 429, right ones pass.",
    )
    claim_failures_per_address: int = Field(
        60, ge=5, description="Wrong delegation codes per hour and address, charged first."
    )
    sign_in_limit_address: int = Field(
        300,
        ge=30,
        description="Passwords that may be tried per hour and address; a fifth of them for one account, or from one "
        "known device. Beyond as many for an account from all addresses together, tries are delayed.",
    )
    limit_rpm: int = Field(
        600,
        ge=1,
        description="Requests per minute and credential, a directory agent that the operator vetted included. Apart "
        "from these as many, but 600 at least, health checks per caller and security events per address, and five "
        "times as many utterances and reads of events.",
    )
    limit_burst: int = Field(0, ge=0, description="Requests that may come at once; 0 means the whole minute's quota.")
    limit_baseline_rpm: int = Field(120, ge=1, description="Requests per minute and address without a credential.")
    limit_directory_rpm: int = Field(
        30, ge=1, description="Reads of the directory per minute and address without a credential."
    )
    limit_fetch_rpm: int = Field(
        30,
        ge=1,
        description="Documents per minute that are fetched from one host named by clients, and for one client address.",
    )
    limit_unproven_rpm: int = Field(
        60,
        ge=1,
        description="Requests per minute of a directory agent that has proven nothing; one with a proven identity has "
        "twice as many.",
    )
    register_limit_directory: int = Field(
        5, ge=1, description="Registrations at the directory per hour and address; four times as many per day."
    )
    smtp_url: str = Field(
        "",
        description="smtps://user:password@host:port (TLS) or smtp:// (STARTTLS; a loopback host may lack it); "
        "empty: the outbox folder.",
        repr=False,
    )
    mail_from: str = Field("negotiator@localhost", description="Sender of the mails.")
    oidc_issuer: str = Field(
        "", description="Issuer identifier of the OpenID provider that users may sign in with; empty means none."
    )
    oidc_client_id: str = Field("", description="This service's client id at the OpenID provider.")
    oidc_client_secret: str = Field(
        "", description="This service's secret at the OpenID provider; empty for a public client.", repr=False
    )
    oidc_name: str = Field(
        "your organisation", max_length=60, description="Name of the provider on the sign-in button."
    )
    allow_loopback_fetch: bool = Field(
        False, description="Allow issuers on loopback over http, for development and tests."
    )
    advisor_url: str = Field(
        "", description="Base URL of an OpenAI-compatible endpoint that words plans, https://host/v1; empty means none."
    )
    advisor_key: str = Field("", description="Bearer key for the advisor, if it needs one.", repr=False)
    advisor_model: str = Field("", description="Name of the advisor's model.")
    embedding_url: str = Field(
        "", description="Base URL of an OpenAI-compatible endpoint for embeddings; empty: the built-in model."
    )
    embedding_key: str = Field("", description="Bearer key for the embedding endpoint, if it needs one.", repr=False)
    embedding_model: str = Field("", description="Name of the embedding model.")
    models_dir: Path | None = Field(None, description="Folder of built models; unset: inside the data folder.")
    backup_key: str = Field(
        "", description="Age key of backups, for backup, verify and restore; the server does not use it.", repr=False
    )
    metrics_token: str = Field(
        "", description="Bearer token for GET /metrics on the public port; empty: no metrics there.", repr=False
    )
    metrics_listen: str = Field(
        "", description="host:port where GET /metrics answers without a token; empty means none."
    )
    traces_url: str = Field(
        "", description="A collector's OTLP/HTTP URL, such as http://127.0.0.1:4318/v1/traces; empty: no traces."
    )
    traces_sample: float = Field(0.01, ge=0, le=1, description="Share of the requests that are traced, 0 to 1.")
    support_address: str = Field(
        "", description="E-mail address or https page for users' questions, shown on the pages for privacy and terms."
    )
    policies_dir: Path | None = Field(
        None, description="Folder with your privacy.txt and terms.txt; without one its page says what the program does."
    )
    log_format: Literal["console", "json"] = Field("console", description="Format of log lines.")

    @field_validator("services", "trusted_proxies", "trusted_origins", mode="before")
    @classmethod
    def _comma_separated(cls, value: Any) -> Any:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, value: list[str]) -> list[str]:
        for network in value:
            ip_network(network)
        return value

    @field_validator("trusted_origins")
    @classmethod
    def _are_origins(cls, value: list[str]) -> list[str]:
        return [_origin(each) if "://" in each else each for each in value]

    @field_validator("services")
    @classmethod
    def _at_least_one(cls, value: list[str]) -> list[str]:
        if not value:
            raise ValueError("names no service")
        return value

    @field_validator("keys_secret")
    @classmethod
    def _is_no_passphrase(cls, value: str) -> str:
        if 0 < len(value) < _SHORTEST_SECRET:
            raise ValueError(f"must have at least {_SHORTEST_SECRET} characters")
        return value

    @field_validator("audit_retention_days")
    @classmethod
    def _is_a_month_at_least(cls, value: int) -> int:
        if 0 < value < _SHORTEST_TRAIL:
            raise ValueError(f"must be 0 or at least {_SHORTEST_TRAIL}")
        return value

    @field_validator("base_url")
    @classmethod
    def _is_an_origin(cls, value: str) -> str:
        parts = urlsplit(value)
        plain = parts.scheme in {"http", "https"} and parts.hostname
        if not plain or parts.query or parts.fragment:
            raise ValueError("must be an http(s) URL without query and fragment")
        if value.endswith("/"):
            raise ValueError("must not end with a slash")
        if value != (canonical := _origin(value) + parts.path):
            raise ValueError(f"must be written as browsers send it: {canonical}")
        return value

    @field_validator("metrics_listen")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if value and not (host and port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise ValueError("must be host:port")
        return value

    @field_validator("listen")
    @classmethod
    def _is_an_own_address(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if not (host and port.isascii() and port.isdigit() and int(port) < 65536):
            raise ValueError("must be host:port")
        return value

    @field_validator("traces_url")
    @classmethod
    def _can_trace(cls, value: str) -> str:
        if value and not (find_spec("opentelemetry.sdk") and find_spec("opentelemetry.exporter")):
            raise ValueError("needs the extra: pip install 'negotiator[tracing]'")
        return value

    @field_validator("redis_url")
    @classmethod
    def _is_a_redis(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and parts.scheme not in {"redis", "rediss", "unix"}:
            raise ValueError("must start with redis://, rediss:// or unix://")
        _ = parts.port  # ValueError when it is none
        return value

    @field_validator("smtp_url")
    @classmethod
    def _is_a_mail_server(cls, value: str) -> str:
        parts = urlsplit(value)
        rest = parts.path.strip("/") + parts.query + parts.fragment
        if value and (parts.scheme not in {"smtp", "smtps"} or not parts.hostname or rest):
            raise ValueError("must be smtp://user:password@host:port or smtps://…")
        _ = parts.port  # ValueError when it is none
        return value

    @field_validator("mail_from")
    @classmethod
    def _is_one_sender(cls, value: str) -> str:
        found = [address.rpartition("@") for _, address in getaddresses([value])]
        if not value.isprintable() or [bool(local and host) for local, _, host in found] != [True]:
            raise ValueError("must be one e-mail address with @ and a domain, with or without a name")
        return value

    @field_validator("support_address")
    @classmethod
    def _can_be_reached(cls, value: str) -> str:
        is_page = value.startswith("https://") and urlsplit(value).hostname
        if value and not is_page and not (":" not in value and getaddresses([value])[0][1] == value and "@" in value):
            raise ValueError("must be an e-mail address or an https URL")
        return value

    @field_validator("policies_dir")
    @classmethod
    def _is_a_folder(cls, value: Path | None) -> Path | None:
        if value is not None and not value.is_dir():
            raise ValueError("must be a folder")
        return value

    @field_validator("advisor_url", "embedding_url", "traces_url")
    @classmethod
    def _is_an_http_url(cls, value: str) -> str:
        parts = urlsplit(value)
        plain = parts.scheme in {"http", "https"} and parts.hostname and not parts.username
        if value and (not plain or parts.query or parts.fragment):
            raise ValueError("must be an http(s) URL without credentials, query and fragment")
        return value

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        for name in ("advisor", "embedding"):
            if getattr(self, f"{name}_url") and not getattr(self, f"{name}_model"):
                raise ValueError(f"{name}_model: must be set when {name}_url is")
        return self

    @model_validator(mode="after")
    def _knows_its_provider(self) -> Self:
        if bool(self.oidc_issuer) != bool(self.oidc_client_id):
            raise ValueError("oidc_issuer: must be set together with oidc_client_id")
        parts = urlsplit(self.oidc_issuer)
        safe = parts.scheme == "https" or (parts.scheme == "http" and self.allow_loopback_fetch)
        if self.oidc_issuer and not (safe and parts.hostname and not parts.query + parts.fragment):
            raise ValueError("oidc_issuer: must be an https URL without query and fragment")
        return self

    @model_validator(mode="after")
    def _has_a_database(self) -> Self:
        if not self.database_url:
            path = (self.data_dir / "negotiator.db").absolute()
            object.__setattr__(self, "database_url", f"{_SQLITE}{path}")
        if not self.database_url.startswith((_SQLITE, _POSTGRESQL)):
            raise ValueError("database_url: must start with sqlite+aiosqlite:/// or postgresql+asyncpg://")
        if "pooler=" in self.database_url and not self.redis_url:
            raise ValueError(
                "database_url: pooler needs redis_url, since live events by PostgreSQL do not pass a pooler"
            )
        return self

    @property
    def level_rates(self) -> tuple[int, int, int]:
        """Requests per minute of the directory's agents: unproven, proven, vetted."""
        return self.limit_unproven_rpm, 2 * self.limit_unproven_rpm, self.limit_rpm

    @property
    def register_limit_directory_daily(self) -> int:
        """Registrations at the directory per day and address."""
        return 4 * self.register_limit_directory

    @property
    def pepper_file(self) -> Path:
        """The file of the pepper, which counts while `secret` is empty."""
        return self.data_dir / "secret"

    @property
    def keys_secret_file(self) -> Path:
        """The file of the secret that encrypts signing keys, which counts while `keys_secret` is empty."""
        return self.data_dir / "keys-secret"

    @property
    def outbox_folder(self) -> Path:
        """The folder of the mails that were not sent."""
        return self.data_dir / "outbox"

    @property
    def models_folder(self) -> Path:
        """The folder of built and trained models."""
        return self.models_dir or self.data_dir / "models"

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """The origin of `base_url` and the trusted ones: their pages may open sockets and use public MCP tools."""
        return (_origin(self.base_url), *self.trusted_origins)

    @property
    def proxies(self) -> tuple[Network, ...]:
        """The networks whose forwarded headers are trusted."""
        return tuple(ip_network(network) for network in self.trusted_proxies)


def _origin(url: str) -> str:
    """The origin of a URL as browsers send it (RFC 6454 §6.2): lower case, A-labels, no default port."""
    parts = urlsplit(url)
    host = ascii_host(parts.hostname or "")
    with suppress(ValueError):
        host = str(ip_address(host))
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"


def find_sources() -> SettingsSources:
    """What this process's variables and settings files give."""
    return read_sources(Settings.model_fields, find_files(), own_variables())


def load(sources: SettingsSources | None = None, /, **overrides: Any) -> Settings:
    """Settings from the sources, by default this process's; raises `SettingsError` that names the first fault."""
    given = (find_sources() if sources is None else sources).given
    values = {name: _absolute(name, each) for name, each in given.items()}
    try:
        return Settings(**{**values, **overrides})
    except ValidationError as invalid:
        fault = invalid.errors(include_url=False)[0]
        message = fault["msg"].removeprefix("Value error, ")
        name = str(fault["loc"][0]) if fault["loc"] else ""
        if not name:
            name, _, message = message.partition(": ")
        place = given[name].place if name in given else f"{ENV_PREFIX}{name.upper()}"
        raise SettingsError(f"{place}: {message}") from None


def _absolute(name: str, setting: GivenSetting) -> Any:
    """The value, a relative path made absolute from the folder of what names it."""
    value, folder = setting.value, setting.folder
    if not isinstance(value, str) or not value:
        return value
    if name in PATHS:
        return folder / Path(value).expanduser()
    if name == "database_url" and value.startswith(_SQLITE):
        return f"{_SQLITE}{folder / value.removeprefix(_SQLITE)}"
    return value
