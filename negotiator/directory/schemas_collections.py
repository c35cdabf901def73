"""Collections on the wire (docs/contract 9.8)."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema
from typing_extensions import TypedDict

from negotiator.base.schema import Strict, example_schema, merge_patch
from negotiator.base.values import Origin, QueryWhole, Whole
from negotiator.directory.record_text import LineText, ProseText
from negotiator.http.cursors import Cursor

MOST_ITEMS = 500
Visibility = Literal["private", "unlisted", "public"]
CollectionName = Annotated[LineText, Field(min_length=1, max_length=100, description="The collection's name.")]
CollectionDescription = Annotated[ProseText, Field(max_length=2000, description="What the collection is for.")]
EntryNote = Annotated[ProseText, Field(max_length=500, description="Your note on the tool.")]
ToolIdOrSlug = Annotated[str, Field(min_length=1, max_length=100, description="The tool's id, tool_….")]
_POSITION = Field(None, ge=0, description="Its position from 0; past the end means last. Default: last.")
_EXAMPLE: dict[str, Any] = {
    "name": "Databases to try",
    "description": "For the spring project.",
    "visibility": "private",
    "items": [],
}


class ItemBody(Strict):
    """A tool and your note on it. Members that the server sets may be sent back and are ignored."""

    tool_id: ToolIdOrSlug
    note: EntryNote = ""
    position: Any = Field(None, description="Ignored: the order of the list counts.")
    added_at: Any = Field(None, description="Ignored.")
    status: Any = Field(None, description="Ignored.")


class NewCollection(Strict):
    """A collection: its name, its visibility, its tools in order."""

    model_config = ConfigDict(json_schema_extra=example_schema(_EXAMPLE))

    name: CollectionName
    description: CollectionDescription = ""
    visibility: Visibility = Field(
        "private",
        description="`private`: only you; `unlisted`: anyone with the link; `public`: also anyone with the id.",
    )
    items: list[ItemBody] = Field(
        [], max_length=MOST_ITEMS, description="Its tools, in order; each as tool_id and note."
    )


class CollectionId(Strict):
    """The id of a collection, in the path."""

    id: str = Field(description="The collection's id, col_….")


class ReplaceCollection(NewCollection):
    """New content of a collection: absent members get their defaults."""

    id: str = Field(description="The collection's id, col_….")


class EditCollection(merge_patch(NewCollection), CollectionId):
    """A JSON merge patch (RFC 7396): absent members stay; `items` is replaced as a whole."""

    model_config = ConfigDict(json_schema_extra=example_schema({"name": "Databases we tried"}))
    share_url: Annotated[Any, WithJsonSchema({"type": "null"})] = Field(
        None, description="Only null, which revokes the link. Setting `visibility` creates a new one."
    )


class ListCollections(Strict):
    """A page of the user's collections, newest first."""

    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ItemId(CollectionId):
    """A tool of a collection."""

    tool_id: ToolIdOrSlug


class PutItem(ItemId):
    """A tool to add, or a new note or position for one that is in the collection."""

    model_config = ConfigDict(json_schema_extra=example_schema({"note": "Has a free tier."}))

    note: EntryNote | None = Field(None, description="Default: the note stays.")
    position: Whole | None = _POSITION


class SharedToken(Strict):
    """The token at the end of a share link."""

    token: str = Field(max_length=100, description="The token of a share link.")


class ItemView(TypedDict):
    """A tool of a collection; `status` is the tool's, `deleted` for a deleted one."""

    tool_id: str
    note: str
    position: int
    added_at: str
    status: str


class CollectionSummary(TypedDict):
    """A collection without its items."""

    id: str
    name: str
    description: str
    visibility: str
    item_count: int
    revision: int
    share_url: str | None
    origin: Origin
    created_at: str
    updated_at: str


class CollectionView(CollectionSummary):
    """A collection with its items in order."""

    items: list[ItemView]


class CollectionList(TypedDict):
    """A page of collections."""

    items: list[CollectionSummary]
    next_cursor: str | None
