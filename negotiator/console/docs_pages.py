"""`/docs`: guides by job, the reference of operations, and a search over both; no page needs a sign-in.

Programs that prefer markdown get a guide, and the list of all, as markdown.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.base.errors import NotFound
from negotiator.base.scopes import ordered
from negotiator.console.guides_content import (
    EXAMPLE_BASE,
    JOBS,
    GuideJob,
    find_guide,
    guides_of,
    search_entries,
    term_weights,
)
from negotiator.console.page_calls import VARIES, OpenPages, Reader
from negotiator.discovery import openapi
from negotiator.discovery.documents import negotiated_response
from negotiator.discovery.public_pages import GROUP_PATH, GUIDE_PATH, GUIDES_PATH, MANUAL_PATH, REFERENCE_PATH
from negotiator.discovery.site import SiteDescription
from negotiator.http.operation import Operation
from negotiator.runtime.thread_pools import BuiltOnce


@dataclass(frozen=True, slots=True)
class ReferenceOperation:
    """One operation with examples of its command and answer; `terms` has the weight of each term that finds it."""

    operation: Operation
    command: str
    answer: str
    terms: Mapping[str, float]

    @property
    def address(self) -> str:
        return f"{REFERENCE_PATH}/{self.operation.tag}#{self.operation.name}"


@dataclass(frozen=True, slots=True)
class ReferenceGroup:
    """The operations of one tag: those of one page."""

    name: str
    about: str
    operations: tuple[ReferenceOperation, ...]

    @property
    def address(self) -> str:
        return f"{REFERENCE_PATH}/{self.name}"


def reference_groups(site: SiteDescription) -> tuple[ReferenceGroup, ...]:
    """All operations of the service in the order of its description; making their examples takes half a second."""
    grouped: dict[str, list[ReferenceOperation]] = {}
    for operation in site.api:
        grouped.setdefault(operation.tag, []).append(_described(operation, site.base))
    return tuple(ReferenceGroup(tag, openapi.TAGS[tag], tuple(listed)) for tag, listed in grouped.items())


def _described(operation: Operation, base: str) -> ReferenceOperation:
    hint = operation.tool.hint if operation.tool else ""
    answer = openapi.example_answer(operation)
    name = operation.name.replace("_", " ")
    return ReferenceOperation(
        operation,
        openapi.curl_command(operation, base),
        "" if answer is None else json.dumps(answer, indent=2, ensure_ascii=False),
        term_weights(f"{operation.path} {hint}", operation.summary, f"{name} {operation.tag}"),
    )


LONGEST_QUERY: Final = 200
_FOUND: Final = 8


@dataclass(frozen=True, slots=True)
class DocsPages:
    """The entrance with the search, the page of each guide, and the reference by group.

    `reference` reads the guides and makes the groups when a page first needs them.
    """

    pages: OpenPages
    reference: BuiltOnce[tuple[ReferenceGroup, ...]]

    def routes(self) -> list[Route]:
        return [
            self.pages.route(MANUAL_PATH, self.show),
            self.pages.route(GUIDES_PATH, self.move),
            self.pages.route(GUIDE_PATH, self.show_guide),
            self.pages.route(REFERENCE_PATH, self.show_reference),
            self.pages.route(GROUP_PATH, self.show_group),
        ]

    async def show(self, request: Request, reader: Reader) -> Response:
        await self.reference.get()
        query = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
        jobs = self._jobs()
        guides, operations = ([], [])
        if query:
            guides = search_entries([guide for job in jobs for guide in guides_of(job)], query)
            listed = [each for group in self.reference.now() for each in group.operations]
            operations = search_entries(listed, query)
        markdown = _listed(jobs, self.pages.site.base)
        return self._render(
            request, reader, "docs.html", markdown, query=query, guides=guides[:_FOUND], operations=operations[:_FOUND]
        )

    async def move(self, request: Request, reader: Reader) -> Response:
        """The list of guides is `/docs`; its address of before leads there."""
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{self.pages.site.root}{MANUAL_PATH}{query}", 308)

    async def show_guide(self, request: Request, reader: Reader) -> Response:
        await self.reference.get()
        guide = find_guide(request.path_params["name"])
        if guide is None:
            raise NotFound(f"There is no such guide. All guides are at {MANUAL_PATH}.")
        site = self.pages.site
        linked = guide.html.replace(f'href="{EXAMPLE_BASE}', f'href="{site.root}')
        return self._render(
            request,
            reader,
            "docs_guide.html",
            guide.text.replace(EXAMPLE_BASE, site.base),
            guide=guide,
            html=linked.replace(EXAMPLE_BASE, site.base),
        )

    async def show_reference(self, request: Request, reader: Reader) -> Response:
        await self.reference.get()
        return self._render(request, reader, "docs_reference.html")

    async def show_group(self, request: Request, reader: Reader) -> Response:
        await self.reference.get()
        name: str = request.path_params["group"]
        found = next((group for group in self.reference.now() if group.name == name), None)
        if found is None:
            raise NotFound(f"The reference has no such group. All are at {REFERENCE_PATH}.")
        return self._render(request, reader, "docs_group.html", group=found)

    def _jobs(self) -> list[GuideJob]:
        """The jobs whose service runs here."""
        site = self.pages.site
        running = {"": True, "assistant": site.negotiates, "directory": site.lists_tools}
        return [job for job in JOBS if running[job.service]]

    def _render(self, request: Request, reader: Reader, template: str, markdown: str = "", **context: Any) -> Response:
        page = self.pages.render(
            request,
            reader,
            template,
            here="docs",
            path=request.url.path.removeprefix(self.pages.site.root),
            jobs=self._jobs(),
            guides_of=guides_of,
            ordered=ordered,
            groups=self.reference.now(),
            version_text=self.pages.site.version,
            **context,
        )
        if reader is not None or not markdown:
            return page
        told = {
            name: page.headers[name]
            for name in ("content-security-policy", "permissions-policy", "cache-control")
            if name in page.headers
        }
        return negotiated_response(request, bytes(page.body), markdown.encode(), {**told, "vary": VARIES})


def _listed(jobs: list[GuideJob], base: str) -> str:
    """The table of contents as markdown."""
    lines = ["# Negotiator: documentation", ""]
    for job in jobs:
        lines += [f"## {job.title}", ""]
        lines += [f"- [{guide.title}]({base}{GUIDES_PATH}/{guide.name}): {guide.summary}" for guide in guides_of(job)]
        lines.append("")
    return "\n".join([*lines, "## Reference", "", f"- [Operations]({base}{REFERENCE_PATH})", ""])
