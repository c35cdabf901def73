"""Authenticates the caller: client address, bearer credential, DPoP proof and scopes (RFC 6750, RFC 9449)."""

from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, Protocol

from negotiator.base.caller import Caller, anonymous_caller
from negotiator.base.errors import InsufficientScope, InvalidRequest, ProofRefused, ProofRequired, Unauthorized
from negotiator.base.scopes import ordered
from negotiator.config.settings import Network
from negotiator.http.operation import Operation
from negotiator.runtime.telemetry import logger
from negotiator.store.statement import Transaction

Address = IPv4Address | IPv6Address
_BEARER: Final = "bearer"
_DPOP: Final = "dpop"
_LONGEST_HOP: Final = 60
_MAX_HOPS: Final = 32
"""Entries of `X-Forwarded-For` that are read, the nearest first; real chains of proxies are shorter."""

log = logger(__name__)


class CallerAuthenticator(Protocol):
    """Checks credentials."""

    async def authenticate(self, credential: str, address: str = "") -> Caller | None:
        """The caller with this credential, which came from this address; None if it is not valid."""
        ...

    def stands(self, tx: Transaction, caller: Caller) -> bool:
        """Whether the credential of this caller is valid now."""
        ...

    def subjects(self, tx: Transaction, caller: Caller) -> frozenset[str]:
        """The subjects whose revocation ends this credential, as `Transaction.announce` names them."""
        ...

    def is_withdrawn(self, tx: Transaction, caller: Caller) -> bool:
        """Whether a credential that ended was revoked together with its holder."""
        ...


class ProofChecker(Protocol):
    """Checks that the sender of a request holds a key."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The signature algorithms that a proof may use."""
        ...

    async def check(self, text: str, *, method: str, path: str, token: str | None = None) -> str:
        """The thumbprint of the key that signed the proof; raises `ProofRefused` for a bad proof."""
        ...


