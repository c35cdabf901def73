"""Backups in an S3-compatible object store: `s3://bucket/key` in place of a file.

Loaded only for such a name, since botocore is in an extra. Endpoint, region and credentials are those of every S3 tool:
the variables `AWS_…`, the files in `~/.aws`, or the role of the machine. Nothing of an upload is visible before its
last request, which completes it. The reasons are in docs/decisions/0029-object-storage.md.
"""

import base64
import hashlib
import os
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from botocore.config import Config  # pyright: ignore[reportMissingTypeStubs]
from botocore.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    BotoCoreError,
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
)
from botocore.exceptions import ConnectionError as NoConnection  # pyright: ignore[reportMissingTypeStubs]
from botocore.session import Session  # pyright: ignore[reportMissingTypeStubs]

from negotiator import __version__
from negotiator.base import values
from negotiator.base.errors import InvalidRequest, Unavailable

T = TypeVar("T")

SCHEME: Final = "s3://"
PART: Final = 64 << 20
"""Bytes of each part but the last, and so what an upload takes of memory. All have one size, as some stores ask."""
RANGE: Final = 8 << 20
"""Bytes that a download asks for at once."""
REQUEST_SECONDS: Final = 600.0
"""The most that one request may take, repetitions included, also when each byte comes in time."""
_MOST_PARTS: Final = 10_000
"""Amazon S3, Multipart upload limits."""
_CONNECT_SECONDS: Final = 10.0
_SILENT_SECONDS: Final = 60.0
_ATTEMPTS: Final = 3
_DEFAULT_REGION: Final = "us-east-1"
_MARK: Final = "negotiator-upload"
"""Metadata of an object: which upload made it."""
_TAKEN: Final = {"PreconditionFailed", "ConditionalRequestConflict"}
_WRONG_CREDENTIALS: Final = {
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
}
_FORBIDDEN: Final = {"403", "AccessDenied", "AllAccessDisabled", "Forbidden"}
_UNREACHABLE: Final = (NoConnection, HTTPClientError, IncompleteReadError)
_OTHER_BYTES: Final = {"BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch"}


