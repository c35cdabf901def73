"""An S3 store as a process (moto's server, which checks signatures), and a proxy before it that does harm."""

import base64
import hashlib
import http.client
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from botocore.session import Session  # pyright: ignore[reportMissingTypeStubs]

from negotiator.backup.object_store import RANGE
from tests.helpers.live_server import PATIENCE, free_port, wait_for

BUCKET: Final = "backups"
_REGION: Final = "eu-central-1"
_ALL: Final = '{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}}'
_WRITE: Final = _ALL.replace('"s3:*"', '["s3:PutObject", "s3:AbortMultipartUpload"]')
_HEAD: Final = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"


@dataclass(frozen=True)
class S3StandIn:
    """A running store with the bucket `BUCKET`, and the keys of a user who may do all and of one who may only write."""

    url: str
    owner: dict[str, str]
    writer: dict[str, str]

    def variables(self, url: str = "") -> dict[str, str]:
        """The environment of a command that uses the store, or a proxy before it."""
        return self.owner | {
            "AWS_ENDPOINT_URL": url or self.url,
            "AWS_REGION": _REGION,
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def objects(self) -> dict[str, int]:
        """The size of each object in the bucket."""
        answer = self.client().list_objects_v2(Bucket=BUCKET)
        return {each["Key"]: each["Size"] for each in answer.get("Contents", [])}

    def uploads(self) -> list[str]:
        """The keys of uploads that are neither complete nor aborted."""
        answer = self.client().list_multipart_uploads(Bucket=BUCKET)
        return [each["Key"] for each in answer.get("Uploads", [])]

    def abort_all(self) -> None:
        """Abort every upload, as the lifecycle rule of a bucket does after a time."""
        client = self.client()
        for each in client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []):
            client.abort_multipart_upload(Bucket=BUCKET, Key=each["Key"], UploadId=each["UploadId"])

    def client(self, service: str = "s3") -> Any:
        """Another client of the store."""
        return _client(self.url, self.owner, service)


@contextmanager
def running_s3() -> Generator[S3StandIn]:
    """A store of its own on loopback."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: _answers(url))
        anyone = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        _client(url, anyone, "s3").create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": _REGION}
        )
        users = _client(url, anyone, "iam")
        made = S3StandIn(url, _user(users, "owner", _ALL), _user(users, "writer", _WRITE))
        # From here on it checks every signature and policy.
        httpx2.post(f"{url}/moto-api/reset-auth", content=b"0").raise_for_status()
        yield made
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _answers(url: str) -> bool:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"{url}/moto-api/data.json").status_code == 200
    return False


def _user(users: Any, name: str, policy: str) -> dict[str, str]:
    users.create_user(UserName=name)
    users.put_user_policy(UserName=name, PolicyName=name, PolicyDocument=policy)
    key = users.create_access_key(UserName=name)["AccessKey"]
    return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


def _client(url: str, keys: dict[str, str], service: str) -> Any:
    session: Any = Session()
    return session.create_client(
        service,
        endpoint_url=url,
        region_name=_REGION,
        aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
    )


Harm = Callable[["ProxiedRequest"], None]


@dataclass
class S3Proxy:
    """Passes requests on to a store; one whose method and query match those of `harms` gets its harm, so many times."""

    store: str
    url: str = ""
    harms: list[tuple[str, str, Harm, int]] = field(default_factory=list[tuple[str, str, Harm, int]])
    reached: threading.Event = field(default_factory=threading.Event)
    """Set when a harm begins."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the proxy ends: no harm goes on after that."""

    def harm(self, method: str, query: str, harm: Harm, *, times: int = 1) -> None:
        """Do this to the next requests of this method in whose target `query` is."""
        self.harms.append((method, query, harm, times))

    def take(self, method: str, target: str) -> Harm | None:
        """The harm for a request, if there is one."""
        for number, (wanted, query, harm, times) in enumerate(self.harms):
            if method == wanted and query in target and times:
                self.harms[number] = (wanted, query, harm, times - 1)
                self.reached.set()
                return harm
        return None


