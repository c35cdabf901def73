"""The queue of mails: nothing is lost behind a 201, no answer waits for a mail server, nobody gets a mail twice."""

import asyncio
import email
import time
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from negotiator.agents import mail
from negotiator.agents.mail import DeliveryResult, Mailer, allow_mail
from negotiator.agents.mail_queue import AT_ONCE, FIRST_RETRY, LOOK_EVERY, MailQueue
from negotiator.config.settings import Settings
from negotiator.runtime import circuit_breaker, fault_log
from negotiator.store.ownership import current_walk
from negotiator.store.sqlite import SqliteStore
from tests.conftest import connect, make_settings, running
from tests.helpers.live_server import free_port
from tests.helpers.recording_smtp import RecordingSmtp, recording_smtp

ADA = "ada@corp.example"
TEXT = "https://n.example/approve/secret-of-the-link\n"
SECRET = b"pepper" * 6


def queue(store: SqliteStore, port: int, folder: Path) -> MailQueue:
    url = f"smtp://127.0.0.1:{port}"
    return MailQueue(store, Mailer(url, sender="n@n.example", outbox=folder / "outbox"), SECRET)


async def add(store: SqliteStore, mails: MailQueue, to: str = ADA, *, life: int = 3_600_000) -> bool:
    return await store.write(lambda tx: mails.add(tx, to, "A subject", TEXT, life=life))


def kept(folder: Path) -> list[Any]:
    files = sorted((folder / "outbox").glob("*.eml"))
    return [email.message_from_bytes(path.read_bytes(), policy=default) for path in files]


