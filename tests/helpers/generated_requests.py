"""Requests made up from the description of the service, and the checks that their answers have to pass.

The schema is the one that the application serves at /openapi.json. schemathesis' types are generic in what it never
says; here it is `Any`, and nowhere else.

Left out of the checks in this process, and why: `ignored_auth`, which tests/house asks of every operation;
`use_after_free`, `ensure_resource_availability` and `object_level_authorization`, which need a recorded sequence and
have tests of their own. `make fuzz` runs all of them against a server.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson
import requests
import schemathesis
from hypothesis.strategies import SearchStrategy, one_of
from schemathesis import checks, config
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode

from docs.generate import service
from negotiator.discovery.openapi import openapi_document
from negotiator.http.operation import LINES
from tests.helpers.form_browser import BASE

MODES: Final = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
NEGATIVE: Final = "negative_data_rejection"
POSITIVE: Final = "positive_data_acceptance"
CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    NEGATIVE,
    POSITIVE,
)
DEPENDS: Final = {
    "open_negotiation": "packages, limits and constraints name the issues of the same body",
    "check_negotiation": "packages, limits and constraints name the issues of the same body",
    "edit_negotiation": "the merged result is checked, and packages name its issues",
    "record_offer": "a package names the issues of its negotiation",
    "play_turn": "a package names the issues of its negotiation, and an offer needs one",
    "rehearse": "a package names the issues of its negotiation, and a turn names its rehearsal",
    "calculate_leverage": "packages name the issues of the same body",
    "match_tactics": "packages name the issues of the same body",
    "calculate_next_move": "offers and part worths have the values that the issues list",
    "add_tactic": "ids are those of known tactics",
    "edit_tactic": "the merged result is checked",
    "remember": "a negotiation and a superseded memory are the caller's own",
    "get_memory": "`at` lies between 1970 and 9998, and JSON Schema has no bounds for a date-time",
    "edit_memory": "the merged result is checked, and text has something that is seen",
    "search_memories": "filters have operators, and other filters inside",
    "record_win": "a baseline of zero has no rate, and figures agree with each other",
    "edit_win": "the merged result is checked",
    "open_teleprompter_session": "the basis of consent decides what may be sent",
    "list_tools": "query, q and search are one parameter, and relevance needs one of them",
    "read_tool_address": "an address is public and https",
    "submit_tool": "category and subcategories are known ones, and addresses are public",
    "request_update": "the merged result is checked",
    "change_submission": "the merged result is checked",
    "save_collection": "tools are those of the directory",
    "edit_collection": "tools are those of the directory",
    "replace_collection": "tools are those of the directory",
    "register_directory_agent": "an identity has the form of its type, and scopes are known ones",
    "register_agent": "an assertion is signed by a trusted issuer",
    "register_identity": "an assertion is signed by a trusted issuer",
    "claim_agent": "a code was handed out",
    "complete_claim": "a claim token and a code were handed out",
    "report_event": "an event is signed by a trusted issuer",
    "revoke_token": "a client proves itself",
    "introspect_token": "a client proves itself",
    "register_client": "a redirect URI is safe for the kind of client",
}
"""Operations that may refuse with 400 or 422 what fits their schema, with the rule that no schema says."""
SERVICE: Final = service()
REJECTIONS: Final = [
    *("400", "401", "403", "404", "405", "406", "409", "410"),
    *("412", "413", "415", "422", "428", "429", "503"),
]
ACCEPTANCE: Final = [*("2xx", "304", "401", "403", "404", "405", "409", "410", "412", "413", "426", "428", "503")]
"""What depends on the caller, on what is stored, on the moment or on the whole size is no refusal of a member."""
_SETTINGS: Final[Any] = config.SchemathesisConfig
_CONFIG: Final = _SETTINGS.from_dict(
    {
        "checks": {
            NEGATIVE: {"expected-statuses": REJECTIONS},
            "missing_required_header": {"expected-statuses": REJECTIONS},
            POSITIVE: {"expected-statuses": ACCEPTANCE},
        }
    }
)
checks.load_all_checks()
_KNOWN: Final[Any] = vars(checks)["CHECKS"]
_SCHEMA: Final[Any] = schemathesis.openapi.from_dict(openapi_document(SERVICE, "0"), config=_CONFIG)
OPERATIONS: Final[dict[str, Any]] = {
    found.ok().definition.raw["operationId"]: found.ok() for found in _SCHEMA.get_all_operations()
}


def as_text(value: Any) -> bytes:
    """Text as it is sent; what is no text goes as JSON would."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else orjson.dumps(value)


@schemathesis.serializer(LINES)
def as_lines(_context: object, value: Any) -> bytes:
    """Lines as they are sent."""
    return as_text(value)


@schemathesis.serializer("application/secevent+jwt")
def as_event(_context: object, value: Any) -> bytes:
    """A security event token goes as it is."""
    return as_text(value)


def corners(name: str) -> list[Any]:
    """Every corner of an operation's schemas, the good side and the bad, always in the same order."""
    generation = _SCHEMA.config.generation_for(operation=OPERATIONS[name])
    return list(_SCHEMA.iter_coverage_cases(OPERATIONS[name], generation_modes=MODES, generation_config=generation))


def anything(name: str) -> SearchStrategy[Any]:
    """Requests to an operation that fit its schemas, and such that do not."""
    return one_of(*(OPERATIONS[name].as_strategy(generation_mode=mode) for mode in MODES))


def keeps_its_path(case: Any) -> bool:
    """Whether the point of a case is a path that is wrong."""
    return case.meta is not None and case.meta.is_negative_at(ParameterLocation.PATH)


def is_positive(case: Any) -> bool:
    """Whether everything in a case fits the schema."""
    return case.meta is None or case.meta.generation.mode.is_positive


def prepared(case: Any, headers: Mapping[str, str]) -> dict[str, Any]:
    """A case as what a client is called with."""
    plan = case.as_transport_kwargs(base_url=BASE, headers=dict(headers))
    made = requests.Request(**plan).prepare()
    return {
        "method": made.method,
        "url": made.url,
        "content": made.body,
        "headers": [(_raw(name), _raw(value)) for name, value in made.headers.items()],
    }


def hold(case: Any, answer: Any, headers: Mapping[str, str]) -> None:
    """Fail for an answer that the description does not have."""
    # Any text is lines; which of them are good is said line by line, in a 200.
    left_out = {NEGATIVE} if case.media_type == LINES else set[str]()
    # Without a credential of ours a case may bring one that it made up.
    if not headers or case.operation.definition.raw["operationId"] in DEPENDS:
        left_out.add(POSITIVE)
    names = [name for name in CHECKS if name not in left_out]
    chosen = _KNOWN.get_by_names(names)
    case.validate_response(answer, checks=chosen, headers=dict(headers))


def _raw(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")
