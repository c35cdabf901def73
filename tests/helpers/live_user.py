"""Somebody with an account and a browser, whom the clients of a running server send to its pages."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx2

from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.helpers.code_flow import PASSWORD, ConsentingUser
from tests.helpers.live_server import Server

_SENT: Final = re.compile(r"https?://[^\s'\"]+/oauth/authorize\?[^\s'\"]+")


@dataclass
class LiveUser:
    """Follows a client's links; `refusing` are the scopes they untick, `visits` the addresses that they open."""

    user: ConsentingUser
    refusing: tuple[str, ...] = ()
    visits: list[str] = field(default_factory=list[str])

    async def visit(self, address: str) -> str:
        """Open the address, sign what is asked, and answer where the browser is sent back to."""
        self.visits.append(address)
        page = await self.user.http.get(address)
        if page.status_code == 200:
            page = await self.user.answer(page, without=self.refusing)
        assert page.status_code == 303, page.text
        return page.headers["location"]

    async def follow(self, address: str) -> None:
        """The same, and go there: to a client that listens on loopback, or will in a moment."""
        back = await self.visit(address)
        async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(retries=5)) as browser:
            assert (await browser.get(back)).status_code == 200, urlsplit(back).path


async def arrive(server: Server, email: str) -> LiveUser:
    """An account with this address on the running server, signed in by the form."""
    hashed = user_queries.hash_password(PASSWORD)

    def unit(tx: Transaction) -> str:
        found = user_queries.by_email(tx, email)
        if found is not None:
            return found.id
        return user_queries.add(tx, email, name="Ada", password_hash=hashed, actor="operator")

    user = ConsentingUser(server.connect(), await server.change(unit), email)
    await user.sign_in()
    return LiveUser(user)


async def converse(person: LiveUser, running: asyncio.subprocess.Process) -> None:
    """Act as the user of a program: follow its link, and tell it the address of the redirect back."""
    assert running.stdin
    assert running.stdout
    back = await person.visit(await sent_to(running.stdout))
    running.stdin.write(f"{back}\n".encode())


async def sent_to(said: asyncio.StreamReader) -> str:
    """The address of an authorization request in what a program says, once it says one."""
    while line := (await said.readline()).decode():
        if found := _SENT.search(line):
            return found[0]
    raise AssertionError("the program sent nobody anywhere")
