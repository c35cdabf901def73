"""Inputs made from good ones: bytes, texts, JSON values, and values that a JSON Schema describes."""

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, cast

from negotiator.base.schema_examples import Place

STRANGE_BYTES: Final = (
    *(b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc0\xaf", b"\xed\xa0\x80", b"\x80", b"\r\n", b"\n\n", b"\t"),
    *(b"%00", b"%", b"%ff", b"&", b"=", b";", b"..", b"/", b"\\", b"'", b'"', b"{", b"[", b"}", b"]", b":", b","),
    *(b"null", b"NaN", b"1e999", b"-0", b"\\ud800", b"\\u0000", b"9" * 40, b"eyJ", b".", b"-", b"_", b"+", b"=="),
)  # fmt: skip
STRANGE_TEXTS: Final = (
    *("", " ", "\t", "\n", "\r\n", "\0", "\x7f", "\x1b[2J", "\u200b", "\u202e", "\ufeff", "\u00ad", "\u2028", "\ufffd"),
    *("e\u0301" * 40, "\u0301" * 80, "ß", "İ", "ı", "ﬁ", "ﷺ", "١٢٣", "１２３", "½", "Ⅻ", "一百", "日本語", "😀"),
    *("null", "true", "NaN", "Infinity", "-inf", "1e400", "-1e400"),
    *("1e-400", "0x10", "1_000", "٣", "+", "-", "--1", "."),
    *("0", "-0", "00", "1,5", "1.500", "1.500,00", "1 000", "15k"),
    *("5 million", "€500", "$ 5", "500 kr", "12 %", "100%"),
    *("2027-02-30", "0000-00-00", "9999-12-31T23:59:59Z", "0001-01-01"),
    *("10000-01-01", "24:00", "2027-03-01T00:00:00+99:99"),
    *("../../etc/passwd", "file:///etc/passwd", "http://127.0.0.1:1/"),
    *("http://[::1]/", "https://a.example:99999/", "//"),
    *("javascript:alert(1)", "<script>", "{{7*7}}", "${a}", "%s%n"),
    *("' OR 1=1 --", '"', "\\", "`", "*", "NOT", "AND", "("),
    *("a@b", "a@b.example", "@", "did:web:", "did:web:a%3A1", "EUR"),
    *("eur", "XXX", "__proto__", "id", "a" * 300, "a " * 150),
    *("between 5 and", "half a dozen", "twenty twenty one hundred and", "one two three four five six seven eight nine"),
)  # fmt: skip
STRANGE_NUMBERS: Final = (
    *(0, -1, 1, 2, 100, 101, 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 253_402_300_799),
    *(0.1, -0.0, 0.5, 1e-9, 5e-324, 1e15, 1e16, 1e22, 1e100, 1.7976931348623157e308, -1e308, 99.999999, 1e-320),
)
_ODDITIES: Final[Sequence[Callable[[str], str]]] = (
    lambda text: text.replace("}", ',"a":1,"a":2}', 1),
    lambda text: text.replace("1", "NaN", 1),
    lambda text: text.replace("1", "1e999", 1),
    lambda text: text.replace("a", "\\ud800", 1),
    lambda text: text.replace("e", "\\u0000", 1),
    lambda text: text.replace(":", ":" + "[" * 30, 1),
    lambda text: text.replace(":", ' : "x", "more":', 1),
    lambda text: f"\ufeff{text}",
    lambda text: f"{text}{text}",
    lambda text: f"[{text}]",
    lambda text: text[: len(text) // 2],
)  # fmt: skip
"""Texts that are no strict JSON, made from such that are."""
_LONGEST: Final = 20_000
_DEEPEST: Final = 5


class Mutator:
    """Changes values by a generator of random numbers; the same generator makes the same changes."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def happens(self, chance: float) -> bool:
        """True as often as this."""
        return self.random.random() < chance

    def any_of(self, options: Sequence[Any]) -> Any:
        """One of the options."""
        return options[self.random.randrange(len(options))]

    def data(self, good: bytes, others: Sequence[bytes] = ()) -> bytes:
        """Bytes with one to four changes; `others` lend parts."""
        made = bytearray(good)
        for _ in range(self.random.choice((1, 1, 2, 4))):
            self._change_data(made, others)
        return bytes(made[:_LONGEST])

    def text(self, good: str) -> str:
        """A text with one to three changes, without lone surrogates."""
        made = good
        for _ in range(self.random.choice((1, 1, 2, 3))):
            made = self._changed_text(made)
        return made[:_LONGEST]

    def json(self, value: Any) -> bytes:
        """The value as JSON, now and then as something close to it."""
        text = json.dumps(value, ensure_ascii=self.happens(0.2))
        if self.happens(0.05):
            text = self.any_of(_ODDITIES)(text)
        if self.happens(0.02):
            return self.data(text.encode())
        return text.encode()

    def value(self, good: Any, others: Sequence[Any] = ()) -> Any:
        """A JSON value with one to three changes somewhere inside; `others` lend parts."""
        made = json.loads(json.dumps(good))
        for _ in range(self.random.choice((1, 1, 2, 3))):
            made = self._changed_value(made, others)
        return made

    def described(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
        """A value that fits a JSON Schema in its form; patterns are not looked at."""
        return self._described(schema, definitions, 0)

    def _change_data(self, made: bytearray, others: Sequence[bytes]) -> None:
        random = self.random
        at = random.randrange(len(made) + 1)
        length = min(random.choice((1, 1, 2, 4, 16, 64)), len(made) - at)
        match random.randrange(7):
            case 0 if at < len(made):
                made[at] ^= 1 << random.randrange(8)
            case 1:
                made[at:at] = self.any_of(STRANGE_BYTES)
            case 2:
                made[at : at + length] = self.any_of(STRANGE_BYTES)
            case 3:
                del made[at : at + length]
            case 4:
                made[at:at] = bytes(made[at : at + length]) * random.choice((1, 2, 10, 300))
            case 5 if others:
                other = self.any_of(others)
                start = random.randrange(len(other) + 1)
                made[at:at] = other[start : start + random.choice((4, 32, 500))]
            case _:
                del made[at:]

    def _changed_text(self, good: str) -> str:
        random = self.random
        at = random.randrange(len(good) + 1)
        end = at + random.choice((0, 1, 1, 2, 5, 20))
        match random.randrange(7):
            case 0:
                return self.any_of(STRANGE_TEXTS)
            case 1 | 2:
                return good[:at] + self.any_of(STRANGE_TEXTS) + good[end:]
            case 3:
                return good[:at] + good[end:]
            case 4:
                return good[:at] + good[at:end] * random.choice((2, 20, 200)) + good[end:]
            case 5:
                return random.choice((str.upper, str.lower, str.swapcase, str.title))(good)
            case _:
                letter = chr(random.choice((random.randrange(32, 127), random.randrange(0xD7FF))))
                return good[:at] + letter + good[end:]

    def _changed_value(self, whole: Any, others: Sequence[Any]) -> Any:
        places = list(_places(whole))
        place = self.any_of(places)
        if not place:
            return self._changed_node(whole, others)
        holder = whole
        for part in place[:-1]:
            holder = holder[part]
        last = place[-1]
        if isinstance(holder, dict) and self.happens(0.15):
            self._change_member(cast("dict[str, Any]", holder), str(last))
        elif isinstance(holder, list) and self.happens(0.25):
            self._change_list(cast("list[Any]", holder))
        else:
            holder[last] = self._changed_node(holder[last], others)
        return whole

    def _change_member(self, holder: dict[str, Any], name: str) -> None:
        match self.random.randrange(3):
            case 0:
                del holder[name]
            case 1:
                holder[self._changed_text(name)] = holder.pop(name)
            case _:
                holder[self.any_of(STRANGE_TEXTS)] = self._leaf()

    def _change_list(self, entries: list[Any]) -> None:
        match self.random.randrange(4):
            case 0:
                entries.clear()
            case 1:
                entries.append(self._leaf())
            case 2:
                self.random.shuffle(entries)
            case _:
                entries.extend(entries[:1] * self.random.choice((1, 5, 60)))

    def _changed_node(self, node: Any, others: Sequence[Any]) -> Any:
        if isinstance(node, str) and self.happens(0.6):
            return self._changed_text(node)
        if isinstance(node, int | float) and self.happens(0.6):
            return self.any_of((*STRANGE_NUMBERS, -node, str(node), node + 1, node / 3))
        if others and self.happens(0.3):
            other = self.any_of(others)
            for part in self.any_of(list(_places(other))):
                other = other[part]
            return json.loads(json.dumps(other))
        return self._leaf()

    def _leaf(self) -> Any:
        match self.random.randrange(6):
            case 0:
                return self.any_of((None, True, False, [], {}, [None], {"": ""}, [[[[]]]]))
            case 1 | 2:
                return self.any_of(STRANGE_NUMBERS)
            case _:
                return self.any_of(STRANGE_TEXTS)

    def _described(self, schema: Mapping[str, Any], known: Mapping[str, Any], depth: int) -> Any:
        while "$ref" in schema:
            schema = known[schema["$ref"].rpartition("/")[2]]
        if (shown := schema.get("examples")) and self.happens(0.5):
            return self.any_of(shown)
        for name in ("enum", "const"):
            if name in schema:
                return self.any_of(schema[name]) if name == "enum" else schema[name]
        for name in ("anyOf", "oneOf", "allOf"):
            if schema.get(name) and "properties" not in schema:
                return self._described(self.any_of(schema[name]), known, depth + 1)
        kind = schema.get("type")
        match self.any_of(cast("list[str]", kind)) if isinstance(kind, list) else kind:
            case "object":
                return self._object(schema, known, depth)
            case "array":
                least = schema.get("minItems", 0)
                most = 0 if depth > _DEEPEST else min(schema.get("maxItems", 4), 4)
                count = max(least, self.random.randint(0, most))
                entry: dict[str, Any] = schema.get("items") or {}
                return [self._described(entry, known, depth + 1) for _ in range(min(count, 8))]
            case "integer":
                return self.random.randint(schema.get("minimum", 0), schema.get("maximum", 1000))
            case "number":
                return round(self.random.uniform(schema.get("minimum", 0), schema.get("maximum", 1000)), 2)  # fmt: skip
            case "boolean":
                return self.happens(0.5)
            case "null":
                return None
            case "string":
                return self._string(schema)
            case _:
                return self._leaf()

    def _object(self, schema: Mapping[str, Any], known: Mapping[str, Any], depth: int) -> Any:
        needed = frozenset(schema.get("required", ()))
        chance = 0.35 if depth < _DEEPEST else 0.0
        made = {
            name: self._described(each, known, depth + 1)
            for name, each in schema.get("properties", {}).items()
            if name in needed or self.happens(chance)
        }
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and not made:
            names = ("price", "term", self.any_of(STRANGE_TEXTS))
            form = cast("dict[str, Any]", more)
            for name in names[: self.random.randint(0, 3)]:
                made[name] = self._described(form, known, depth + 1)
        return made

    def _string(self, schema: Mapping[str, Any]) -> str:
        form = schema.get("format", "")
        plain: dict[str, Sequence[str]] = {
            "date-time": ("2027-03-31T17:00:00Z", "1970-01-01T00:00:00Z", "2020-02-29T23:59:59Z"),
            "date": ("2027-03-31", "1 March 2027"),
            "uri": ("https://quiet-search.example", "https://example.com/a?b=c#d"),
        }  # fmt: skip
        usual = ("price", "5", "12.50", "Acme", "A sentence about something.", "EUR", "buyer")
        return self.any_of(plain.get(form, usual))


def _places(value: Any, place: Place = ()) -> list[Place]:
    """The place of a value and of all values inside."""
    found: list[Place] = [place]
    if isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            found += _places(each, (*place, name))
    elif isinstance(value, list):
        for number, each in enumerate(cast("list[Any]", value)):
            found += _places(each, (*place, number))
    return found
