"""Mail servers that cannot prove who they are, that strip TLS, that hang: nothing is told to them, nothing is lost."""

import asyncio
import email
import socket
import time
from collections.abc import Callable
from email.policy import default
from pathlib import Path
from typing import Any

import pytest

from negotiator.agents import mail
from negotiator.agents.mail import Mailer
from tests.helpers.recording_smtp import Authority, Mode, RecordingSmtp, recording_smtp

HOST = "mail.example"
SECRET = "s3cret pass/word"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority that nobody trusts unless a test says so."""
    return Authority(tmp_path)


@pytest.fixture
def mailer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Mailer]:
    """Makes a mailer for a recording server that is reached under the name `mail.example`."""
    found = socket.getaddrinfo

    def find(host: Any, *rest: Any, **more: Any) -> Any:
        return found("127.0.0.1" if host == HOST else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", find)
    # The loggers of the application were made by other tests with their own output.
    monkeypatch.setattr(mail, "log", mail.logger(mail.__name__))

    def make(server: RecordingSmtp, *, host: str = HOST, user: str = "user:s3cret%20pass%2Fword@"):
        scheme = "smtps" if server.mode == "tls" else "smtp"
        url = f"{scheme}://{user}{host}:{server.port}"
        return Mailer(url, sender="n@negotiator.example", outbox=tmp_path / "outbox")

    return make


def kept(folder: Path) -> list[Any]:
    """The mails in the outbox."""
    files = sorted((folder / "outbox").glob("*.eml"))
    return [email.message_from_bytes(path.read_bytes(), policy=default) for path in files]


async def refuses(made: Mailer, server: RecordingSmtp) -> str:
    """Send a mail that may not leave; returns why it did not."""
    result = await made.send("ada@corp.example", "A subject", "https://n.example/approve/secret\n")
    assert server.mails == []
    assert server.commands <= {"EHLO", "STARTTLS", "QUIT"}, "neither a password nor an address"
    assert "s3cret" not in result.failure
    assert not result.is_final
    return result.failure


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["tls", "starttls"])
@pytest.mark.parametrize("fault", ["unknown authority", "other host", "expired"])
async def test_a_server_with_a_bad_certificate_is_told_nothing(
    mailer: Callable[..., Mailer],
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: Mode,
    fault: str,
) -> None:
    if fault != "unknown authority":
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    host = "other.example" if fault == "other host" else HOST
    context = authority.server(host, expired=fault == "expired")
    async with recording_smtp(mode, context) as server:
        said = await refuses(mailer(server), server)
    assert "certificate" in said.lower()


@pytest.mark.asyncio
@pytest.mark.parametrize("user", ["user:s3cret@", ""])
async def test_a_server_that_offers_no_tls_is_told_nothing(
    mailer: Callable[..., Mailer], tmp_path: Path, user: str
) -> None:
    async with recording_smtp("plain") as server:
        said = await refuses(mailer(server, user=user), server)
    assert "STARTTLS" in said


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["tls", "starttls"])
async def test_a_server_of_a_trusted_authority_gets_password_and_mail_over_tls_only(
    mailer: Callable[..., Mailer], authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    link = f"https://n.example/approve/{'s' * 120}"
    async with recording_smtp(mode, authority.server(HOST)) as server:
        result = await mailer(server).send("ada@corp.example", "A subject", f"Zoë\n{link}\n", message_id="mail_1")
    assert result.failure == ""
    (sent,) = server.mails
    assert sent["message-id"] == "<mail_1@negotiator.example>"
    assert (sent["from"], sent["to"]) == ("n@negotiator.example", "ada@corp.example")
    assert sent.get_content().split() == ["Zoë", link]
    assert {line for secure, line in server.lines if not secure and "EHLO" not in line} <= {"STARTTLS"}
    assert "AUTH" in server.commands
    assert [line for _, line in server.lines if line.startswith("RCPT")] == ["RCPT TO:<ada@corp.example>"]


@pytest.mark.asyncio
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_only_a_server_on_loopback_may_do_without_tls(
    mailer: Callable[..., Mailer], tmp_path: Path, host: str
) -> None:
    async with recording_smtp("plain") as server:
        await mailer(server, host=host).send("ada@corp.example", "A subject", "text\n")
    assert len(server.mails) == 1
    assert "AUTH" in server.commands


@pytest.mark.asyncio
async def test_a_server_that_hangs_holds_nobody_longer_than_the_deadline(
    mailer: Callable[..., Mailer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "_DEADLINE", 1.0)
    async with recording_smtp("silent") as server:
        made, began = mailer(server), time.monotonic()
        sends = [made.send(f"u{n}@corp.example", "S", "text\n") for n in range(30)]
        results = await asyncio.gather(*sends)
        took = time.monotonic() - began
    assert took < 5, "thirty wait side by side, not one after the other"
    assert all(result.failure and not result.is_final for result in results)