@dataclass(frozen=True, slots=True)
class ObjectLocation:
    """A bucket and the key of an object in it."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}"


class ObjectStoreRefused(Unavailable):
    """The object store answered that it does not do this; `code` is its word for the reason."""

    def __init__(self, description: str, code: str) -> None:
        super().__init__(description)
        self.code = code


def parse_location(url: str) -> ObjectLocation:
    """The location that `s3://bucket/key` names, taken literally; `InvalidRequest` when it names no object."""
    bucket, _, key = url.removeprefix(SCHEME).partition("/")
    if not bucket or not key or key.endswith("/"):
        raise InvalidRequest(f"{url} names no object: write {SCHEME}bucket/folder/name.backup.")
    return ObjectLocation(bucket, key)


@contextmanager
def new_object(url: str) -> Generator["ObjectUpload"]:
    """A new object that gets its name when the block ends, whole, and else is not there.

    `Unavailable` when the name is taken, nothing is replaced, or when the store refuses or does not answer.
    """
    upload = ObjectUpload(ObjectRequests(parse_location(url)))
    try:
        yield upload
        upload.finish()
    except BaseException:
        upload.abort()
        raise


def open_object(url: str) -> "ObjectReader":
    """An object to read once, from its beginning; `Unavailable` when there is none."""
    return ObjectReader(ObjectRequests(parse_location(url)))


class ObjectRequests:
    """Requests about one object. Each ends within `REQUEST_SECONDS`; every fault is an `Unavailable` that says why."""

    def __init__(self, location: ObjectLocation) -> None:
        self.location = location
        self.host: str = "its address"
        self._client = self.run(_connect)
        self.host = urlsplit(str(self._client.meta.endpoint_url)).netloc.rpartition("@")[2]

    def send(self, operation: str, **parameters: Any) -> Mapping[str, Any]:
        """Send a request, named as in botocore, and give its answer; `ObjectStoreRefused` with the store's reason."""
        return self.run(lambda: self.call(operation, **parameters))

    def call(self, operation: str, **parameters: Any) -> Mapping[str, Any]:
        """The same for what runs in `run`, with botocore's own faults."""
        method: Callable[..., Mapping[str, Any]] = getattr(self._client, operation)
        return method(Bucket=self.location.bucket, Key=self.location.key, **parameters)

    def run(self, call: Callable[[], T]) -> T:
        """Run what sends requests, in a thread that is left behind when it takes too long.

        The timeouts of a socket begin anew with each byte, so they do not bound a request.
        """
        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(call())
            except BaseException as fault:
                future.set_exception(fault)

        threading.Thread(target=work, daemon=True).start()
        if not wait([future], REQUEST_SECONDS).done:
            raise Unavailable(
                f"The object store at {self.host} did not finish a request within {REQUEST_SECONDS:g} seconds."
            )
        try:
            return future.result()
        except ClientError as fault:
            raise self._refused(fault) from fault
        except (NoCredentialsError, PartialCredentialsError) as fault:
            raise Unavailable(
                "The credentials of the object store are not known: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                "or AWS_PROFILE."
            ) from fault
        except _UNREACHABLE as fault:
            raise Unavailable(f"The object store at {self.host} cannot be reached: {_line(fault)}.") from fault
        except BotoCoreError as fault:
            raise Unavailable(f"The object store cannot be used: {_line(fault)}.") from fault

    def not_s3(self) -> Unavailable:
        """What is raised when an answer lacks what every answer of S3 has."""
        return Unavailable(f"What is at {self.host} does not answer as an S3 store does.")

    def _refused(self, fault: ClientError) -> ObjectStoreRefused:
        response: Any = fault.response
        error: Mapping[str, str] = response.get("Error", {})
        code = error.get("Code", "")
        match code:
            case "NoSuchBucket":
                text = f"There is no bucket {self.location.bucket} at {self.host}."
            case "NoSuchKey" | "404":
                text = f"There is no object {self.location} at {self.host}."
            case _ if code in _WRONG_CREDENTIALS:
                text = f"The object store at {self.host} does not accept the credentials: {code}."
            case _ if code in _FORBIDDEN:
                text = f"The credentials do not allow {fault.operation_name} of {self.location} at {self.host}."
            case _ if code in _OTHER_BYTES:
                text = f"The object store at {self.host} received other bytes than were sent: {code}."
            case _:
                reason = f"{code}: {error.get('Message') or 'no reason given'}".rstrip(".")
                text = f"The object store at {self.host} refuses {self.location}: {reason}."
        return ObjectStoreRefused(text, code)


class ObjectUpload:
    """An upload in parts. It holds one part in memory, and has to be finished or aborted."""

    def __init__(self, requests: ObjectRequests) -> None:
        self._requests = requests
        self._mark = values.new_id("upload")
        self._check_name()
        answer = requests.send("create_multipart_upload", Metadata={_MARK: self._mark})
        if "UploadId" not in answer:
            raise requests.not_s3()
        self._id: str = answer["UploadId"]
        self._part = BytesIO()
        self._parts: list[dict[str, Any]] = []

    def write(self, data: bytes) -> int:
        """Take all of these bytes."""
        rest = memoryview(data)
        while rest:
            taken = rest[: PART - self._part.tell()]
            self._part.write(taken)
            rest = rest[len(taken) :]
            if self._part.tell() == PART:
                self._send_part()
        return len(data)

    def tell(self) -> int:
        """How many bytes were written."""
        return len(self._parts) * PART + self._part.tell()

    def finish(self) -> None:
        """Send what is left, and give the object its name."""
        if self._part.tell() or not self._parts:
            self._send_part()
        parts = {"UploadId": self._id, "MultipartUpload": {"Parts": self._parts}}
        try:
            self._requests.send("complete_multipart_upload", IfNoneMatch="*", **parts)
        except ObjectStoreRefused as refused:
            if refused.code == "NotImplemented":  # a store without conditional requests
                self._check_name()
                self._requests.send("complete_multipart_upload", **parts)
            elif not self._is_complete(refused):
                raise self._taken() if refused.code in _TAKEN else refused from None

    def abort(self) -> None:
        """Delete the parts; those of an upload that cannot be reached are left to the bucket's lifecycle rule."""
        with suppress(Unavailable):
            self._requests.send("abort_multipart_upload", UploadId=self._id)

    def _send_part(self) -> None:
        if len(self._parts) == _MOST_PARTS:
            raise Unavailable(
                f"The backup is larger than {_MOST_PARTS * PART >> 30} GiB, the most that an upload holds."
            )
        with self._part.getbuffer() as content:
            digest = hashlib.md5(content, usedforsecurity=False).digest()
        number = len(self._parts) + 1
        self._part.seek(0)
        answer = self._requests.send(
            "upload_part",
            UploadId=self._id,
            PartNumber=number,
            Body=self._part,
            ContentMD5=base64.b64encode(digest).decode(),
        )
        if "ETag" not in answer:
            raise self._requests.not_s3()
        self._parts.append({"PartNumber": number, "ETag": answer["ETag"]})
        self._part = BytesIO()

    def _check_name(self) -> None:
        """`Unavailable` when there is an object of this name. Credentials that may only write learn it at the end."""
        if self._metadata() is not None:
            raise self._taken()

    def _is_complete(self, refused: ObjectStoreRefused) -> bool:
        """Whether this upload was completed before: the answer was lost, and the request repeated."""
        may_be = refused.code in {*_TAKEN, "NoSuchUpload"}
        return may_be and (self._metadata() or {}).get(_MARK) == self._mark

    def _metadata(self) -> Mapping[str, str] | None:
        """Of the object that has this name; None when there is none, or the store does not tell.

        An answer to HEAD has no body, so the reason for a refusal comes with the next request.
        """
        with suppress(ObjectStoreRefused):
            answer = self._requests.send("head_object")
            if "ETag" not in answer:
                raise self._requests.not_s3()
            metadata: Mapping[str, str] = answer.get("Metadata", {})
            return metadata
        return None

    def _taken(self) -> Unavailable:
        return Unavailable(f"{self._requests.location} exists already; choose another name.")


