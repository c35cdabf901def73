"""Names and texts of strangers at the operator's terminal: printed, never obeyed."""

import json
import sqlite3
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, Final

import httpx2
import orjson
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.strict_json import is_array, is_object
from negotiator.base.values import escape_invisible, has_invisible_characters
from negotiator.cli.main import COMMANDS, load
from negotiator.cli.output import print_result
from negotiator.config.settings import Settings
from negotiator.runtime import telemetry
from negotiator.store import audit
from tests.conftest import Change, Mint, bearer
from tests.helpers.directory_agents import add_tool, join_directory, tool
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.operator_commands import Operator
from tests.helpers.operator_commands import operator as _operator

operator = _operator
PLAIN: Final = "a plain name"
NAMES: Final = (
    "[/x]",
    "[bold red]x[/]",
    "[link=https://evil.example]x[/link]",
    "did:key:z6Mk :key: :smile:",
    "\x1b[31mred\x1b]0;title\x07\x1b]8;;https://evil.example\x07x\x1b]8;;\x07",
    "\x9b31m C1 \x85",
    "one\ntwo\r\nthree\ttab\x0b\x0c\u2028\u2029",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200f",
    "שלום مرحبا",
    "👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ✅",
    "a\u200bb\ufeffc\u00ad",
    "\x7f\x08\x00",
    "x" * 500,
    "".join(map(chr, range(0x80, 0x3000, 31))),
)
LISTS: Final = {
    ("audit",),
    ("users", "list"),
    ("clients", "list"),
    ("delegations", "list"),
    ("issuers", "list"),
    ("keys", "list"),
    ("directory", "agents", "list"),
    ("directory", "submissions", "list"),
    ("directory", "submissions", "show"),
    ("directory", "reports", "list"),
    ("directory", "import"),
    ("memory", "review"),
}
_LISTING: Final = {"audit", "list", "show", "review", "import"}
_COUNTING: Final = {("keys", "import")}
"""Shows a number only."""


