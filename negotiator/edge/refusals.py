"""One shape for every refusal, rendered in one place (contract §0, Refusals)."""

from collections.abc import Sequence
from typing import Any

from negotiator.edge.operation import Answer
from negotiator.errors import (
    FieldError,
    InsufficientScope,
    MethodNotAllowed,
    NotFound,
    Refusal,
    Unauthorized,
    Unpossessed,
    ValidationFailed,
)
from negotiator.telemetry import logger, request_id

log = logger(__name__)


class Refusals:
    """Renders refusals for the service at this base; `resource` is the path of the resource that challenges."""

    def __init__(self, base: str, resource: str = "") -> None:
        metadata = f"{base}/.well-known/oauth-protected-resource{resource}"
        self._parameters = f'realm="negotiator", resource_metadata="{metadata}"'

    def answer(self, refusal: Refusal) -> Answer:
        """The answer that carries this refusal; its private detail goes to the log."""
        if refusal.detail:
            log.info(
                "refused",
                error=refusal.error,
                status=refusal.status,
                detail=refusal.detail,
            )
        body: dict[str, Any] = {
            "error": refusal.error,
            "error_description": refusal.description,
            "request_id": request_id.get(),
        }
        for name, value in refusal.members.items():
            body[name] = _errors(value) if name == "errors" else value
        if isinstance(refusal, ValidationFailed):
            body["errors"] = _errors(refusal.errors)
        headers = {**refusal.headers, **self._challenged(refusal)}
        return Answer(body, refusal.status, headers)

    def crash(self, fault: Exception) -> Answer:
        """The answer to a fault of ours: it says nothing but where to look."""
        log.error("crashed", exc_info=fault)
        body = {
            "error": "server_error",
            "error_description": "Something went wrong on our side; the request id leads to it in the log.",
            "request_id": request_id.get(),
        }
        return Answer(body, 500)

    def not_found(self) -> Answer:
        """No such path."""
        return self.answer(NotFound("There is nothing at this path."))

    def method_not_allowed(self, allowed: Sequence[str]) -> Answer:
        """The path exists, the method does not."""
        return self.answer(MethodNotAllowed(allowed))

    def _challenged(self, refusal: Refusal) -> dict[str, str]:
        challenge = f"Bearer {self._parameters}"
        proving = f"DPoP {self._parameters}"
        if isinstance(refusal, Unpossessed):
            challenge = f'{proving}, error="{refusal.error}", {_algorithms(refusal)}'
        elif isinstance(refusal, InsufficientScope):
            lacking = f'error="insufficient_scope", scope="{" ".join(refusal.scopes)}"'
            challenge = f"{challenge}, {lacking}"
            if refusal.algorithms:
                challenge = f"{proving}, {lacking}, {_algorithms(refusal)}"
        elif isinstance(refusal, Unauthorized):
            if refusal.sent and refusal.error == "invalid_token":
                challenge += ', error="invalid_token"'
            if refusal.scopes:
                challenge += f', scope="{" ".join(refusal.scopes)}"'
        else:
            return {}
        return {
            **refusal.headers,
            "www-authenticate": refusal.headers.get("www-authenticate", challenge),
        }


def _algorithms(refusal: Unpossessed | InsufficientScope) -> str:
    """What a proof may be signed with (RFC 9449 §7.1)."""
    return f'algs="{" ".join(refusal.algorithms)}"'


def _errors(errors: Sequence[FieldError]) -> list[dict[str, str]]:
    return [{"pointer": error.pointer, "description": error.description} for error in errors]
