"""An operator's erasure finds every row of a user and of their agents, whatever the table, on both engines.

Rows are made from the tables' own definitions, with a word in every text, so that a table that comes later is covered.
"""

from typing import Any, Final

import pytest
from sqlalchemy import Column, Table, bindparam
from sqlmodel import SQLModel

from negotiator.agents import mail, registration
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.compose import ownership
from negotiator.store import audit
from negotiator.store.model import TableModel
from negotiator.store.ownership import lifetime_of
from negotiator.store.statement import Statement, Transaction, insertion
from negotiator.store.statement import table as table_of
from negotiator.store.store import Store
from negotiator.trust import revocations
from negotiator.users import identity_matching, user_queries
from tests.helpers.stored_texts import names, raw, texts

pytestmark = pytest.mark.asyncio
FUTURE: Final = values.now() + 1000 * values.DAY
PUBLIC: Final = {"tools", "tool_slugs", "tool_keys", "tool_changes", "collection_counts_due"}
"""The catalogue is public; what was published stays until a moderator deletes it."""
ELSEWHERE: Final = {
    *("spent", "clients", "trusted_issuers", "memory_owners"),
    *("leases", "schema_floor", "fingerprints", "signing_keys"),
}
"""Tables without texts of a user: used values, OAuth clients, issuers, signing keys, and counters under an id."""
WRITTEN: Final = {"users", "agents", "identities", "budgets", "revocations", "audit_events"}
"""Tables that `leave_traces` fills by their own functions."""


