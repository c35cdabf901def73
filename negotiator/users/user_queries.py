"""User accounts: creating, finding, listing and disabling them; e-mail addresses and passwords."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NoReturn

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error
from sqlalchemy import BigInteger, Integer, bindparam, func, or_, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.errors import Conflict, FieldError, NotFound, ValidationFailed
from negotiator.store import audit
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.trust import revocations
from negotiator.trust.claims import mail_address
from negotiator.users import session_queries
from negotiator.users.tables import User

SHORTEST_PASSWORD: Final = 12
_EASY: Final = 1_000_000
_LOOKED_AT: Final = 24

_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)  # OWASP's argon2id minimum
_ADD = Statement(insertion(User).on_conflict_do_nothing())
_BY_EMAIL = Query(select(User).where(col(User.email) == bindparam("email")), entity(User))
_BY_ID = Query(select(User).where(col(User.id) == bindparam("user")), entity(User))
_LIST = Query(select(User).order_by(col(User.id)), entity(User))
_SEARCH = Query(
    select(User)
    .where(
        col(User.id) < bindparam("before"),
        or_(
            func.lower(col(User.name)).like(bindparam("pattern"), escape="\\"),
            func.coalesce(col(User.email), "").like(bindparam("pattern"), escape="\\"),
        ),
    )
    .order_by(col(User.id).desc())
    .limit(bindparam("limit")),
    entity(User),
)
_ANY = Query(select(User.id).limit(1), lambda row: str(row[0]))
_DISABLE = Statement(
    update(User)
    .where(col(User.id) == bindparam("user"), col(User.disabled_at).is_(None))
    .values(disabled_at=bindparam("at", type_=BigInteger))
)
_ENABLE = Statement(
    update(User).where(col(User.id) == bindparam("user"), col(User.disabled_at).is_not(None)).values(disabled_at=None)
)
_ADMINS = Query(
    select(User.id).where(col(User.is_admin) == 1, col(User.disabled_at).is_(None)).limit(2), lambda row: str(row[0])
)
_SET_ADMIN = Statement(
    update(User)
    .where(col(User.id) == bindparam("user"), col(User.disabled_at).is_(None))
    .values(is_admin=bindparam("admin", type_=Integer))
)
_RENAME = Statement(update(User).where(col(User.id) == bindparam("user")).values(name=bindparam("called")))
_SET_PASSWORD = Statement(
    update(User).where(col(User.id) == bindparam("user")).values(password_hash=bindparam("hashed"))
)


def normalise_email(text: str) -> str:
    """The e-mail address as accounts have it (`mail_address`); 422 when the text is not an address."""
    email = mail_address(text)
    if email is None:
        raise ValidationFailed([FieldError("/email", "This is no e-mail address.")])
    return email


def hash_password(password: str, *, about: Sequence[str] = ()) -> str:
    """The argon2id hash of a password. It takes about 30 ms, so call it outside the event loop.

    422 for a password that is too short or too common (NIST SP 800-63B-4 §3.1.1.2). `about` lists what an attacker
    may know of the user: the e-mail address and the name.
    """
    if len(password) < SHORTEST_PASSWORD:
        _refuse_password(f"A password has at least {SHORTEST_PASSWORD} characters.")
    if advice := weakness(password, about=about):
        _refuse_password(f"This password is among the first that a guesser tries. {advice}")
    return _hasher.hash(password)


def weakness(password: str, *, about: Sequence[str] = ()) -> str:
    """What makes a password easy to guess and what would be better; empty for a password that is good enough.

    It is easy when an attacker who knows common passwords, words, keyboard rows and `about` needs under a million
    guesses. The authors of zxcvbn name a million as the threshold for online attacks (Wheeler, USENIX Security 2016).
    The running time of zxcvbn grows faster than the length of the text. Therefore only the first and the last 24
    characters are estimated; the password is easy when both parts are.
    """
    from zxcvbn import zxcvbn  # imported late: it loads a megabyte of word lists

    names = [part for text in (*about, "negotiator") for part in (text, text.partition("@")[0])]
    known = [end for name in names for end in _ends(name)]
    estimates = [zxcvbn(end, user_inputs=known) for end in _ends(password)]
    if any(estimate["guesses"] >= _EASY for estimate in estimates):
        return ""
    feedback = estimates[0]["feedback"]
    sentences = [feedback["warning"], *feedback["suggestions"]]
    advice = " ".join(f"{sentence.rstrip('.')}." for sentence in sentences if sentence)
    return advice or "Choose another, such as several unrelated words."


def _ends(text: str) -> tuple[str, ...]:
    """The first and the last characters of a text that `weakness` estimates; one when they are the same."""
    return tuple(dict.fromkeys((text[:_LOOKED_AT], text[-_LOOKED_AT:])))


def _refuse_password(sentence: str) -> NoReturn:
    raise ValidationFailed([FieldError("/password", sentence)])


def verify_password(hashed: str, password: str) -> bool:
    """Whether the password matches the hash; False for an empty hash.

    An empty hash takes as long to check, so that timing does not reveal an account without a password.
    """
    try:
        return _hasher.verify(hashed or _no_password(), password) and bool(hashed)
    except Argon2Error:
        return False


def add(
    tx: Transaction, email: str | None, *, name: str = "", is_admin: bool = False, password_hash: str = "", actor: str
) -> str:
    """Create a user and return their id; 409 when another account has the e-mail address."""
    user_id = values.new_id("usr")
    added = tx.run(
        _ADD,
        id=user_id,
        email=email,
        name=name,
        password_hash=password_hash,
        is_admin=int(is_admin),
        created_at=values.now(),
        disabled_at=None,
    )
    if not added:
        raise Conflict(f"There is a user {email} already.")
    audit.record(tx, "user.created", user_id, actor=actor)
    return user_id


def by_email(tx: Transaction, email: str) -> User | None:
    """The user with this e-mail address, which `normalise_email` returned."""
    return tx.one(_BY_EMAIL, email=email)


def require(tx: Transaction, email: str) -> User:
    """The user with this e-mail address; 404 when there is none."""
    user = by_email(tx, email)
    if user is None:
        raise NotFound(f"There is no user {email}.")
    return user


def by_id(tx: Transaction, user_id: str) -> User | None:
    return tx.one(_BY_ID, user=user_id)


def list_users(tx: Transaction) -> list[User]:
    """All users, oldest first."""
    return tx.all(_LIST)


def search(tx: Transaction, words: str, *, before: str, limit: int) -> list[User]:
    """Up to `limit` users with the words in their name or e-mail address, older than the id `before`, newest first."""
    escaped = words.strip().lower()
    for mark in "\\%_":
        escaped = escaped.replace(mark, f"\\{mark}")
    return tx.all(_SEARCH, pattern=f"%{escaped}%", before=before, limit=limit)


def any_exist(tx: Transaction) -> bool:
    """Whether a user account exists."""
    return tx.one(_ANY) is not None


def disable(tx: Transaction, email: str) -> None:
    """Disable the account with this e-mail address, as `end_access`; 404 when there is no such user."""
    end_access(tx, require(tx, email).id, actor="operator")


def end_access(tx: Transaction, user_id: str, *, actor: str) -> None:
    """Disable an account and end all its tokens and browser sessions at once."""
    tx.run(_DISABLE, user=user_id, at=values.now())
    revocations.revoke(tx, user_id)
    session_queries.end_all(tx, user_id)
    audit.record(tx, "user.disabled", user_id, actor=actor)


def enable(tx: Transaction, email: str) -> None:
    """Open the disabled account with this e-mail address again; what `end_access` ended stays ended.

    404 when there is no such user, 409 when the account is not disabled.
    """
    user = require(tx, email)
    if not tx.run(_ENABLE, user=user.id):
        raise Conflict(f"The account of {email} is not disabled.")
    revocations.restore(tx, user.id)
    audit.record(tx, "user.enabled", user.id, actor="operator")


def is_only_administrator(tx: Transaction, user_id: str) -> bool:
    """Whether this user is an administrator and nobody else with an open account is."""
    return tx.all(_ADMINS) == [user_id]


def set_admin(tx: Transaction, user_id: str, is_admin: bool, *, actor: str) -> None:
    """Make a user an administrator, or one of them no longer.

    404 when there is no open account with this id, 409 when the last administrator would be none.
    """
    if not is_admin and is_only_administrator(tx, user_id):
        raise Conflict("They are the only administrator. Make somebody else one first.")
    if not tx.run(_SET_ADMIN, user=user_id, admin=int(is_admin)):
        raise NotFound("There is no open account with this id.")
    audit.record(tx, "user.admin_changed", user_id, actor=actor, is_admin=is_admin)


def lacks_administrator(tx: Transaction) -> bool:
    """Whether there are users and none of them is an administrator."""
    return any_exist(tx) and not tx.all(_ADMINS)


def rename(tx: Transaction, user_id: str, name: str) -> None:
    tx.run(_RENAME, user=user_id, called=name)


def set_password(tx: Transaction, user_id: str, password_hash: str, *, kept: str = "", actor: str) -> None:
    """Store a new password hash and end every browser session of the user except the one with the id `kept`."""
    tx.run(_SET_PASSWORD, user=user_id, hashed=password_hash)
    session_queries.end_all(tx, user_id, but=kept)
    audit.record(tx, "user.password_changed", user_id, actor=actor)


def summary(user: User) -> dict[str, Any]:
    """The members of a user that the command line shows to an operator."""
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "is_admin": bool(user.is_admin),
        "created_at": values.timestamp(user.created_at),
        "disabled_at": values.timestamp_or_none(user.disabled_at),
    }


@cache
def _no_password() -> str:
    return _hasher.hash("")
