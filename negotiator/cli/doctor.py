"""`negotiator doctor`: says what of an installation works, what does not, and what to do about it."""

import asyncio
import os
import resource
import shutil
import stat
import sys
import textwrap
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from email.utils import parsedate_to_datetime
from http import cookies
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import httpx2
import typer
from sqlalchemy import text as sql_text
from sqlalchemy.engine import make_url
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from negotiator import __version__
from negotiator.advice.advisor import WordingRequest
from negotiator.advice.advisor_selection import build_advisor
from negotiator.agents.mail import Mailer
from negotiator.base.errors import Refusal, Unavailable
from negotiator.base.values import escape_invisible
from negotiator.cli.database import is_missing
from negotiator.cli.output import JsonOption, async_command, counted, print_result, reason_of
from negotiator.cli.running_servers import command_sources, running_servers
from negotiator.compose.assistant import build_embedder
from negotiator.compose.shared_secrets import (
    difference,
    fault_of,
    is_loopback,
    load_pepper,
    missing_secret,
    open_keyring,
)
from negotiator.config.settings import Settings, load
from negotiator.config.settings_files import SettingsError, SettingsSources, shown
from negotiator.discovery.health_routes import HEALTH_PATH
from negotiator.discovery.probe_routes import PROBE_WORD, ArrivedRequest, probe_path
from negotiator.http.connections import TransportBounds
from negotiator.http.guard import forwarded_hops, is_address
from negotiator.keys import keyring as keys
from negotiator.keys.keyring import ALGORITHMS, FolderKeyring, Keyring, UnusableKeyError
from negotiator.runtime import telemetry
from negotiator.runtime.redis_client import redis_client
from negotiator.store import fingerprints
from negotiator.store.schema_upgrades import read_revisions
from negotiator.store.statement import Query
from negotiator.store.store import Store, make_store
from negotiator.teleprompter.speech.recognizer_factory import make_recognizer, recognizer_state

State = Literal["ok", "warning", "fault"]
_SECONDS: Final = 4.5
"""For a request; less than a whole check has."""
_LITTLE: Final = 1 << 30
_TOO_LITTLE: Final = 100 << 20
"""Bytes of free disk below which the doctor warns, and below which it is a fault."""
_APART: Final = 5.0
_TOO_FAR_APART: Final = 60.0
"""Seconds between two clocks from which on the doctor warns, and from which on nothing is deleted."""
_COOKIE_FIXES: Final = {(3, 11): 10, (3, 12): 6}
"""Per minor version of CPython, the first release without CVE-2024-7592 (quadratic time in `http.cookies`)."""
_COOKIE_FIX: Final = "_unquote_sub"
"""What the fix added to `http.cookies`."""
_WELL: Final = ("ok", "off", "ready", "idle", "loading")
"""How the health of a part begins that needs nothing done."""
_ALLOWED: Final = Query(
    sql_text(
        "select cast(current_setting('max_connections') as int)"
        " - cast(current_setting('superuser_reserved_connections') as int)"
    ),
    lambda row: int(row[0]),
)
"""Connections that a PostgreSQL server takes from users like ours."""
_SERVE_MAKES: Final = "negotiator serve makes them."
_LINE: Final = "We would sign this week."


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `advice` says what to do where something is not `ok`."""

    name: str
    state: State
    text: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """What is checked."""

    settings: Settings
    sources: SettingsSources
    mail_to: str = ""
    machines: int = 1
    workers: int = 0
    """Of each machine; 0 means as many as the server that runs here has."""


async def check_settings(patient: Patient) -> list[Finding]:
    """The settings that each file gives, and the variables."""
    sources = patient.sources
    places = [each.place for each in sources.given.values()]
    found: list[Finding] = []
    for path in sources.files:
        begin = f"{shown(path)}, line "
        of_file = [place for place in places if place.startswith(begin)]
        places = [place for place in places if place not in of_file]
        names = sorted(place.rpartition(": ")[2] for place in of_file)
        text = f"{path}: {', '.join(names) or 'nothing that counts'}"
        found.append(Finding("settings", "ok", text))
    if places:
        found.append(Finding("settings", "ok", f"variables: {', '.join(sorted(places))}"))
    if not found:
        text = "no file and no variable: all settings have their defaults"
        found.append(Finding("settings", "ok", text))
    found += [
        Finding("settings", "warning", f"{path} is not readable by this user", "Run this as another.")
        for path in sources.unreadable
    ]
    return found


async def check_interpreter(_patient: Patient) -> list[Finding]:
    """Python's version, and whether it lacks fixes of its security."""
    text = f"Python {sys.version.split()[0]}, Negotiator {__version__}"
    if not (fixed := needed_python(sys.version_info[:3])):
        return [Finding("python", "ok", text)]
    text = f"{text}; this Python lacks security fixes, such as that of CVE-2024-7592"
    advice = (
        f"Install your distribution's updates, or Python {fixed} or newer, and install Negotiator again with it. "
        "Negotiator does not use the code of that CVE."
    )
    return [Finding("python", "warning", text, advice)]