class Traces:
    """Rows of one user and of one of their agents, with `word` in every text of them."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.email = f"{word}@example.com"
        self.user_id = ""
        self.agent_id = values.new_id("agt")
        self.identity = revocations.identity_key("https://idp.example", "", word)
        self.tables: set[str] = set()

    def leave(self, tx: Transaction) -> None:
        self.user_id = user_queries.add(tx, self.email, name=self.word, actor="192.0.2.7")
        agent = Agent(
            id=self.agent_id,
            service="assistant",
            name=self.word,
            identity_type="mailbox",
            identity_value=f"agent-{self.email}",
            contact_email=self.email,
            user_id=self.user_id,
            issuer=self.word,
            created_at=1,
        )
        registration.add(tx, agent, actor=f"{self.word}.example", value=self.word)
        audit.record(tx, "passkey.added", "pky_1", actor=self.user_id, name=self.word)
        audit.record(tx, "consent.withdrawn", "cli_1", actor=f"{self.word}:1", user=self.user_id)
        identity_matching.link(tx, identity=self.identity, issuer=self.word, user_id=self.user_id, actor="operator")
        for subject in (self.identity, revocations.login_key(self.identity)):
            revocations.revoke(tx, subject)
        assert mail.allow_mail(tx, self.email)
        for principal in (self.user_id, self.agent_id):
            for table in SQLModel.metadata.sorted_tables:
                if table.name not in PUBLIC | ELSEWHERE | WRITTEN:
                    self._leave_row(tx, table, principal)

    def _leave_row(self, tx: Transaction, table: Table, principal: str) -> None:
        declared = lifetime_of(table)
        row = {column.name: self._content(column, table, principal) for column in table.columns}
        if "owner" in declared:
            row[declared["owner"]] = principal
        for column, kind in declared.get("erased_by", {}).items():
            row[column] = self.email if kind == "email" else principal
        for column, parent in declared.get("part_of", {}).items():
            parents = {"users": self.user_id, "agents": self.agent_id}
            row[column] = parents.get(parent) or self._key(parent, principal)
        if principal == self.agent_id and {"users", "agents"} & {*declared.get("part_of", {}).values()}:
            return
        tx.run(Statement(insertion_of(table)), **row)
        self.tables.add(table.name)

    def _key(self, table: str, principal: str) -> str:
        return f"{table}-{self.word}-{principal[-6:]}"

    def _content(self, column: Column[Any], table: Table, principal: str) -> object:
        key = self._key(table.name, principal)
        match str(column.type):
            case "BLOB":
                return f'{{"text": "{self.word}"}}'.encode() * 40
            case "VARCHAR" if column.name == "tool":
                return "tol_1"
            case "VARCHAR":
                return key if column.primary_key or column.unique else f"{column.name}-{key}"
            case "FLOAT":
                return 1.0
            case "BOOLEAN":
                return True
            case _:
                return FUTURE if column.name.endswith("_at") else 1


def insertion_of(table: Table) -> Any:
    [model] = [each for each in TableModel.__subclasses__() if getattr(each, "__tablename__", "") == table.name]
    return insertion(model)


async def test_no_row_and_no_byte_of_an_erased_user_is_left(store: Store, database_url: str) -> None:
    ada, bob = Traces("vandelayindustries"), Traces("kramerica")
    for person in (ada, bob):
        await store.write(person.leave)
    before = await store.read(texts)
    covered = {*SQLModel.metadata.tables} - PUBLIC - ELSEWHERE
    assert names(before, ada.word) == covered, "every table has a trace of them"
    if database_url.startswith("sqlite"):
        assert ada.word.encode() in raw(database_url)

    def erase(tx: Transaction) -> ownership.ErasedPrincipal:
        user = user_queries.by_id(tx, ada.user_id)
        assert user is not None
        return ownership.erase_user(tx, user)

    erased = await store.write(erase)
    await store.scrub()
    after = await store.read(texts)
    assert names(after, ada.word) == set()
    assert ada.word.encode() not in raw(database_url)
    assert names(after, bob.word) == covered, "another user keeps everything"
    assert names(after, ada.user_id) == {"audit_events", "revocations"}
    assert ada.email in erased.emails
    assert erased.rows["memories"] == 2
    events = await store.read(lambda tx: audit.latest_events(tx, 20))
    assert next(each.event for each in events if each.subject == ada.user_id) == "user.erased"
    assert {event.detail for event in events if ada.user_id in (event.subject, event.actor)} == {"{}"}
    assert await store.read(lambda tx: revocations.revoked_before(tx, ada.user_id))


async def test_an_erased_agent_leaves_its_user_what_is_theirs(store: Store) -> None:
    ada = Traces("vandelayindustries")
    await store.write(ada.leave)
    await store.write(lambda tx: ownership.erase_agent(tx, ada.agent_id))
    after = await store.read(texts)
    assert names(after, ada.agent_id) == {"audit_events", "revocations"}
    assert {"users", "memories", "negotiations", "passkeys", "consents"} <= names(after, ada.word)
    assert ada.word not in after["agents"]
    assert "agent.erased" in after["audit_events"]


async def test_the_trail_takes_no_other_change(store: Store) -> None:
    """An erasure empties an event; it cannot say something else, and no row goes."""
    await store.write(lambda tx: audit.record(tx, "user.created", "usr_1", actor="192.0.2.7", a=1))
    table = table_of(audit.AuditEvent)
    changes = [
        table.update().values(detail='{"a":2}'),
        table.update().values(subject="usr_2", detail="{}"),
        table.update().values(event="user.disabled", detail="{}"),
        table.update().values(actor="someone", detail="{}"),
        table.update().values(at=bindparam("moment"), detail="{}"),
        table.delete(),
    ]
    for change in changes:
        statement = Statement(change)
        with pytest.raises(Exception, match="append-only"):
            await store.write(lambda tx, s=statement: tx.run(s, moment=1) if "moment" in s.sql else tx.run(s))
    await store.write(lambda tx: audit.redact(tx, "usr_1"))
    [event] = await store.read(lambda tx: audit.latest_events(tx, 5))
    assert (event.event, event.subject, event.actor, event.detail) == ("user.created", "usr_1", "", "{}")


async def test_a_user_without_an_address_is_erased_by_id(store: Store) -> None:
    user_id = await store.write(lambda tx: user_queries.add(tx, None, name="n", actor="operator"))
    assert await store.write(lambda tx: ownership.erase_again(tx, user_id))
    assert not await store.write(lambda tx: ownership.erase_again(tx, user_id))
    assert await store.read(user_queries.list_users) == []
