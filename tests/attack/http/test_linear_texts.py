"""No pattern of the package, and no reader of texts, takes more time than in proportion to the text."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

import pytest

import negotiator
from negotiator.advice.plans.markdown import escape_markdown as escaped
from negotiator.advice.tactics.recognition import recognise_tactics
from negotiator.agents.delegation import normalise_code
from negotiator.base.errors import Refusal
from negotiator.base.search_terms import stemmed_terms
from negotiator.base.strict_json import read_object, read_segment
from negotiator.console.browser_sessions import browser_name, local_path
from negotiator.directory.draft_checks import injection_kinds
from negotiator.directory.identity_proof import did_web_url, is_document_url
from negotiator.directory.name_likeness import folded_name
from negotiator.directory.record_text import plain_text, single_line, slugify
from negotiator.directory.search.spelling import phonetic_key
from negotiator.directory.search.terms import inner_words, words
from negotiator.discovery.documents import preferred_media_type
from negotiator.http.endpoint import is_not_modified
from negotiator.http.guard import address_key
from negotiator.http.input import parse_form, parse_query
from negotiator.memory.content_guard import fold_lookalikes, strip_invisible, suspicion_reason, text_digest
from negotiator.numbers.read import numbers_in
from negotiator.teleprompter.cues.matcher import text_pieces
from negotiator.teleprompter.redaction import redact
from negotiator.teleprompter.spoken_figures import find_figures
from negotiator.tokens import redirect_uris
from negotiator.trust.claims import AssertionRefused, mail_domain
from negotiator.trust.signatures import read_compact
from tests.helpers import lane
from tests.helpers.linear_time import UNITS, filled, is_linear, pairs

codes: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")
READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "accept": lambda text: preferred_media_type(text, ("text/html", "text/markdown")),
    "entity tags": lambda text: is_not_modified({"if-none-match": text}, '"1"'),
    "dates": lambda text: is_not_modified({"if-modified-since": text}, '"1"', "Sun, 22 Nov 2026 00:00:00 GMT"),
    "addresses": address_key,
    "form": lambda text: parse_form(text.encode()),
    "query": lambda text: parse_query(text.encode("ascii")),
    "json": lambda text: read_object(text.encode()),
    "json text": lambda text: read_object(b'{"a": "' + text.encode() + b'"}'),
    "segment": lambda text: read_segment(text.encode()),
    "assertion": read_compact,
    "mail address": mail_domain,
    "code": normalise_code,
    "path": lambda text: local_path("/" + text, otherwise="/"),
    "user agent": browser_name,
    "did": lambda text: did_web_url("did:web:" + text),
    "document url": lambda text: is_document_url("https://" + text),
    "redirect uri": redirect_uris.registration_fault,
    "redirect uri of https": lambda text: redirect_uris.registration_fault("https://h.example/" + text),
    "redirect host": lambda text: redirect_uris.registration_fault("https://" + text),
    "injection": injection_kinds,
    "name": folded_name,
    "plain text": plain_text,
    "line": single_line,
    "slug": slugify,
    "sound": phonetic_key,
    "search words": words,
    "parts of a name": inner_words,
    "terms": stemmed_terms,
    "suspicion": lambda text: suspicion_reason([text], "tactic"),
    "cleaned": strip_invisible,
    "drawn": fold_lookalikes,
    "digest": lambda text: text_digest(text, None),
    "numbers": numbers_in,
    "figures": find_figures,
    "redaction": redact,
    "tactics": recognise_tactics,
    "pieces": text_pieces,
    "markdown": escaped,
}  # fmt: skip
_CATEGORIES: Final = {"DIGIT": "1", "WORD": "a", "SPACE": " ", "NOT_WORD": "-"}
_TEXT: Final = 4096
"""Characters of the longest text that the service takes."""
_MOST_LETTERS: Final = 5


@pytest.mark.parametrize("name", READERS)
def test_reading_is_linear(name: str) -> None:
    read = READERS[name]

    def call(unit: str) -> Callable[[int], object]:
        def run(size: int) -> object:
            try:
                return read(filled(unit, size))
            except (Refusal, ValueError, AssertionRefused):
                return None

        return run

    assert [unit for unit in lane.part(UNITS) if not is_linear(call(unit), _TEXT)] == []


@pytest.mark.long
def test_patterns_are_linear() -> None:
    found = {pattern: (name, anchored) for pattern, name, anchored in _patterns()}
    assert len(found) > 100
    slow = {
        name: unit for pattern, (name, anchored) in found.items() if (unit := _slow_unit(pattern, anchored=anchored))
    }
    assert slow == {}


def test_a_slow_pattern_would_be_found() -> None:
    assert _slow_unit(re.compile(r"a*b"), anchored=False) is not None


def _slow_unit(pattern: re.Pattern[Any], *, anchored: bool) -> str | None:
    letters = _letters(pattern)
    single = letters[:_MOST_LETTERS]
    double = lane.part(sorted(pairs(single) - {*single}))
    for unit in (*single, *double, *_longer(pattern), " ", "\n", "a "):
        for start in ("", *letters[:1]):

            def run(size: int, start: str = start, unit: str = unit) -> None:
                text: Any = start + filled(unit, size)
                nothing: Any = ""
                if isinstance(pattern.pattern, bytes):
                    text, nothing = text.encode(), b""
                pattern.fullmatch(text)
                if not anchored:
                    pattern.subn(nothing, text)

            if not is_linear(run, _TEXT):
                return start + unit
    return None


def _patterns() -> Iterator[tuple[re.Pattern[Any], str, bool]]:
    """Every compiled pattern that a module of the package holds; whether it is only tried at the start of a text."""
    for module in pkgutil.walk_packages(negotiator.__path__, "negotiator."):
        if ".migrations" in module.name or ".cli" in module.name or "__main__" in module.name:
            continue
        loaded = importlib.import_module(module.name)
        source = Path(str(loaded.__file__)).read_text()
        for name, value in vars(loaded).items():
            used = set(re.findall(rf"\b{re.escape(name)}\.(\w+)\(", source))
            for pattern in _within(value):
                yield (pattern, f"{module.name}.{name}", bool(used) and used <= {"fullmatch", "match"})


def _within(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield cast("re.Pattern[Any]", value)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in cast("list[Any]", value):
            yield from _within(each)
    elif isinstance(value, dict):
        yield from _within(list(cast("dict[Any, Any]", value).values()))


def _letters(pattern: re.Pattern[Any]) -> list[str]:
    """Letters that the pattern speaks of, in their order."""
    text = _text(pattern)
    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, parser.SubPattern):
            node = node.data
        if not isinstance(node, list | tuple):
            return
        match cast("tuple[Any, ...]", node):
            case (codes.LITERAL | codes.NOT_LITERAL, int() as letter):
                found.append(chr(letter))
            case (codes.RANGE, (int() as first, int())):
                found.append(chr(first))
            case (codes.CATEGORY, category):
                found.append(_CATEGORIES.get(str(category).removeprefix("CATEGORY_"), "a"))
            case parts_:
                for each in parts_:
                    walk(each)

    walk(parser.parse(text, pattern.flags))
    return list(dict.fromkeys(found))


def _longer(pattern: re.Pattern[Any]) -> list[str]:
    """Whole words of the pattern, each with a blank."""
    return [f"{word} " for word in re.findall(r"[A-Za-z]{3,}", _text(pattern))[:4]]


def _text(pattern: re.Pattern[Any]) -> str:
    return pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
