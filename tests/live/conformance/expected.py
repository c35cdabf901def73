"""What the official suite asks for that this server has no reason to have, with the reason.

The suite is written for SDKs: most of its scenarios call tools, resources and prompts of a fixture server by name
(`test_simple_text` and so on). Everything that is not listed here has to pass; what is listed has to fail, so that
nothing stays on the list without need.
"""

from collections.abc import Mapping
from typing import Final

REVISIONS: Final = ("2026-07-28", "2025-11-25")

AUTHORIZATION: Final = {"authorization-server-metadata-endpoint", "authorization-code-grant"}
"""The scenarios for authorization servers; a user signs in and says yes in the second."""

_FIXTURE: Final = "calls a tool of the suite's fixture server; our tools are called by our own tests"
_RESOURCE: Final = "reads a resource of the suite's fixture server; ours are read by our own tests"
_PROMPT: Final = "gets a prompt of the suite's fixture server; ours are got by our own tests"
_MEDIA: Final = "no operation answers images, sound or binary"
_ASKING: Final = "the server asks nothing of the client: no sampling, elicitation or roots"
_TASKS: Final = "extension; every operation answers at once"
_LOGGING: Final = "no log messages to clients: deprecated in 2026-07-28"

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "completion-complete": "no completions: arguments are ids and enumerations in the schema",
    "logging-set-level": _LOGGING,
    "tools-call-with-logging": _LOGGING,
    "resources-subscribe": "no subscriptions: nothing is pushed, and the capability says so",
    "resources-unsubscribe": "no subscriptions: nothing is pushed, and the capability says so",
    "tools-call-simple-text": _FIXTURE,
    "tools-call-error": _FIXTURE,
    "tools-call-mixed-content": _FIXTURE,
    "tools-call-embedded-resource": _FIXTURE,
    "tools-call-with-progress": _FIXTURE,
    "json-schema-2020-12": _FIXTURE,
    "tools-call-image": _MEDIA,
    "tools-call-audio": _MEDIA,
    "resources-read-binary": _MEDIA,
    "prompts-get-with-image": _MEDIA,
    "resources-read-text": _RESOURCE,
    "resources-templates-read": _RESOURCE,
    "prompts-get-simple": _PROMPT,
    "prompts-get-with-args": _PROMPT,
    "prompts-get-embedded-resource": _PROMPT,
    "tools-call-sampling": _ASKING,
    "tools-call-elicitation": _ASKING,
    "elicitation-sep1034-defaults": _ASKING,
    "elicitation-sep1330-enums": _ASKING,
    "input-required-result-basic-elicitation": _ASKING,
    "input-required-result-basic-sampling": _ASKING,
    "input-required-result-basic-list-roots": _ASKING,
    "input-required-result-request-state": _ASKING,
    "input-required-result-multiple-input-requests": _ASKING,
    "input-required-result-multi-round": _ASKING,
    "input-required-result-non-tool-request": _ASKING,
    "input-required-result-result-type": _ASKING,
    "input-required-result-tampered-state": _ASKING,
    "input-required-result-capability-check": _ASKING,
    "http-custom-header-server-validation": "no tool mirrors an argument into a header",
    "tasks-lifecycle": _TASKS,
    "tasks-capability-negotiation": _TASKS,
    "tasks-wire-fields": _TASKS,
    "tasks-request-state-removal": _TASKS,
    "tasks-mrtr-input": _TASKS,
    "tasks-request-headers": _TASKS,
    "tasks-dispatch-and-envelope": _TASKS,
    "tasks-required-task-error": _TASKS,
    "tasks-mrtr-composition": _TASKS,
}
"""Scenario and reason."""

UNTESTABLE: Final[Mapping[str, Mapping[str, str]]] = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": _ASKING,
        "sep-2575-missing-capability-http-400": _ASKING,
        "sep-2575-http-server-no-independent-requests-on-stream": _ASKING,
        "sep-2575-server-no-log-without-loglevel": _LOGGING,
    }
}
"""Checks inside a scenario that otherwise applies: the suite itself calls them not testable without its fixture."""
