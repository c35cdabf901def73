"""`/docs`: every operation on one page, read from the service description; it loads nothing from anywhere."""

import json
from html import escape
from importlib import resources
from typing import Final

from negotiator.discovery import examples
from negotiator.edge.operation import Operation, Service
from negotiator.scopes import ordered

PATH: Final = "/docs"
_NEEDS: Final = {
    "open": "no credential",
    "public": "a credential is optional",
    "bearer": "a bearer token",
}


def manual(service: Service) -> str:
    """The page, grouped by slice in the order of the description."""
    tags = dict.fromkeys(operation.tag for operation in service.operations)
    parts = "".join(_group(service, tag) for tag in tags)
    links = "".join(
        f'<li><a href="{path}">{path}</a></li>'
        for path in ("/auth.md", "/openapi.json", "/llms.txt", "/.well-known/api-catalog")
    )
    style = resources.files("negotiator.discovery").joinpath("manual.css").read_text()
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Negotiator API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><h1>Negotiator API</h1>"
        f"<p>Base: <code>{escape(service.base)}</code></p><ul>{links}</ul>{parts}</body></html>"
    )


def _group(service: Service, tag: str) -> str:
    shown = "".join(_section(operation) for operation in service.operations if operation.tag == tag)
    return f"<h2>{escape(tag)}</h2>{shown}"


def _section(operation: Operation) -> str:
    scopes = f" with {' '.join(ordered(operation.scopes))}" if operation.scopes else ""
    example = examples.of(operation.input)
    body = {name: value for name, value in example.items() if name not in operation.path_parameters}
    shown = (
        ""
        if operation.reads_query or not body
        else f"<pre>{escape(json.dumps(body, indent=2))}</pre>"
    )
    needs = f"Needs {_NEEDS[operation.access]}{escape(scopes)}. Answers {operation.status}."
    return (
        f'<section id="{operation.name}"><h3><b>{operation.method}</b> '
        f"<code>{escape(operation.path)}</code></h3><p>{escape(operation.summary)}.</p>"
        f'<p class="needs">{needs}</p>{shown}</section>'
    )
