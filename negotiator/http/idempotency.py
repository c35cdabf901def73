"""`Idempotency-Key`: same key and body, the first answer again (docs/contract 1.8)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import BigInteger, bindparam, delete
from sqlmodel import Field, col, select

from negotiator.base import values
from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction

KEY_LIFETIME = values.DAY


class IdempotencyKey(TableModel, table=True):
    """One key of one caller, the digest of the request it came with and the answer it got."""

    __tablename__ = "idempotency_keys"
    __table_args__ = table_options(owner="caller", on_claim="erase", expires={"expires_at": values.DAY})

    caller: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    request: str
    answer: bytes
    expires_at: int = Field(sa_type=BigInteger, index=True)


_FIND = Query(
    select(IdempotencyKey.request, IdempotencyKey.answer).where(
        col(IdempotencyKey.caller) == bindparam("caller"),
        col(IdempotencyKey.key) == bindparam("key"),
        col(IdempotencyKey.expires_at) > bindparam("now"),
    ),
    tuple,
)
_REPLACE = Statement(
    delete(IdempotencyKey).where(
        col(IdempotencyKey.caller) == bindparam("caller"), col(IdempotencyKey.key) == bindparam("key")
    )
)
_KEEP = RowInsertion(IdempotencyKey)
_OF_CALLER = col(IdempotencyKey.caller) == bindparam("holder")
_ANSWERS = Query(select(IdempotencyKey.key, IdempotencyKey.answer).where(_OF_CALLER), tuple)


@dataclass(frozen=True, slots=True)
class IdempotentCreation:
    """The idempotency key of a creating call, if it sent one. Key and answer are stored in the creating transaction."""

    caller: str = ""
    key: str = ""
    request: str = ""

    def __call__(self, unit: Callable[[Transaction], Any]) -> Callable[[Transaction], Any]:
        """A unit that runs at most once for this key; a later call gets the first answer. 422 for another request."""
        if not self.key:
            return unit

        def run(tx: Transaction) -> Any:
            now = values.now()
            if found := tx.one(_FIND, caller=self.caller, key=self.key, now=now):
                request, answer = found
                if request != self.request:
                    description = "This key came with another request before."
                    raise ValidationFailed([FieldError("/Idempotency-Key", description)])
                return orjson.loads(answer)
            answer = unit(tx)
            tx.run(_REPLACE, caller=self.caller, key=self.key)
            tx.run(
                _KEEP,
                caller=self.caller,
                key=self.key,
                request=self.request,
                answer=orjson.dumps(answer),
                expires_at=now + KEY_LIFETIME,
            )
            return answer

        return run


def erase_mentions(tx: Transaction, caller: str, word: bytes) -> None:
    """Delete the caller's keys whose stored answers contain `word`, since what it names is being erased."""
    for key, answer in tx.all(_ANSWERS, holder=caller):
        if word in bytes(answer):
            tx.run(_REPLACE, caller=caller, key=key)
