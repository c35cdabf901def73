"""The rules of the directory's catalogue, by id."""

from typing import Final

CATALOGUE: Final = {
    "directory:1:search": "tools are searched, retrieved and filtered",
    "directory:1:taxonomy": "categories are a taxonomy of tools",
    "directory:1:public": "some read endpoints work without credentials, at baseline limits",
    "directory:4:query": "GET /api/v1/tools takes the free text in query",
    "directory:4:categories": "GET /api/v1/categories answers",
    "directory:4:no-header": "tools, categories and health take requests without Authorization",
    "directory:5:public": "public endpoints also allow unauthenticated reads",
    "directory:5:bearer": "a credential that is sent on a public path must be valid",
    "directory:8:headers": "the three rate-limit headers are on every answer",
    "directory:9:version": "the data API is under /api/v1",
    "contract:6:tools": "filters, sort, facets and cursor of the list",
    "contract:6:tool": "a tool by id or slug, many at once, the feed, the export",
    "contract:6:categories": "the taxonomy of nineteen with counts",
    "contract:6:registry": "the MCP registry's read surface over the same data",
    "contract:6:content": "the catalogue starts with real entries, each with its evidence",
    "contract:2:directory-import": "directory import takes files over, with a dry run and a line for each",
}
