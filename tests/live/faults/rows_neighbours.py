"""Servers of others that accept a connection and say nothing: the mail server, twelve issuers of assertions."""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from typing import Any, Final

import httpx2
import psutil
from rapidfuzz.distance import Levenshtein

from negotiator.store.statement import Transaction
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.helpers.code_flow import PASSWORD, csrf_token
from tests.helpers.email_registration import by_email
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.loopback_server import answering, serving
from tests.helpers.recording_smtp import recording_smtp
from tests.helpers.synthetic_speech import PIECE, silence, synthesise
from tests.live.faults.load import ANONYMOUS, CLAIM, REGISTER, Load
from tests.live.faults.row import Bounds, Finding, Row, observed
from tests.live.faults.site import Machine, Site
from tests.live.teleprompter.socket_client import TeleprompterUser

_CLIENTS: Final = 16
_MAILS: Final = 20
_SIGN_IN: Final = 2.0
_ANSWER: Final = 2.0
_DEAD_ISSUERS: Final = 12
_DELIVERY: Final = 150.0
_HEARING: Final = 60.0
_WORKER: Final = "teleprompter.speech"
"""In the command of the processes that recognise speech."""


async def mail_hangs(site: Site) -> list[Finding]:
    """Twenty mails wait for a mail server that hangs, while a user signs in; then the server answers."""
    async with recording_smtp("silent") as silent:
        port = silent.port
        machine = await site.machine(workers=2, smtp_url=f"smtp://127.0.0.1:{port}", mail_from="service@example.com")
        await machine.change(_add_user)
        load = Load([machine], _CLIENTS)
        asking: list[float] = []
        signing: list[float] = []
        async with observed("Mail server hangs", [machine], Bounds(), load) as seen, seen.fault():
            async with machine.connect(keep=4) as client:
                for number in range(_MAILS):
                    began = time.monotonic()
                    body = by_email(f"u{number}@example.com")
                    answer = await client.post(REGISTER, json=body)
                    asking.append(time.monotonic() - began)
                    if answer.status_code != 201:
                        seen.finding.broken.append(f"registration: {answer.status_code}")
            for _ in range(4):
                signing.append(await _sign_in(machine))
                await asyncio.sleep(3)
    finding = seen.finding
    if max(asking) > _ANSWER:
        finding.broken.append(f"a registration by mail took {max(asking):.1f} s")
    if max(signing) > _SIGN_IN:
        finding.broken.append(f"a sign-in took {max(signing):.1f} s")
    began = time.monotonic()
    async with recording_smtp("plain", port=port) as well:
        while len(well.mails) < _MAILS and time.monotonic() < began + _DELIVERY:
            await asyncio.sleep(0.2)
        sent = {str(mail["To"]) for mail in well.mails}
        finding.notes.append(
            f"registrations ≤ {max(asking):.2f} s, sign-ins ≤ {max(signing):.2f} s; "
            f"{len(sent)} of {_MAILS} mails within {time.monotonic() - began:.0f} s after it"
        )
        if len(sent) < _MAILS or len(well.mails) > _MAILS:
            finding.broken.append(f"{len(well.mails)} mails to {len(sent)} of {_MAILS} addresses")
    return [finding]


def _add_user(tx: Transaction) -> str:
    hashed = user_queries.hash_password(PASSWORD)
    return user_queries.add(tx, "grace@example.com", password_hash=hashed, actor="operator")


async def _sign_in(machine: Machine) -> float:
    """Seconds that a sign-in by password takes, both requests."""
    async with machine.connect(keep=1) as client:
        began = time.monotonic()
        page = await client.get("/sign-in?again=1")
        form = {"csrf": csrf_token(page), "email": "grace@example.com", "password": PASSWORD}
        answer = await client.post("/sign-in", data=form)
        if answer.status_code not in {200, 303}:
            raise AssertionError(f"sign-in: {answer.status_code} {answer.text[:200]}")
        return time.monotonic() - began