class ObjectReader:
    """Reads an object, one range after the other; it is refused when the object is replaced meanwhile."""

    def __init__(self, requests: ObjectRequests) -> None:
        self._requests = requests
        self._offset = 0
        self._size = 0
        self._version: dict[str, str] = {}
        self._ready = BytesIO()
        self._fetch()

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, empty at the end."""
        taken = self._ready.read(size)
        if not taken and self._offset < self._size:
            self._fetch()
            taken = self._ready.read(size)
        return taken

    def _fetch(self) -> None:
        try:
            content = self._requests.run(self._read_range)
        except ObjectStoreRefused as refused:
            if refused.code == "InvalidRange" and not self._offset:
                return  # an empty object
            if refused.code in {"412", "PreconditionFailed"}:
                raise Unavailable(f"{self._requests.location} was replaced while it was read.") from None
            raise
        self._offset += len(content)
        self._ready = BytesIO(content)

    def _read_range(self) -> bytes:
        """The next range; repeated when the connection breaks after the answer began."""
        for _ in range(_ATTEMPTS - 1):
            with suppress(*_UNREACHABLE):
                return self._read_range_once()
        return self._read_range_once()

    def _read_range_once(self) -> bytes:
        last = self._offset + RANGE - 1
        asked = f"bytes={self._offset}-{last}"
        answer = self._requests.call("get_object", Range=asked, **self._version)
        if "ETag" not in answer or "ContentLength" not in answer:
            raise self._requests.not_s3()
        size = answer["ContentLength"]
        self._size = int(answer.get("ContentRange", "").rpartition("/")[2] or size)
        if size != min(RANGE, self._size - self._offset):
            raise Unavailable(
                f"The object store at {self._requests.host} does not answer with the range that was asked for."
            )
        self._version = {"IfMatch": answer["ETag"]}
        content: bytes = answer["Body"].read()
        return content


def _connect() -> Any:
    """A client with the user's own configuration, and timeouts for a store that does not answer."""
    session: Any = Session()
    region = os.environ.get("AWS_REGION") or session.get_config_variable("region")
    config = Config(
        connect_timeout=min(_CONNECT_SECONDS, REQUEST_SECONDS),
        read_timeout=min(_SILENT_SECONDS, REQUEST_SECONDS),
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        # Stores other than Amazon's refuse the newer checksums; each part has its MD5.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        user_agent_extra=f"negotiator/{__version__}",
    )
    try:
        return session.create_client("s3", region_name=region or _DEFAULT_REGION, config=config)
    except ValueError as fault:  # of an endpoint that is no URL
        raise Unavailable(f"The object store cannot be used: {_line(fault)}.") from fault


def _line(fault: Exception) -> str:
    return " ".join(str(fault).split()).rstrip(".")