def needed_python(version: tuple[int, int, int]) -> str:
    """The release that fixes CVE-2024-7592 where this Python has it; else empty.

    Distributions fix it without another version, so the library itself is looked at.
    """
    major, minor, micro = version
    fixed = _COOKIE_FIXES.get((major, minor), 0)
    if micro >= fixed or hasattr(cookies, _COOKIE_FIX):
        return ""
    return f"{major}.{minor}.{fixed}"


async def check_folders(patient: Patient) -> list[Finding]:
    """Owner and rights of the data folder, the database file and the keys folder."""
    settings = patient.settings
    found: list[Finding] = []
    folders = [("data", settings.data_dir)]
    if settings.keys_in == "files":
        folders.append(("keys", settings.keys_dir))
    for name, folder in folders:
        if not folder.exists():
            parent = _existing(folder)
            able = os.access(parent, os.W_OK | os.X_OK)
            text = f"{folder} does not exist yet"
            found.append(
                Finding(name, "warning", text, "negotiator serve makes it.")
                if able
                else Finding(name, "fault", f"{text}; {parent} is not writable", "Make it.")
            )
            continue
        found.append(_rights(name, folder))
    database = settings.data_dir / "negotiator.db"
    found += [
        Finding("data", "fault", f"{path} may be read by other users", f"chmod 600 {path}")
        for path in (database, settings.pepper_file, settings.keys_secret_file)
        if path.exists() and path.stat().st_mode & 0o077
    ]
    return found


