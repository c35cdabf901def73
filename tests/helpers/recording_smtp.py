"""A mail server that records what it is told, in the clear or over TLS, and the certificates to run it with."""

import asyncio
import email
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Mode = Literal["plain", "starttls", "tls", "silent"]


@dataclass
class RecordingSmtp:
    """What arrived. `lines` are the commands, each with whether it came over TLS."""

    mode: Mode
    tls: ssl.SSLContext | None = None
    port: int = 0
    lines: list[tuple[bool, str]] = field(default_factory=list[tuple[bool, str]])
    mails: list[EmailMessage] = field(default_factory=list[EmailMessage])
    arrival: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def commands(self) -> set[str]:
        """The verbs of all commands."""
        return {line.split(" ")[0].upper() for _, line in self.lines}

    async def received(self, count: int = 1) -> EmailMessage:
        """The newest mail, once so many have arrived; mails are sent after the answer."""
        async with asyncio.timeout(10):
            while len(self.mails) < count:
                self.arrival.clear()
                await self.arrival.wait()
        return self.mails[-1]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One conversation."""
        try:
            if self.mode == "silent":
                await reader.read()
                return
            await self._talk(reader, writer)
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        secure = self.mode == "tls"
        writer.write(b"220 mail.example\r\n")
        while line := (await reader.readline()).decode().rstrip("\r\n"):
            self.lines.append((secure, line))
            match line.split(" ")[0].upper():
                case "EHLO":
                    offered = ["mail.example", "8BITMIME", "AUTH PLAIN LOGIN"]
                    if self.mode == "starttls" and not secure:
                        offered.insert(1, "STARTTLS")
                    said = [f"250-{each}" for each in offered[:-1]] + [f"250 {offered[-1]}"]
                    writer.write("".join(f"{each}\r\n" for each in said).encode())
                case "STARTTLS" if self.mode == "starttls" and self.tls:
                    writer.write(b"220 go on\r\n")
                    await writer.start_tls(self.tls)
                    secure = True
                case "AUTH":
                    writer.write(b"235 welcome\r\n")
                case "DATA":
                    writer.write(b"354 go on\r\n")
                    content = await reader.readuntil(b"\r\n.\r\n")
                    message = email.message_from_bytes(content[:-3], policy=SMTP)
                    assert isinstance(message, EmailMessage)
                    self.mails.append(message)
                    self.arrival.set()
                    writer.write(b"250 taken\r\n")
                case "QUIT":
                    writer.write(b"221 bye\r\n")
                    return
                case "STARTTLS":
                    writer.write(b"502 no such command\r\n")
                case _:
                    writer.write(b"250 fine\r\n")


@asynccontextmanager
async def recording_smtp(
    mode: Mode, tls: ssl.SSLContext | None = None, *, port: int = 0
) -> AsyncGenerator[RecordingSmtp]:
    """A mail server on loopback, on a free port unless one is given."""
    recorder = RecordingSmtp(mode, tls)
    server = await asyncio.start_server(recorder.serve, "127.0.0.1", port, ssl=tls if mode == "tls" else None)
    recorder.port = server.sockets[0].getsockname()[1]
    try:
        yield recorder
    finally:
        server.close()


class Authority:
    """A certificate authority of the tests'; `path` is its certificate in PEM."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority of tests")])
        built = self._builder(self._name, self._key, 0).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self.path = folder / "authority.pem"
        certificate = built.sign(self._key, hashes.SHA256())
        self.path.write_bytes(certificate.public_bytes(Encoding.PEM))

    def server(self, host: str, *, expired: bool = False) -> ssl.SSLContext:
        """TLS for a server with a certificate for this host."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        built = self._builder(name, key, -30 if expired else 0).add_extension(
            x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False
        )
        file = self._folder / f"{host}-{expired}.pem"
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        certificate = built.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)
        file.write_bytes(private + certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: int) -> x509.CertificateBuilder:
        began = datetime.now(UTC) + timedelta(days=days - 1)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(began)
            .not_valid_after(began + timedelta(days=8))
        )