@pytest.mark.asyncio
async def test_a_mail_that_fails_is_sent_once_the_server_is_back_and_counts_only_then(
    store: SqliteStore, tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The loggers of the application were made by other tests with their own output.
    monkeypatch.setattr(fault_log, "log", fault_log.logger(fault_log.__name__))
    port = free_port()
    mails = queue(store, port, tmp_path)
    assert await add(store, mails)
    with capture_logs() as lines:
        await mails.send_due()
        await mails.send_due()
        assert mails.state().startswith("failing: ")
        assert not await add(store, mails), "one mail at a time waits for an address"
        clock.advance(FIRST_RETRY // 1000 + 1)
        async with recording_smtp("plain", port=port) as server:
            await mails.send_due()
    assert [sent["to"] for sent in server.mails] == [ADA]
    assert mails.state() == "ok"
    begun, over = (line["event"] for line in lines)
    assert (begun, over) == ("mails cannot be sent", "mails cannot be sent: over")
    assert not await add(store, mails), "the mail that went out counts"
    assert kept(tmp_path) == []


@pytest.mark.asyncio
async def test_a_mail_that_could_not_be_sent_in_its_time_is_in_the_outbox_and_costs_no_budget(
    store: SqliteStore, tmp_path: Path, clock: Any
) -> None:
    mails = queue(store, free_port(), tmp_path)
    assert await add(store, mails, life=FIRST_RETRY + 10_000)
    await mails.send_due()
    assert kept(tmp_path) == []
    clock.advance(FIRST_RETRY // 1000 + 1)
    await mails.send_due()
    (held,) = kept(tmp_path)
    assert held["to"] == ADA
    assert held.get_content() == TEXT
    assert next((tmp_path / "outbox").glob("*.eml")).stat().st_mode & 0o777 == 0o600
    assert await store.write(lambda tx: allow_mail(tx, ADA))


@pytest.mark.asyncio
async def test_a_server_that_is_away_is_tried_with_one_mail_and_all_go_once_it_is_back(
    store: SqliteStore, tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, port = 1000.0, free_port()
    monkeypatch.setattr(circuit_breaker, "monotonic", lambda: now)
    mails = queue(store, port, tmp_path)
    for number in range(AT_ONCE + 4):
        assert await add(store, mails, f"u{number}@corp.example")
    await mails.send_due()
    await mails.send_due()
    assert f"{AT_ONCE} waiting" in mails.state(), "the others were not tried"
    now += LOOK_EVERY
    await mails.send_due()
    assert f"{AT_ONCE + 1} waiting" in mails.state(), "one was"
    now += LOOK_EVERY
    clock.advance(FIRST_RETRY // 1000 + 1)
    async with recording_smtp("plain", port=port) as server:
        await mails.send_due()
    assert len(server.mails) == AT_ONCE + 4
    assert mails.state() == "ok"


@pytest.mark.asyncio
async def test_a_recipient_whom_the_server_refuses_for_now_is_no_failure_of_the_server(
    store: SqliteStore, tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mails, tried = queue(store, 1, tmp_path), list[str]()

    async def send(_mailer: Mailer, to: str, *_: Any, **__: Any) -> DeliveryResult:
        tried.append(to)
        return DeliveryResult("no such domain now", is_of_recipient=True)

    monkeypatch.setattr(Mailer, "send", send)
    assert await add(store, mails, life=150_000)
    for _ in range(3):
        await mails.send_due()
        assert mails.state() == "ok"
        clock.advance(FIRST_RETRY * 4 // 1000 + 1)
    assert tried == [ADA, ADA]
    assert len(kept(tmp_path)) == 1


@pytest.mark.asyncio
async def test_of_many_processes_one_sends_each_mail(store: SqliteStore, tmp_path: Path) -> None:
    async with recording_smtp("plain") as server:
        mails = [queue(store, server.port, tmp_path) for _ in range(4)]
        for number in range(20):
            assert await add(store, mails[number % 4], f"u{number}@corp.example")
        await asyncio.gather(*(each.send_due() for each in mails))
    assert sorted(sent["to"] for sent in server.mails) == sorted(f"u{number}@corp.example" for number in range(20))


@pytest.mark.asyncio
async def test_a_mail_whose_sender_died_is_sent_by_another_after_a_minute(
    store: SqliteStore, tmp_path: Path, clock: Any
) -> None:
    async with recording_smtp("silent") as hung:
        mails = queue(store, hung.port, tmp_path)
        assert await add(store, mails)
        sending = asyncio.create_task(mails.send_due())
        await asyncio.sleep(0.1)
        sending.cancel()
        await asyncio.wait([sending])
    async with recording_smtp("plain") as server:
        other = queue(store, server.port, tmp_path)
        await other.send_due()
        assert server.mails == []
        clock.advance(61)
        await other.send_due()
    assert [sent["to"] for sent in server.mails] == [ADA]


@pytest.mark.asyncio
async def test_the_text_of_a_waiting_mail_is_in_no_file_and_goes_with_its_owner(
    store: SqliteStore, tmp_path: Path
) -> None:
    mails = queue(store, free_port(), tmp_path)
    assert await add(store, mails)
    held = b"".join(path.read_bytes() for path in tmp_path.glob("store.db*"))
    assert b"A subject" in held
    assert b"secret-of-the-link" not in held
    await store.write(lambda tx: current_walk().erase_mentions(tx, "email", ADA))
    assert await add(store, mails)


@pytest.mark.asyncio
async def test_a_mail_server_that_hangs_delays_no_answer(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "_DEADLINE", 30.0)

    async def ask(server: RecordingSmtp) -> float:
        url = f"smtp://127.0.0.1:{server.port}"
        hung = make_settings(settings.data_dir, settings.keys_dir, smtp_url=url)
        body = {"agent_name": "x", "identity_type": "identity_assertion"}
        body |= {"assertion_type": "verified_email"}
        slowest = 0.0
        async with running(hung) as application, connect(application) as client:
            for number in range(20):
                began = time.perf_counter()
                answer = await client.post("/api/agent/register", json=body | {"assertion": f"u{number}@corp.example"})
                slowest = max(slowest, time.perf_counter() - began)
                assert answer.status_code == 201
        return slowest

    async with recording_smtp("silent") as server:
        assert await ask(server) < 30.0


@pytest.mark.asyncio
async def test_a_mail_that_was_queued_while_the_clock_was_ahead_does_not_wait_for_that_hour(
    store: SqliteStore, tmp_path: Path, clock: Any
) -> None:
    clock.advance(3600)
    async with recording_smtp("plain") as server:
        mails = queue(store, server.port, tmp_path)
        assert await add(store, mails, life=7_200_000)
        clock.advance(-3600)
        await mails.send_due()
    assert [sent["to"] for sent in server.mails] == [ADA]


@pytest.mark.asyncio
async def test_a_mail_that_is_erased_while_the_server_refuses_it_is_not_kept(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mails = queue(store, free_port(), tmp_path)
    assert await add(store, mails)

    async def send(*_: Any, **__: Any) -> DeliveryResult:
        await store.write(lambda tx: current_walk().erase_mentions(tx, "email", ADA))
        return DeliveryResult("no such mailbox", is_final=True)

    monkeypatch.setattr(Mailer, "send", send)
    await mails.send_due()
    assert kept(tmp_path) == []