class Guard:
    """Finds and checks the caller of every operation.

    `is_session_live` says whether the browser session with this id has not ended: the credential of users at pages.
    """

    def __init__(
        self,
        authenticator: CallerAuthenticator,
        proxies: Iterable[Network],
        possession: ProofChecker,
        is_session_live: Callable[[Transaction, str], bool] = lambda _tx, _session: False,
    ) -> None:
        self._is_session_live = is_session_live
        self._authenticator = authenticator
        self._possession = possession
        self._proxies = tuple(proxies)
        self._told_unreadable = False

    def trusts(self, peer: str) -> bool:
        """Whether this peer is one of the configured proxies."""
        return is_within(peer, self._proxies)

    def address(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """The key of the client's address in limits; `X-Forwarded-For` counts only from configured proxies."""
        client = scope.get("client")
        peer: str = client[0] if client else "127.0.0.1"
        if not self._proxies:
            return address_key(peer)
        nearer = peer
        for hop in forwarded_hops(headers.get("x-forwarded-for", "")):
            if not is_within(nearer, self._proxies):
                break
            if not is_address(hop):
                self._tell_unreadable(nearer, hop)
                break
            nearer = hop
        return address_key(nearer)

    def _tell_unreadable(self, proxy: str, hop: str) -> None:
        if not self._told_unreadable:
            self._told_unreadable = True
            said = "a trusted proxy names its client by no address, so that all of them share its rate limit"
            log.warning(said, proxy=proxy, hop=hop[:_LONGEST_HOP])

    async def identify(self, headers: Mapping[str, str], address: str, *, sent: tuple[str, str]) -> Caller:
        """The caller: anonymous without a credential; 401 for an invalid one or one for another resource.

        `sent` is the method and path of the request, which the DPoP proof of a bound token names.
        """
        scheme, credential = _parse_authorization(headers.get("authorization"))
        if credential is None:
            return anonymous_caller(address)
        caller = await self._authenticator.authenticate(credential, address)
        if caller is None:
            raise self._refuse(scheme, "The credential is unknown, expired or revoked.")
        if caller.key is not None or scheme == _DPOP:
            method, path = sent
            key = await self._prove(scheme, headers, method=method, path=path, token=credential)
            if caller.key is None or key != caller.key:
                raise self._refuse(_DPOP, "The token is not bound to the key of the proof.")
        if not _covers(caller.paths, sent[1]):
            raise self._refuse(scheme, "The token is for another resource of this service.")
        return caller

    def allow(self, operation: Operation, caller: Caller) -> None:
        """Raise 401 for a caller without a needed credential, 403 for one without a needed scope."""
        if operation.access == "bearer" and caller.kind == "nobody":
            raise Unauthorized("Send a bearer token in the Authorization header.", sent=False)
        if not operation.scopes <= caller.scopes:
            algorithms = () if caller.key is None else self._possession.algorithms
            raise InsufficientScope(ordered(operation.scopes), algorithms=algorithms)

    def stands(self, tx: Transaction, caller: Caller) -> bool:
        """Whether this caller's credential is valid now; always true for a caller without one."""
        if caller.kind == "user":
            return self._is_session_live(tx, caller.credential)
        return caller.kind == "nobody" or self._authenticator.stands(tx, caller)

    def check(self, tx: Transaction, caller: Caller) -> None:
        """Raise 401 for a caller whose credential has ended since it was checked."""
        if not self.stands(tx, caller):
            scheme = _BEARER if caller.key is None else _DPOP
            raise self._refuse(scheme, "The credential is unknown, expired or revoked.")

    def subjects(self, tx: Transaction, caller: Caller) -> frozenset[str]:
        """The subjects whose revocation ends this caller's credential."""
        return self._authenticator.subjects(tx, caller)

    def is_withdrawn(self, tx: Transaction, caller: Caller) -> bool:
        """Whether a credential that ended was revoked together with its holder, rather than alone."""
        return self._authenticator.is_withdrawn(tx, caller)

    async def _prove(self, scheme: str, headers: Mapping[str, str], *, method: str, path: str, token: str) -> str:
        """The key that the sender holds. A bound token sent with the Bearer scheme is refused, even beside a proof."""
        if scheme != _DPOP:
            raise self._refuse(_DPOP, "The token is bound to a key: send it with a DPoP proof.")
        text = headers.get("dpop", "")
        try:
            return await self._possession.check(text, method=method, path=path, token=token)
        except ProofRefused as refused:
            raise ProofRequired(
                refused.description,
                algorithms=self._possession.algorithms,
                nonce=refused.nonce,
                error=refused.error,
                detail=refused.detail,
            ) from None

    def _refuse(self, scheme: str, description: str) -> Unauthorized:
        if scheme != _DPOP:
            return Unauthorized(description)
        return ProofRequired(description, algorithms=self._possession.algorithms)


def _parse_authorization(header: str | None) -> tuple[str, str | None]:
    """The scheme and the credential; None without a header or with another scheme (RFC 6750 §3)."""
    if header is None:
        return "", None
    scheme, _, credential = header.partition(" ")
    scheme = scheme.lower()
    if scheme not in {_BEARER, _DPOP}:
        return scheme, None
    credential = credential.strip(" ")
    if not credential or any(mark in credential for mark in ' ,\t"'):
        raise InvalidRequest("The Authorization header is malformed.")
    return scheme, credential


def _covers(prefixes: tuple[str, ...], path: str) -> bool:
    """Whether a token that is limited to these path prefixes is valid at this path (RFC 8707 §2)."""
    return not prefixes or any(path == prefix or path.startswith(f"{prefix}/") for prefix in prefixes)


def forwarded_hops(header: str) -> list[str]:
    """The hops of `X-Forwarded-For`, the nearest first, without port, brackets and empty elements (RFC 7239 §6)."""
    hops = header.rsplit(",", _MAX_HOPS)[-_MAX_HOPS:]
    return [bare for hop in reversed(hops) if (bare := _without_port(hop.strip(' \t"')))]


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def is_address(text: str) -> bool:
    return _parse(text) is not None


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def is_within(text: str, networks: Iterable[Network]) -> bool:
    address = _parse(text)
    return address is not None and any(address in network for network in networks)


def address_key(text: str) -> str:
    """The key of a client in limits: an IPv4 address, or the /64 of an IPv6 address, which one household owns."""
    if ":" not in text:
        return text
    address = _parse(text)
    if not isinstance(address, IPv6Address):
        return str(address or text)
    return str(IPv6Network((int(address) >> 64 << 64, 64)))
