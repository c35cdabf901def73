"""A migrated database, settings, an application, clients, an identity provider."""

import asyncio
import gc
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from argon2 import PasswordHasher
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from starlette.applications import Starlette

from negotiator.agents.delegation import Delegations
from negotiator.base import values
from negotiator.compose.app import create_app
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.config.settings_files import CONFIG_VARIABLE
from negotiator.keys import keyring as keys
from negotiator.store import waiting
from negotiator.store.migrate import migrate
from negotiator.store.sqlite import SqliteStore
from negotiator.store.statement import Transaction
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.helpers import lane
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.form_browser import BASE, PASSWORD, FormBrowser
from tests.helpers.openapi_transport import OpenApiCheckingTransport
from tests.helpers.opened_store import opened_store

PEPPER = "a pepper that only the tests know"
MODELS = Path(tempfile.gettempdir(), f"negotiator-models-{os.getuid()}")
"""Built models, once for all tests of this machine: building takes seconds, and the name says what was built."""

hypothesis_settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
hypothesis_settings.load_profile("house")

Change = Callable[[Callable[[Transaction], Any]], Awaitable[Any]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--quick`: the lane of `make test`."""
    parser.addoption("--quick", action="store_true", help="leave the long tests out, try a part of the examples")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the lane before a test file is read."""
    lane.choose(quick=bool(config.getoption("quick")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the quick lane the long tests are left out, and Hypothesis tries half of the examples."""
    if lane.is_quick():
        left_out = [item for item in items if lane.is_left_out(item)]
        items[:] = [item for item in items if not lane.is_left_out(item)]
        config.hook.pytest_deselected(items=left_out)
        halved = {getattr(item, "obj", None): item for item in items}
        for item in halved.values():
            lane.halve_examples(item)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector: what is loaded stays, and walking it took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Nothing is left out in CI."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"left out, in CI: {report.longrepr}"
    return report


class Clock:
    """The time, as the tests want it; milliseconds."""

    def __init__(self) -> None:
        self.at = 1_800_000_000_000

    def __call__(self) -> int:
        return self.at

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.at += int(seconds * 1000)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that only moves when told; everything but rate limits reads it."""
    fixed = Clock()
    monkeypatch.setattr(values, "now", fixed)
    return fixed


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database of the newest schema, to copy."""
    path = tmp_path_factory.mktemp("schema") / "negotiator.db"
    asyncio.run(migrate(f"sqlite+aiosqlite:///{path}"))
    return path


@pytest_asyncio.fixture
async def store(tmp_path: Path, migrated: Path) -> AsyncGenerator[SqliteStore]:
    """A store over an empty database, `store.db`."""
    path = tmp_path / "store.db"
    path.write_bytes(migrated.read_bytes())
    opened = SqliteStore(f"sqlite+aiosqlite:///{path}")
    await opened.start()
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def signing_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of signing keys for all tests."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Neither the settings files of the machine apply nor the servers that its user runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CONFIG_VARIABLE, os.devnull)
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _each_key_checked_once() -> Generator[None]:
    """The same few key files are read by every application; what was a sound key the first time still is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "load_pem_private_key", cache(load_pem_private_key))
        yield


@pytest.fixture(scope="session", autouse=True)
def _a_slow_machine_ends_no_request() -> Generator[None]:
    """The client's own five seconds say how fast it is; a minute says that it hangs."""
    bound = import_module("httpx2._config").DEFAULT_TIMEOUT_CONFIG
    with pytest.MonkeyPatch.context() as patch:
        for part in ("connect", "read", "write", "pool"):
            patch.setattr(bound, part, 60.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _a_slow_machine_refuses_no_change() -> Generator[None]:
    """The tests share the machine with each other; the bound of a second has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "LONGEST_WAIT", 60.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def shipped_hasher() -> Generator[PasswordHasher]:
    """Hundreds of tests sign in with hashes that cost little; this is the hasher that servers have."""
    with pytest.MonkeyPatch.context() as patch:
        shipped: PasswordHasher = vars(user_queries)["_hasher"]
        patch.setattr(user_queries, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield shipped


@pytest.fixture
def costly_passwords(shipped_hasher: PasswordHasher, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Passwords cost what they cost on a server, those of accounts that do not exist too."""
    monkeypatch.setattr(user_queries, "_hasher", shipped_hasher)
    no_password: Any = vars(user_queries)["_no_password"]
    no_password.cache_clear()
    yield
    no_password.cache_clear()


@pytest.fixture
def settings(tmp_path: Path, migrated: Path, signing_keys: Path) -> Settings:
    """Settings over a fresh database, with limits out of the way."""
    shutil.copy(migrated, tmp_path / "negotiator.db")
    return make_settings(tmp_path, signing_keys)


def make_settings(data_dir: Path, keys_dir: Path, **overrides: Any) -> Settings:
    """Settings that no file and no variable of the machine can change."""
    plain: dict[str, Any] = {
        "base_url": BASE,
        "data_dir": data_dir,
        "keys_dir": keys_dir,
        "secret": PEPPER,
        "models_dir": MODELS,
        "limit_rpm": 1_000_000,
        "limit_baseline_rpm": 1_000_000,
        "register_limit_anonymous": 1_000_000,
        "register_limit_assertion": 1_000_000,
        "register_limit_directory": 1_000_000,
        "limit_directory_rpm": 1_000_000,
        "limit_unproven_rpm": 1_000_000,
        "sign_in_limit_address": 1_000_000,
        "limit_fetch_rpm": 1_000_000,
        "claim_failures_per_address": 1_000_000,
    }
    return Settings(**{**plain, **overrides})


@asynccontextmanager
async def running(settings: Settings) -> AsyncGenerator[Starlette]:
    """The application of these settings between its start and its end."""
    application = create_app(settings)
    async with application.router.lifespan_context(application):
        yield application


def connect(application: Starlette, address: str = "203.0.113.7") -> httpx2.AsyncClient:
    """A client of the application that comes from this address; what it is answered has to be as described."""
    transport = OpenApiCheckingTransport(application, (address, 50_000))
    return httpx2.AsyncClient(transport=transport, base_url=BASE)


@pytest_asyncio.fixture
async def application(settings: Settings) -> AsyncGenerator[Starlette]:
    """A running application."""
    async with running(settings) as started:
        yield started


@pytest_asyncio.fixture
async def client(application: Starlette) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of the running application, with no credential."""
    async with connect(application) as connected:
        yield connected


@pytest_asyncio.fixture
async def change(application: Starlette, settings: Settings) -> AsyncGenerator[Change]:
    """Runs a unit on the application's database, as the operator's commands do beside a running server."""
    del application
    async with opened_store(settings.database_url) as store:
        yield store.write


@pytest_asyncio.fixture
async def idp(change: Change) -> FakeIssuer:
    """A trusted identity provider, with one client, `corp-agent`."""
    provider = FakeIssuer(BASE)
    trusted = provider.issuer(clients=frozenset({"corp-agent"}))
    await change(lambda tx: issuer_queries.add(tx, trusted, own=BASE, allow_loopback=False))
    return provider


Register = Callable[..., Awaitable[dict[str, Any]]]


@pytest_asyncio.fixture
async def register(client: httpx2.AsyncClient) -> Register:
    """Registers an anonymous agent and answers the registration result."""

    async def call(name: str = "tester") -> dict[str, Any]:
        body = {"agent_name": name, "identity_type": "anonymous"}
        answer = await client.post("/api/agent/register", json=body)
        assert answer.status_code == 201, answer.text
        result: dict[str, Any] = answer.json()
        return result

    return call


Mint = Callable[..., Awaitable[tuple[str, str]]]


@pytest_asyncio.fixture
async def mint(change: Change, settings: Settings) -> Mint:
    """Makes a delegation code for a user, made when missing; answers the user's id and the code."""
    delegations: Delegations = build_application(settings).delegations

    async def call(email: str = "ada@example.com", **options: Any) -> tuple[str, str]:
        def unit(tx: Transaction) -> tuple[str, str]:
            found = user_queries.by_email(tx, email)
            user_id = found.id if found else user_queries.add(tx, email, actor="operator")
            scopes = options.pop("scopes", ["negotiations:read", "negotiations:write"])
            return user_id, delegations.mint(tx, user_id, scopes, **options).code

        minted: tuple[str, str] = await change(unit)
        return minted

    return call


Browsers = Callable[[], FormBrowser]


@pytest_asyncio.fixture
async def browsers(application: Starlette) -> AsyncGenerator[Browsers]:
    """Makes browsers that know nothing of each other."""
    opened: list[httpx2.AsyncClient] = []

    def make() -> FormBrowser:
        opened.append(connect(application))
        return FormBrowser(opened[-1])

    yield make
    for client in opened:
        await client.aclose()


Account = Callable[..., Awaitable[str]]


@pytest_asyncio.fixture
async def account(change: Change) -> Account:
    """Makes accounts with a password; answers the user's id."""

    async def call(email: str = "ada@example.com", name: str = "") -> str:
        hashed = user_queries.hash_password(PASSWORD)

        def unit(tx: Transaction) -> str:
            return user_queries.add(tx, email, name=name, password_hash=hashed, actor="operator")

        made: str = await change(unit)
        return made

    return call


def bearer(result: dict[str, Any]) -> dict[str, str]:
    """The header that presents the token of a registration or claim."""
    return {"Authorization": f"Bearer {result['access_token']}"}
