"""A web server for tests, on loopback and truly bad-mannered; and a certificate for it."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.fetcher import Fetcher

Write = Callable[[asyncio.StreamWriter], Awaitable[None]]
JSON = b"Content-Type: application/json\r\n"


@asynccontextmanager
async def serving(
    write: Write, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncGenerator[tuple[int, list[bytes]]]:
    """A server that answers each request by `write`; gives its port and the heads it saw."""
    heads: list[bytes] = []
    answers: set[asyncio.Task[None] | None] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers.add(asyncio.current_task())
        try:
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            await write(writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, host, 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1], heads
    finally:
        server.close()
        running = [task for task in answers if task and not task.done()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def answering(body: bytes, *, head: bytes = JSON, status: bytes = b"200 OK") -> Write:
    async def write(writer: asyncio.StreamWriter) -> None:
        length = str(len(body)).encode()
        writer.write(b"HTTP/1.1 %s\r\n%sContent-Length: %s\r\n\r\n%s" % (status, head, length, body))

    return write


def certificate(folder: Path, name: str) -> ssl.SSLContext:
    """A server context with a self-signed certificate for `name`, which is left in the folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(signed.public_bytes(Encoding.PEM))
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "key.pem").write_bytes(secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def no_charge(_budget: str, _key: str) -> int:
    """Budgets that are never empty."""
    return 0


def free_hosts(pool: Fetcher, clock: Callable[[], int] = lambda: 0) -> ClientUrlFetcher:
    """Hosts that clients name, without budgets."""
    return ClientUrlFetcher(pool, no_charge, clock=clock)