def commands(found: Any, path: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Every command of a topic, or the command itself."""
    if not hasattr(found, "commands"):
        yield path
        return
    for name, each in found.commands.items():
        yield from commands(each, (*path, name))


def test_every_command_that_lists_is_among_those_tried() -> None:
    tree = chain.from_iterable(commands(load(name), (name,)) for name in COMMANDS)
    assert {each for each in tree if each[-1] in _LISTING} - _COUNTING == LISTS


def copy_rows(file: Path, table: str, column: str, unique: tuple[str, ...] = ("id",)) -> None:
    """Copy the one row of a table under every hostile name."""
    with sqlite3.connect(file, timeout=10) as database:
        database.row_factory = sqlite3.Row
        row = dict(database.execute(f"select * from {table} limit 1").fetchone())  # noqa: S608
        for number, name in enumerate(NAMES):
            changed = {key: f"{row[key]}{number}" for key in unique} | {column: name}
            values = {**row, **changed}
            marks = ", ".join(f":{key}" for key in values)
            database.execute(f"insert into {table} values ({marks})", values)  # noqa: S608
    database.close()


async def shows(operator: Operator, *words: str, holds: Iterable[str] = NAMES) -> None:
    """The command survives, prints no control character, and with --json is exact."""
    said = await operator(*words)
    assert said.exit_code == 0, said
    assert not [mark for mark in said.out if mark != "\n" and has_invisible_characters(mark)]
    printed = said.out.replace("\n", "").replace(" ", "")
    for name in holds:
        assert escape_invisible(name).replace(" ", "")[:60] in printed, name
    exact = await operator(*words, "--json")
    assert not [mark for mark in exact.out if mark != "\n" and has_invisible_characters(mark)]
    texts = list(strings(orjson.loads(exact.out)))
    for name in holds:
        assert any(name in text for text in texts), name


def strings(value: Any) -> Iterable[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    within = list(value.values()) if is_object(value) else value if is_array(value) else []
    for each in within:
        yield from strings(each)


@pytest.mark.asyncio
async def test_no_name_ends_a_list_or_reaches_the_terminal_as_it_is(
    operator: Operator, client: httpx2.AsyncClient, change: Change, settings: Settings, mint: Mint, tmp_path: Path
) -> None:
    file = settings.data_dir / "negotiator.db"
    await mint("ada@example.com", label="first")
    await operator.json("clients", "add", PLAIN)
    agent, key = await join_directory(client, change), await add_tool(change, "Acme")
    await agent.post(f"/tools/{key}/reports", {"reason": "malware", "details": PLAIN})
    submitted = (await agent.post("/tools", tool(PLAIN, "t.example"))).json()["id"]
    keys = tmp_path / "jwks.json"
    keys.write_bytes(orjson.dumps(FakeIssuer("any").jwks()))
    await operator("issuers", "add", "https://idp.example", "--jwks-file", str(keys))
    for table, column, unique in (
        ("users", "name", ("id", "email")),
        ("clients", "name", ("id",)),
        ("delegations", "label", ("id", "digest")),
        ("agents", "name", ("id",)),
        ("trusted_issuers", "email_domains", ("issuer",)),
        ("tool_reports", "details", ("id",)),
    ):
        copy_rows(file, table, column, unique)
    with sqlite3.connect(file, timeout=10) as database:
        proposed = orjson.dumps({"name": NAMES[4], "summary": "\n".join(NAMES)})
        database.execute("update submissions set proposed = ?, note = ?", (proposed, NAMES[6]))
    database.close()

    def events(tx: Any) -> None:
        for name in NAMES:
            audit.record(tx, "agent.registered", name, actor=name, name=name)

    await change(events)
    for words in (("users",), ("clients",), ("delegations",), ("directory", "agents")):
        await shows(operator, *words, "list")
    await shows(operator, "audit", "--limit", "1000")
    await shows(operator, "directory", "reports", "list")
    await shows(operator, "issuers", "list", holds=NAMES[:1])
    await shows(operator, "keys", "list", holds=())
    await shows(operator, "directory", "submissions", "list", holds=NAMES[4:5])
    await shows(operator, "directory", "submissions", "show", submitted, holds=NAMES)
    lines = tmp_path / "entries.ndjson"
    entries = [orjson.dumps({"name": name, name: name}) for name in NAMES]
    lines.write_bytes(b"\n".join(entries))
    await shows(operator, "directory", "import", str(lines), holds=())


@pytest.mark.asyncio
async def test_a_memory_waits_for_review_whatever_it_says(
    operator: Operator, client: httpx2.AsyncClient, change: Change, mint: Mint, settings: Settings
) -> None:
    _, code = await mint("ada@example.com", scopes=["memories:read", "memories:write"])
    made = (await client.post("/api/agent/register", json={"type": "anonymous"})).json()
    claim = {"claim_token": code}
    bound = await client.post("/api/agent/claim", json=claim, headers=bearer(made))
    body = {"text": "They always ask for more.", "kind": "fact"}
    sent = await client.post("/api/memories", json=body, headers=bearer(bound.json()))
    assert sent.status_code == 201, sent.text
    with sqlite3.connect(settings.data_dir / "negotiator.db", timeout=10) as database:
        (kept,) = database.execute("select document from memories").fetchone()
        view = orjson.loads(kept) | {"text": NAMES[4], "status": "quarantined", "origin": NAMES[0]}
        written = orjson.dumps(view)
        database.execute("update memories set document = ?, status = 'quarantined'", (written,))
    database.close()
    await shows(operator, "memory", "review", "--user", "ada@example.com", holds=NAMES[4:5])


@pytest.mark.asyncio
async def test_a_refusal_and_a_misuse_print_no_markup_and_no_control_character(operator: Operator) -> None:
    for name in NAMES:
        for words in (
            ("users", "disable", f"{name}@x.de"),
            ("directory", "agents", "vet", name),
            ("clients", "remove", name),
            ("audit", "--limit", name),
            ("users", "list", name),
        ):
            if "\0" in name:
                continue
            said = await operator(*words)
            assert said.exit_code in {1, 2}
            assert "Traceback" not in said.err
            if said.exit_code == 1:
                assert not [mark for mark in said.err[:-1] if has_invisible_characters(mark)]


@given(st.text())
def test_what_is_made_visible_has_nothing_hidden_and_loses_nothing(text: str) -> None:
    shown = escape_invisible(text)
    assert not has_invisible_characters(shown)
    assert (shown == text) == (not has_invisible_characters(text))
    assert len(shown) >= len(text)


def test_json_is_exact_and_holds_no_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    print_result(list(NAMES), "", as_json=True)
    out = capsys.readouterr().out
    assert json.loads(out) == list(NAMES)
    assert not [mark for mark in out if mark != "\n" and has_invisible_characters(mark)]


def test_a_log_line_obeys_no_text_in_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = structlog.get_config()
    try:
        telemetry.configure("console")
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stdout), cache_logger_on_first_use=False)
        for name in NAMES:
            telemetry.logger("tests").info("said", name=name)
    finally:
        structlog.configure(**before)
    for line in capsys.readouterr().out.splitlines():
        assert "evil.example\x07" not in line
        assert not set(line) & {"\x07", "\x9b", "\u202e", "\x08", "\x00", "\r"}