async def issuers_hang(site: Site) -> list[Finding]:
    """Agents of twelve issuers whose keys hang, and of a thirteenth whose keys are there."""
    machine = await site.machine(workers=2, allow_loopback_fetch="true")
    good = FakeIssuer(machine.base, "https://good.example")
    dead = [FakeIssuer(machine.base, f"https://dead{n}.example") for n in range(_DEAD_ISSUERS)]
    waited: dict[str, list[float]] = {"dead": [], "good": []}
    refused: list[str] = []

    async def register(client: httpx2.AsyncClient, issuer: FakeIssuer, kind: str) -> None:
        began = time.monotonic()
        answer = await client.post(REGISTER, json=registration(issuer.assertion()))
        waited[kind].append(time.monotonic() - began)
        if answer.status_code != (201 if kind == "good" else 503):
            refused.append(f"{kind}: {answer.status_code} {answer.text[:120]}")

    async with AsyncExitStack() as opened:
        hanging = await asyncio.start_server(_hang, "127.0.0.1", 0)
        opened.callback(hanging.close)
        port = hanging.sockets[0].getsockname()[1]
        keys = json.dumps(good.jwks()).encode()
        served, _ = await opened.enter_async_context(serving(answering(keys)))
        client = await opened.enter_async_context(machine.connect(keep=32))

        def trust(tx: Transaction) -> None:
            places = [(good, f"http://127.0.0.1:{served}/keys")]
            places += [(each, f"http://127.0.0.1:{port}/{n}") for n, each in enumerate(dead)]
            for issuer, uri in places:
                overrides: dict[str, Any] = {"jwks": "", "jwks_uri": uri}
                made = issuer.issuer(**overrides)
                issuer_queries.add(tx, made, own=machine.base, allow_loopback=True)

        await machine.change(trust)
        load = Load([machine], _CLIENTS)
        name = f"{_DEAD_ISSUERS} issuers' keys hang beside a 13th"
        async with observed(name, [machine], Bounds(log_lines=None), load) as seen, seen.fault():
            for _ in range(3):
                calls = [register(client, each, "dead") for each in dead for _ in range(3)]
                tasks = [asyncio.create_task(call) for call in calls]
                for _ in range(10):
                    await asyncio.sleep(0.3)
                    await register(client, good, "good")
                await asyncio.gather(*tasks)
    finding = seen.finding
    finding.notes.append(f"the 13th ≤ {max(waited['good']):.2f} s, the others ≤ {max(waited['dead']):.1f} s")
    if max(waited["good"]) > _ANSWER:
        finding.broken.append(f"the 13th took {max(waited['good']):.1f} s")
    finding.broken += sorted(set(refused))[:4]
    return [finding]


async def _hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take what comes and say nothing."""
    await reader.read()
    writer.close()


_SPOKEN: Final = (
    "honestly that is way over our budget",
    "i have sent you the papers this morning",
    "i have to ask my manager before i can sign",
    "we need a lower price for the second year",
)


async def speech_worker_dies(site: Site) -> list[Finding]:
    """The process that recognises speech gets SIGKILL in the middle of a sentence, twice in four sentences."""
    machine = await site.machine(workers=1)
    load = Load([machine], _CLIENTS)
    [code] = await machine.delegation_codes(1)
    async with machine.connect() as client:
        agent = (await client.post(REGISTER, json=ANONYMOUS)).json()
        body = {"claim_token": code}
        claimed = (await client.post(CLAIM, json=body, headers=bearer(agent))).json()
        caller = TeleprompterUser(machine.base, bearer(claimed))
        session = await caller.open(client, source="audio")
        socket = await caller.socket(session, 0)
        await socket.send(json.dumps({"type": "start", "channels": [{"id": "them"}]}))
        await _speak(socket, _SPOKEN[0])
        finals = [await _final(socket)]
        name = "Speech worker: SIGKILL in a sentence, twice"
        async with observed(name, [machine], Bounds(), load) as seen, seen.fault():
            for number, text in enumerate(_SPOKEN[1:]):
                speaking = asyncio.create_task(_speak(socket, text))
                if number < 2:
                    await asyncio.sleep(1.5)
                    _speech_process(machine).kill()
                await speaking
                finals.append(await _final(socket))
        await socket.close()
    finding = seen.finding
    wrong = [Levenshtein.distance(a, b.lower()) for a, b in zip(_SPOKEN, finals, strict=True)]
    finding.notes.append(f"sentences heard: {len(finals)} of {len(_SPOKEN)}, letters wrong: {wrong}")
    if any(2 * count > len(text) for count, text in zip(wrong, _SPOKEN, strict=True)):
        finding.broken.append(f"a sentence was lost: {finals}")
    return [finding]


async def _speak(socket: Any, text: str) -> None:
    pcm = synthesise(text) + silence(900)
    for start in range(0, len(pcm), PIECE):
        await socket.send(bytes([0]) + pcm[start : start + PIECE])
        await asyncio.sleep(0.1)


async def _final(socket: Any) -> str:
    """The text of the next sentence that was heard to its end."""
    async with asyncio.timeout(_HEARING):
        async for received in socket:
            message = json.loads(received)
            if message["type"] == "transcript.final":
                return str(message["text"])
    raise AssertionError("the socket was closed")


def _speech_process(machine: Machine) -> psutil.Process:
    children = machine.supervisor.children(recursive=True)
    return next(each for each in children if any(_WORKER in part for part in each.cmdline()))


ROWS: Final = (
    Row("speech-kill", "the process that recognises speech is killed", speech_worker_dies),
    Row("mail-hang", "a mail server that accepts and says nothing", mail_hangs),
    Row("issuers-hang", "keys of twelve issuers that hang, beside a 13th", issuers_hang),
)