def _rights(name: str, folder: Path) -> Finding:
    if not folder.is_dir():
        return Finding(name, "fault", f"{folder} is not a folder", "Name another folder.")
    status = folder.stat()
    if status.st_uid not in {os.geteuid(), 0} or (os.geteuid() == 0 and status.st_uid != 0):
        text = f"{folder} belongs to user {status.st_uid}, you are {os.geteuid()}"
        return Finding(name, "warning", text, "Run negotiator as the user of the server.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(name, "fault", f"{folder} is not writable", f"chmod u+rwx {folder}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Finding(name, "fault", f"other users may write in {folder}", f"chmod go-w {folder}")
    return Finding(name, "ok", str(folder))


async def check_disk(patient: Patient) -> list[Finding]:
    """Free space where the data is."""
    folder = _existing(patient.settings.data_dir)
    free = shutil.disk_usage(folder).free
    text = f"{free / (1 << 30):.1f} GiB free at {folder}"
    state: State = "ok" if free > _LITTLE else "warning" if free > _TOO_LITTLE else "fault"
    return [Finding("disk", state, text, "" if state == "ok" else "Free some space.")]


async def check_descriptors(patient: Patient) -> list[Finding]:
    """The limit of open files, to which each worker raises its soft limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else 1 << 20
    bounds = TransportBounds.of(patient.settings)
    text = f"at most {most} open files (soft limit {soft}, which the server raises)"
    if bounds.within(most) != bounds:
        text = f"{text} are too few for {bounds.connections} connections per worker"
        return [Finding("files", "warning", text, "Raise the hard limit (LimitNOFILE=, ulimit -Hn).")]
    return [Finding("files", "ok", text)]


async def check_keys(patient: Patient) -> list[Finding]:
    """The files of the signing keys: present, sound, and readable by their owner alone."""
    if patient.settings.keys_in == "database":
        return []
    folder = patient.settings.keys_dir
    files = sorted(folder.glob("*.pem")) if folder.is_dir() else []
    if not files:
        return [Finding("signing", "warning", "no signing keys yet", _SERVE_MAKES)]
    found = [
        Finding("signing", "fault", f"{path} may be read by other users", f"chmod 600 {path}")
        for path in files
        if path.stat().st_mode & 0o077
    ]
    try:
        await asyncio.to_thread(keys.check_keys, folder)
        ring = await asyncio.to_thread(FolderKeyring, folder)
    except (UnusableKeyError, OSError) as fault:
        return [*found, Finding("signing", "fault", str(fault), "Restore the file from a backup.")]
    return found or [_usable(ring)]


def _usable(ring: Keyring) -> Finding:
    listed = ", ".join(f"{name} {ring.signing(name).kid}" for name in ALGORITHMS)
    return Finding("signing", "ok", f"{len(ring.all())} keys; in use: {listed}")


async def check_database(patient: Patient) -> list[Finding]:
    """Whether the database is there and has this version's schema, and its clock."""
    url = patient.settings.database_url
    name = make_url(url).render_as_string()
    if is_missing(url):
        return [Finding("database", "warning", f"{name} does not exist yet", "negotiator serve makes it.")]
    try:
        found, newest = await asyncio.to_thread(_revisions, url)
    except Exception as fault:  # whatever the driver raises means that it cannot be used
        advice = "Start it, or mend NEGOTIATOR_DATABASE_URL."
        return [Finding("database", "fault", f"{name}: {reason_of(fault)}", advice)]
    if found is None:
        return [Finding("database", "warning", f"{name} is empty", "negotiator migrate fills it.")]
    state: State = "ok" if found == newest else "warning"
    advice = "" if state == "ok" else "negotiator migrate; a newer schema is from a newer version."
    findings = [Finding("database", state, f"{name}, schema {found} of {newest}", advice)]
    if not url.startswith("sqlite"):
        async with _opened(url) as store:
            findings.append(_clock("the database's", await store.clock() / 1000 - time.time()))
            findings.append(connections_needed(patient, await store.read(lambda tx: tx.one(_ALLOWED)) or 0))
    if found == newest:
        findings += await _shared(patient.settings)
    return findings


async def _shared(settings: Settings) -> list[Finding]:
    """Whether pepper, signing keys and base URL are those of the machines that share the database."""
    in_database = settings.keys_in == "database"
    found: list[Finding] = []
    async with _opened(settings.database_url) as store:
        recorded = await store.read(fingerprints.recorded)
        other_base = await store.read(lambda tx: difference(tx, settings))
        if in_database and recorded.keys().isdisjoint(ALGORITHMS):
            return [Finding("signing", "warning", "no signing keys yet", _SERVE_MAKES)]
        fault = missing_secret(settings, recorded)
        if not recorded or not (fault or in_database or _has_key_files(settings)):
            return []
        try:
            if not fault:
                ring = await open_keyring(settings, store)
                fault = fault_of(settings, load_pepper(settings), ring, recorded)
                found += [_usable(ring)] if in_database else []
        except Unavailable as refusal:
            fault = refusal.description
        except UnusableKeyError as unusable:
            return [Finding("signing", "fault", str(unusable), "Restore a backup of the database.")]
    if fault:
        text, _, advice = fault.partition(": ")
        found.append(Finding("secrets", "fault", text, f"{advice[0].upper()}{advice[1:]}"))
    else:
        found.append(Finding("secrets", "ok", "pepper and signing keys are those of the database"))
    if other_base:
        advice = "Give every machine the same NEGOTIATOR_BASE_URL."
        found.append(Finding("base", "warning", other_base, advice))
    return found


def _has_key_files(settings: Settings) -> bool:
    return settings.keys_dir.is_dir() and any(settings.keys_dir.glob("*.pem"))


def connections_needed(patient: Patient, allowed: int) -> Finding:
    """Whether PostgreSQL takes as many connections as the workers of all machines may open."""
    base = patient.settings.base_url
    here = (server.workers for server in running_servers() if server.base_url == base)
    workers, machines = patient.workers or max(here, default=1), patient.machines
    # Without Redis, one more listens for events.
    each = patient.settings.database_connections + (not patient.settings.redis_url)
    most = workers * machines * each
    text = (
        f"{counted(workers, 'workers')} × {each} connections × {counted(machines, 'machines')} = {most},"
        f" of {allowed} that PostgreSQL allows"
    )
    if most < allowed:
        return Finding("connections", "ok", text)
    advice = (
        "Raise max_connections of PostgreSQL, lower NEGOTIATOR_DATABASE_CONNECTIONS, or have fewer workers; "
        "--machines and --workers say how many there are."
    )
    return Finding("connections", "warning", text, advice)


@asynccontextmanager
async def _opened(url: str) -> AsyncGenerator[Store]:
    store = make_store(url)
    await store.start()
    try:
        yield store
    finally:
        await store.close()


def _revisions(url: str) -> tuple[str | None, str | None]:
    return asyncio.run(read_revisions(url))


def _clock(whose: str, apart: float) -> Finding:
    text = f"this clock and {whose} are {abs(apart):.0f} s apart"
    if abs(apart) < _APART:
        return Finding("clock", "ok", text)
    state: State = "warning" if abs(apart) < _TOO_FAR_APART else "fault"
    return Finding("clock", state, text, "Set both by NTP (timedatectl set-ntp true).")


async def check_redis(patient: Patient) -> list[Finding]:
    """Whether Redis answers."""
    url = patient.settings.redis_url
    if not url:
        return [Finding("redis", "ok", "not set up: one machine does not need it")]
    from redis.exceptions import RedisError  # imported here: most services have no Redis

    client = redis_client(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
    where = urlsplit(url).hostname or urlsplit(url).path
    try:
        await client.ping()
    except (RedisError, OSError) as fault:
        return [Finding("redis", "fault", f"{where}: {reason_of(fault)}", "Mend NEGOTIATOR_REDIS_URL.")]
    finally:
        await client.aclose()
    return [Finding("redis", "ok", f"{where} answers")]


async def check_mail(patient: Patient) -> list[Finding]:
    """Connect and sign in to the mail server; with `mail_to`, send one mail."""
    settings = patient.settings
    host = urlsplit(settings.smtp_url).hostname
    if not host:
        text = f"not set up: mails are written to {settings.data_dir / 'outbox'}"
        state: State = "fault" if patient.mail_to else "warning"
        return [Finding("mail", state, text, "Set NEGOTIATOR_SMTP_URL.")]
    mailer = Mailer(settings.smtp_url, sender=settings.mail_from, outbox=settings.outbox_folder)
    if patient.mail_to:
        words = f"This is a trial from {settings.base_url}. Mail works.\n"
        failure = (await mailer.send(patient.mail_to, "A trial mail", words)).failure
        done = f"{host} took a mail to {patient.mail_to}"
    else:
        failure = await mailer.try_connect()
        done = f"{host} takes mail from {settings.mail_from}"
    if failure:
        wrong = "MAIL_FROM" if "NEGOTIATOR_MAIL_FROM" in failure else "SMTP_URL"
        text = f"{host}: {failure.rstrip('.')}"
        return [Finding("mail", "fault", text, f"Mend NEGOTIATOR_{wrong}.")]
    return [Finding("mail", "ok", done)]


async def check_advisor(patient: Patient) -> list[Finding]:
    """Ask the language model for one line."""
    settings = patient.settings
    if not settings.advisor_url:
        return [Finding("advisor", "ok", "not set up: advice is worded by Negotiator itself")]
    where = f"{settings.advisor_model} at {urlsplit(settings.advisor_url).hostname}"
    advisor = build_advisor(settings.advisor_url, key=settings.advisor_key, model=settings.advisor_model)
    try:
        worded = await advisor.word(WordingRequest({"/line": _LINE}, "A trial", seconds=_SECONDS))
        works, _, fault = advisor.check().partition(": ")
    finally:
        await advisor.close()
    if works != "ok":
        return [Finding("advisor", "fault", f"{where}: {fault}", "Mend NEGOTIATOR_ADVISOR_URL, _KEY or _MODEL.")]
    if worded.by == "engine":
        text, advice = f"{where} answers, but unusably", "Try another model."
        return [Finding("advisor", "warning", text, advice)]
    return [Finding("advisor", "ok", f"{where} answers")]


async def check_embedding(patient: Patient) -> list[Finding]:
    """Which model finds memories by their meaning; a remote one is asked for a vector."""
    embedder = build_embedder(patient.settings)
    try:
        if patient.settings.embedding_url:
            await embedder.embed([_LINE])
    except Refusal as refusal:
        text = refusal.detail or refusal.description
        return [Finding("embedding", "fault", f"{embedder.model}: {text}", "Mend NEGOTIATOR_EMBEDDING_URL.")]
    finally:
        await embedder.close()
    if embedder.lesser:
        text = f"{embedder.model}, which finds words, not meaning: {embedder.lesser}"
        return [Finding("embedding", "warning", text, "Install the extra: negotiator[embedding].")]
    return [Finding("embedding", "ok", embedder.model)]


async def check_speech(patient: Patient) -> list[Finding]:
    """Which recogniser hears calls."""
    recognizer = make_recognizer(patient.settings)
    try:
        state, _, text = recognizer_state(patient.settings, recognizer).partition(": ")
    finally:
        await recognizer.close()
    if state != "ok":
        return [Finding("speech", "warning", text, "Install the extra: negotiator[speech].")]
    return [Finding("speech", "ok", text)]


async def check_address(patient: Patient) -> list[Finding]:
    """Ask the service at its base URL, through whatever proxies are in front: health, clock, and what arrives."""
    settings = patient.settings
    base = settings.base_url
    found = _transport_security(base)
    async with httpx2.AsyncClient(base_url=base, timeout=_SECONDS) as http:
        try:
            asked = time.time()
            answer = await http.get(HEALTH_PATH)
            body: dict[str, Any] = answer.json()
            version, checks = body["version"], body["checks"]
        except httpx2.TransportError as fault:
            return [*found, _unreachable(base, fault)]
        except (ValueError, KeyError, TypeError):
            text = f"{base} answers, but is not Negotiator"
            advice = "Another program has this address; look at NEGOTIATOR_BASE_URL and the proxy."
            return [*found, Finding("address", "fault", text, advice)]
        found.append(_version(base, str(version)))
        bad = {part: said for part, said in checks.items() if not str(said).startswith(_WELL)}
        found += [
            Finding("health", "fault" if said == "down" else "warning", f"{part}: {said}", "See its log.")
            for part, said in bad.items()
        ]
        if date := answer.headers.get("date"):
            apart = parsedate_to_datetime(date).timestamp() - asked
            found.append(_clock(f"the one at {base}", apart if abs(apart) > 2 else 0.0))
        return [*found, *await _through_proxies(settings, http)]


def _transport_security(base: str) -> list[Finding]:
    parts = urlsplit(base)
    if parts.scheme == "https" or is_loopback(parts.hostname or ""):
        return []
    text = f"{base} is not on this machine and has no TLS: passwords and tokens can be read on the way"
    return [Finding("https", "warning", text, "Put a proxy with TLS in front and name its https address.")]


def _unreachable(base: str, fault: Exception) -> Finding:
    text = f"{base} is not reachable: {reason_of(fault) or type(fault).__name__}"
    own = any(server.base_url == base for server in running_servers())
    if own or not is_loopback(urlsplit(base).hostname or ""):
        advice = "Look at DNS, the firewall, the proxy and its certificate, and whether the server runs."
        return Finding("address", "fault", text, advice)
    return Finding("address", "warning", text, "No server runs: negotiator serve starts one.")


def _version(base: str, version: str) -> Finding:
    if version != __version__:
        text = f"{base} runs version {version}, this is {__version__}"
        return Finding("address", "warning", text, "Restart the server after an update.")
    return Finding("address", "ok", f"{base} answers")


async def _through_proxies(settings: Settings, http: httpx2.AsyncClient) -> list[Finding]:
    """What of a request arrives: `Host`, `X-Forwarded-For`, WebSockets."""
    if not settings.secret and not os.access(settings.data_dir / "secret", os.R_OK):
        text = "what proxies pass on is not checked: the service's secret is not readable"
        return [Finding("proxy", "warning", text, "Run this as the user of the server.")]
    pepper = load_pepper(settings)
    answer = await http.get(probe_path(pepper))
    if answer.status_code != 200:
        text = f"{settings.base_url} is served with another secret"
        return [Finding("proxy", "warning", text, "Run this with the settings of the server.")]
    return [*passed_on(settings.base_url, answer.json()), await _socket(settings.base_url, probe_path(pepper))]


def passed_on(base: str, arrived: ArrivedRequest) -> list[Finding]:
    """What is wrong with the headers of a request that went through the proxy in front of `base`."""
    found: list[Finding] = []
    named = urlsplit(base).netloc
    if arrived["host"] != named:
        text = f"the proxy passes Host {arrived['host']} in place of {named}"
        advice = "Pass Host on (nginx: proxy_set_header Host $http_host;)."
        found.append(Finding("proxy", "warning", text, advice))
    peer = arrived["peer"]
    if arrived["forwarded"] and not arrived["is_trusted"]:
        text = f"the proxy at {peer} is not trusted: all clients share its rate limit"
        advice = f"Set NEGOTIATOR_TRUSTED_PROXIES to its network, such as {peer}/32."
        found.append(Finding("proxy", "warning", text, advice))
    elif not arrived["forwarded"] and (arrived["is_trusted"] or base.startswith("https:")):
        text = "the proxy does not send X-Forwarded-For: all clients share its rate limit"
        advice = "Send it (nginx: proxy_set_header X-Forwarded-For $remote_addr;), in place of what the client sent."
        found.append(Finding("proxy", "warning", text, advice))
    elif unread := [hop for hop in forwarded_hops(arrived["forwarded"]) if not is_address(hop)]:
        text = f"the proxy sends X-Forwarded-For: {unread[0]}, which is no address: all clients share its rate limit"
        advice = "Send the client's address, with or without its port (nginx: $remote_addr)."
        found.append(Finding("proxy", "warning", text, advice))
    return found


async def _socket(base: str, path: str) -> Finding:
    url = f"ws{base.removeprefix('http')}{path}"
    try:
        async with connect(url, open_timeout=_SECONDS, close_timeout=1) as socket:
            word = await asyncio.wait_for(socket.recv(), _SECONDS)
    except (OSError, TimeoutError, WebSocketException) as fault:
        text = f"WebSockets do not pass: {reason_of(fault)}"
        advice = "Let the proxy pass Upgrade and Connection (nginx: proxy_http_version 1.1 and both headers)."
        return Finding("sockets", "warning", text, advice)
    if word != PROBE_WORD:
        return Finding("sockets", "warning", "another program answers WebSockets", "Look at the proxy.")
    return Finding("sockets", "ok", "WebSockets pass")


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())


CHECKS: Final[Sequence[Any]] = (
    check_settings,
    check_interpreter,
    check_folders,
    check_disk,
    check_descriptors,
    check_keys,
    check_database,
    check_redis,
    check_address,
    check_mail,
    check_advisor,
    check_embedding,
    check_speech,
)


SECONDS: Final = 5.0
"""For each check; all run at once."""
_NAME_COLUMN: Final = 9
_TEXT_COLUMN: Final = 21


@async_command
async def doctor(
    mail_to: Annotated[str, typer.Option(metavar="EMAIL", help="Send one trial mail to this address.")] = "",
    machines: Annotated[int, typer.Option(min=1, help="How many machines share the database.")] = 1,
    workers: Annotated[
        int,
        typer.Option(
            min=0, help="How many workers each machine has.", show_default="those of the server that runs here"
        ),
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Check settings, folders, keys, database, address, proxy, clocks, mail and models; exit 1 if there is a fault."""
    findings = await _examine(mail_to, machines, workers)
    faults = sum(finding.state == "fault" for finding in findings)
    warnings = sum(finding.state == "warning" for finding in findings)
    value = {"ok": not faults, "findings": [asdict(finding) for finding in findings]}
    summary = f"{_count(faults, 'fault')}, {_count(warnings, 'warning')}."
    # A terminal gets lines that fit it; a pipe gets each finding in a line, for grep.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    lines = (line for finding in findings for line in lines_of(finding, width))
    print_result(value, "\n".join([*lines, "", summary]), as_json=as_json)
    if faults:
        sys.stdout.flush()
        raise typer.Exit(1)


async def _examine(mail_to: str, machines: int, workers: int) -> Sequence[Finding]:
    try:
        sources = command_sources()
        patient = Patient(load(sources), sources, mail_to, machines, workers)
    except SettingsError as fault:
        return [Finding("settings", "fault", str(fault).rstrip("."), "Mend this setting first.")]
    with telemetry.silenced():  # a finding says what a log line would
        found = await asyncio.gather(*(limited(check, patient) for check in CHECKS))
    return [finding for findings in found for finding in findings]


async def limited(check: Any, patient: Patient) -> Sequence[Finding]:
    """The findings of a check; a fault when it takes too long or breaks."""
    name: str = check.__name__.removeprefix("check_")
    try:
        async with asyncio.timeout(SECONDS):
            return await check(patient)
    except TimeoutError:
        text = f"no answer within {SECONDS:.0f} s"
        return [Finding(name, "fault", text, "Look whether it is reachable from here.")]
    except Exception as fault:  # one check that breaks must not hide the others
        return [Finding(name, "fault", f"{type(fault).__name__}: {fault}", "Look into the log.")]


def lines_of(finding: Finding, width: int) -> list[str]:
    """A finding in lines of at most `width` characters, one line and one of advice when it is 0.

    A word, such as a path, is never divided.
    """
    name = f"{finding.state:{_NAME_COLUMN}}{finding.name:{_TEXT_COLUMN - _NAME_COLUMN}}"
    lines = _wrapped(finding.text, name, " " * _TEXT_COLUMN, width)
    if finding.advice:
        arrow = f"{'':{_TEXT_COLUMN}}-> "
        lines += _wrapped(finding.advice, arrow, " " * len(arrow), width)
    return lines


def _wrapped(text: str, first: str, indent: str, width: int) -> list[str]:
    text = escape_invisible(text)
    if not width:
        return [f"{first}{text}"]
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
