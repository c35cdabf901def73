"""What the page "Prepare a negotiation" shows, read from its HTML: fields, notes, faults; and what its form sends."""

import re
from dataclasses import asdict
from html import unescape
from html.parser import HTMLParser

from negotiator.console.talk.preparation_form import Preparation

_NOTE = re.compile(r'<p id="note-([^"]+)" class="([^"]+)">([^<]*)</p>')


class _Fields(HTMLParser):
    """The fields of a page's form, as a browser would send them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._select = ""
        self._area = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = given.get("id") == "preparation"
        if not self._inside:
            return
        name = given.get("name", "")
        if tag == "input" and name and (given.get("type") != "radio" or "checked" in given):
            self.found[name] = given.get("value", "")
        elif tag == "select":
            self._select = name
        elif tag == "option" and (self._select not in self.found or "selected" in given):
            self.found[self._select] = given.get("value", "")
        elif tag == "textarea":
            self._area = name
            self.found[name] = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.found[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._area = ""
        elif tag == "form":
            self._inside = False


def fields_of(page: str) -> dict[str, str]:
    """Each field of the form with its value."""
    reader = _Fields()
    reader.feed(page)
    return reader.found


def sent_fields(form: Preparation) -> dict[str, str]:
    """Every field of a form with what was typed, as it is sent."""
    named = asdict(form)
    rows = named.pop("rows")
    points = {f"i{n}.{name}": text for n, row in enumerate(rows) for name, text in row.items()}
    return {**named, "rows": str(len(rows)), **points}


def notes_of(page: str) -> dict[str, str]:
    """The line under each field, by the field's id."""
    return {field: unescape(text) for field, _, text in _NOTE.findall(page)}


def faults_of(page: str) -> dict[str, str]:
    """The same of the fields that something is wrong with."""
    return {field: unescape(text) for field, kind, text in _NOTE.findall(page) if kind == "field-error"}