class ProxiedRequest(BaseHTTPRequestHandler):
    """One request, with its body read."""

    protocol_version = "HTTP/1.1"
    proxy: S3Proxy
    body: bytes

    def handle_any(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
        harm = self.proxy.take(self.command, self.path)
        with suppress(ConnectionError):
            (harm or ProxiedRequest.forward)(self)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815

    def answer(self) -> tuple[int, list[tuple[str, str]], bytes]:
        """What the store answers: status, headers, body."""
        connection = http.client.HTTPConnection(urlsplit(self.proxy.store).netloc)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "expect"}
        connection.request(self.command, self.path, self.body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.getheaders(), content

    def forward(self) -> None:
        """Pass the request and its answer on."""
        self.send(*self.answer())

    def send(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        """Answer the client."""
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in {"connection", "transfer-encoding", "content-length"}:
                self.send_header(name, value)
        length = dict(headers).get("Content-Length") if self.command == "HEAD" else len(content)
        self.send_header("Content-Length", str(length or 0))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def hang(request: ProxiedRequest) -> None:
    """Never answer, and never pass the request on."""
    request.proxy.ended.wait()
    request.close_connection = True


def drip(request: ProxiedRequest) -> None:
    """Answer byte by byte, each within any timeout of a socket."""
    request.close_connection = True
    for letter in _HEAD + "x" * 100:
        request.wfile.write(letter.encode())
        request.wfile.flush()
        if request.proxy.ended.wait(0.3):
            return


def change_a_byte(request: ProxiedRequest) -> None:
    """Compare a body that changed on its way with its MD5, as stores do and moto does not."""
    changed = bytes([request.body[0] ^ 1]) + request.body[1:]
    sent, came = (base64.b64encode(hashlib.md5(each).digest()) for each in (request.body, changed))  # noqa: S324
    assert request.headers["content-md5"] == sent.decode()
    assert sent != came
    request.send(400, [], b"<Error><Code>BadDigest</Code><Message>Not the MD5.</Message></Error>")


def change_the_answer(request: ProxiedRequest) -> None:
    """Pass the answer on with another last byte."""
    status, headers, content = request.answer()
    request.send(status, headers, content[:-1] + bytes([content[-1] ^ 1]))


def answer_with_all(request: ProxiedRequest) -> None:
    """Answer with a long object whatever range is asked for."""
    request.send(200, [("ETag", '"1"')], bytes(RANGE + 1))


def lose_the_answer(request: ProxiedRequest) -> None:
    """Let the store do it, and close the connection."""
    request.answer()
    request.close_connection = True


def cut_the_answer(request: ProxiedRequest) -> None:
    """Send the head and half of the body."""
    status, headers, content = request.answer()
    request.close_connection = True
    request.send_response_only(status)
    for name, value in headers:
        if name.lower() != "connection":
            request.send_header(name, value)
    request.end_headers()
    request.wfile.write(content[: len(content) // 2])


def answer_with_a_page(request: ProxiedRequest) -> None:
    """Answer as a web server does that has a page for everything."""
    request.send(200, [("Content-Type", "text/html")], b"<!doctype html><p>Welcome<br></p>")


def answer_with_markup(request: ProxiedRequest) -> None:
    """The same, and the page can be parsed as XML."""
    request.send(200, [("Content-Type", "text/html")], b"<html><p>Welcome</p></html>")


def knows_no_condition(request: ProxiedRequest) -> None:
    """Answer as a store without conditional requests does."""
    error = b"<Error><Code>NotImplemented</Code><Message>A header is not implemented.</Message></Error>"
    if request.headers["if-none-match"]:
        request.send(501, [], error)
    else:
        request.forward()


@contextmanager
def s3_proxy(store: str) -> Generator[S3Proxy]:
    """A proxy before the store at this URL."""
    proxy = S3Proxy(store)

    class Handler(ProxiedRequest):
        pass

    Handler.proxy = proxy
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield proxy
    finally:
        proxy.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
