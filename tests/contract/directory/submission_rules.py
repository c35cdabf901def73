"""The manifest's part on what agents write: seed §1 and §5 on submissions and collections, contract §2 and §6."""

from typing import Final

WRITING: Final = {
    "directory:1:submitting": "new tools and data updates are submitted with the write scope",
    "directory:1:collections": "collections are saved and retrieved with the bookmark scopes",
    "directory:5:scope-tools-write": "tools:write opens submitting and updating, and no more",
    "directory:5:scope-bookmarks-read": "bookmarks:read opens retrieving collections, and no more",
    "directory:5:scope-bookmarks-write": "bookmarks:write opens saving and updating, and no more",
    "contract:6:submission": "a new tool is 202, a Location and a submission with its checks",
    "contract:6:update": "PATCH of a tool is a merge patch under If-Match, 202 and a submission",
    "contract:6:submission-states": "pending, approved, rejected with a code, sent back, withdrawn",
    "contract:6:submission-own": "a submission is its submitter's alone",
    "contract:6:reports": "reports need tools:read, one open for each reporter and tool",
    "contract:6:bookmarks": "collections are made, read, replaced, patched, deleted, item by item too",
    "contract:6:bookmark-conditions": "a change of a collection needs If-Match: 428, 412, strong ETag",
    "contract:6:shared": "a share link opens a collection for reading without a scope",
    "contract:2:submissions": "directory submissions list, show, approve and reject with a reason",
    "ours:collections-alias": "/api/v1/collections is /api/v1/bookmarks",
    "ours:takedown": "a proven publisher takes its tool down at once, nobody else does",
}
