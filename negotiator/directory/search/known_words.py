"""The words and names that tools have, for fuzzy search: tantivy, a cache that is derived from the catalogue."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import tantivy

from negotiator.directory.search.spelling import SHORTEST_WORD, phonetic_key

_HEAP: Final = 20_000_000
_BUILDING_HEAP: Final = 400_000_000
"""Bytes that the library may use before it writes a part of the index; every part costs each query."""


class KnownWords:
    """Words in memory or in a folder that is this process's own. Changes are searchable after `commit`. `building` is
    for a whole catalogue.
    """

    def __init__(self, folder: Path | None = None, *, building: bool = False) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("number", fast=True)
        for field in ("word", "name", "sound"):
            builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        self.folder = folder
        self._index = tantivy.Index(self._schema, path=str(folder) if folder else None)
        self._writer = self._index.writer(_BUILDING_HEAP if building else _HEAP, 1)
        self._searcher = self._index.searcher()
        self._known: dict[str, dict[str, int]] = {"word": {}, "name": {}}
        self._texts: list[str] = []
        self._learned = False

    def learn(self, field: str, words: Iterable[str]) -> None:
        """Make words findable by `near`: `field` is `word` or `name`. Numbers and very short words are left out."""
        known = self._known[field]
        for word in words:
            if len(word) >= SHORTEST_WORD - 1 and word not in known and not word.isdigit():
                document = tantivy.Document()
                document.add_unsigned("number", len(self._texts))
                document.add_text(field, word)
                if word.isalpha() and len(word) >= SHORTEST_WORD:
                    document.add_text("sound", field + phonetic_key(word))
                self._writer.add_document(document)
                known[word] = len(self._texts)
                self._texts.append(word)
                self._learned = True

    def commit(self) -> tantivy.Searcher:
        """Write what was learned; the searcher that sees it, for `use`."""
        if self._learned:
            self._learned = False
            self._writer.commit()
            self._index.reload()
        return self._index.searcher()

    def built(self) -> None:
        """Make all that was learned searchable; from now on little is learned at a time."""
        self.close()
        self._writer = self._index.writer(_HEAP, 1)

    def use(self, searcher: tantivy.Searcher) -> None:
        """Answer from this searcher from now on."""
        self._searcher = searcher

    def close(self) -> None:
        """Write everything to the folder; nothing can be learned afterwards."""
        self.use(self.commit())
        self._writer.wait_merging_threads()

    def state(self) -> dict[str, Any]:
        """What `restore` needs beside the folder."""
        return {"known": self._known, "documents": self._searcher.num_docs}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave; ValueError when the folder is another one."""
        if self._searcher.num_docs != state["documents"]:
            raise ValueError("known words are missing")
        self._known = state["known"]
        self._texts = [""] * sum(map(len, self._known.values()))
        for known in self._known.values():
            for word, number in known.items():
                self._texts[number] = word

    def near(self, field: str, word: str, most: int) -> list[str]:
        """Known words within `most` errors of a word, and those that sound alike."""
        if most == 0:
            return []
        made, should = tantivy.Query, tantivy.Occur.Should
        fuzzy = made.fuzzy_term_query(self._schema, field, word, distance=most)
        alike = made.term_query(self._schema, "sound", field + phonetic_key(word))
        query = made.boolean_query([(should, fuzzy), (should, alike)])
        hits = self._searcher.search(query, max(1, self._searcher.num_docs), count=False).hits
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        return [self._texts[int(number or 0)] for number in numbers]
