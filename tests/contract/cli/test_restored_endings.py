"""What was revoked, disabled, changed or used after a backup does not come back with it."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from negotiator.base import values
from negotiator.config.settings import Settings
from tests.conftest import bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.backup_keys import BACKUP_KEY
from tests.helpers.command_line import CommandLine, CommandResult
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE, PASSWORD, FormBrowser
from tests.helpers.operator_commands import Operator

GIVEN: Final = "--key-stdin"
NEW_PASSWORD: Final = "another battery staple"
ENDED: Final = {
    **dict.fromkeys(("revoked token", "token of a revoked code", "token of a disabled user", "token of a person"), 401),
    **{"used code": 409, "used assertion": 400, "renewal of a revoked code": 400},
    **{"old password": 403, "sign-in of a disabled user": 403, "session before the new password": 303},
}
"""How the server answers to what ended after the backup."""


@dataclass
class Service:
    """A service with people and agents, before and after its backup."""

    settings: Settings
    idp: FakeIssuer
    held: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def operator(self) -> Operator:
        return Operator(CommandLine.of(self.settings))

    async def register(self, client: httpx2.AsyncClient, body: dict[str, Any] | None = None) -> httpx2.Response:
        anonymous = {"agent_name": "a", "identity_type": "anonymous"}
        return await client.post("/api/agent/register", json=body or anonymous)

    async def claim(self, client: httpx2.AsyncClient, code: str) -> httpx2.Response:
        headers = bearer((await self.register(client)).json())
        return await client.post("/api/agent/claim", json={"claim_token": code}, headers=headers)

    async def code(self, email: str) -> dict[str, Any]:
        made: dict[str, Any] = (await self.operator.json("delegations", "create", "--user", email)).value
        return made

    async def begin(self, client: httpx2.AsyncClient, browser: FormBrowser) -> None:
        for email in ("root@example.com", "ada@example.com", "bob@example.com"):
            await self.operator("users", "add", email, "--password-stdin", given=f"{PASSWORD}\n")
        keys = self.settings.data_dir / "jwks.json"
        keys.write_text(httpx2.Response(200, json=self.idp.jwks()).text)
        added = await self.operator(
            "issuers",
            "add",
            self.idp.name,
            "--jwks-file",
            str(keys),
            "--algorithm",
            "ES256",
            "--client-id",
            "corp-agent",
        )
        assert added.exit_code == 0, added
        for name, email in (("revoked code", "ada@example.com"), ("disabled user", "bob@example.com")):
            made = await self.code(email)
            self.held[name] = {**(await self.claim(client, made["code"])).json(), "delegation": made["id"]}
        self.held["unused code"] = (await self.code("ada@example.com"))["code"]
        self.held["open code"] = (await self.code("ada@example.com"))["code"]
        self.held["revoked token"] = (await self.register(client)).json()
        self.held["untouched token"] = (await self.register(client)).json()
        answer = await self.register(client, registration(self.idp.assertion(sub="person")))
        assert answer.status_code in {200, 201}, answer.text
        self.held["person"] = answer.json()
        self.held["assertion"] = registration(self.idp.assertion(sub="another person"))
        assert (await browser.sign_in("ada@example.com")).status_code == 303

    async def end(self, client: httpx2.AsyncClient) -> None:
        """Everything that ends after the backup."""
        assert (await self.claim(client, self.held["unused code"])).status_code == 200
        assert (await self.register(client, self.held["assertion"])).status_code in {200, 201}
        token = {"token": self.held["revoked token"]["access_token"]}
        ended = await client.post("/oauth/revoke", data=token)
        assert ended.status_code == 200, ended.text
        for words, given in (
            (("delegations", "revoke", self.held["revoked code"]["delegation"]), None),
            (("issuers", "revoke", self.idp.name, "person"), None),
            (("users", "disable", "bob@example.com"), None),
            (("users", "password", "ada@example.com", "--password-stdin"), f"{NEW_PASSWORD}\n"),
        ):
            done = await self.operator(*words, given=given)
            assert done.exit_code == 0, done

    async def answers(self, client: httpx2.AsyncClient, browser: FormBrowser) -> dict[str, int]:
        async def read(name: str) -> int:
            answer = await client.get("/api/negotiations", headers=bearer(self.held[name]))
            return answer.status_code

        held = self.held["revoked code"]
        form = {"grant_type": "refresh_token", **{name: held[name] for name in ("client_id", "refresh_token")}}
        return {
            "revoked token": await read("revoked token"),
            "token of a revoked code": await read("revoked code"),
            "token of a disabled user": await read("disabled user"),
            "token of a person": await read("person"),
            "used code": (await self.claim(client, self.held["unused code"])).status_code,
            "used assertion": (await self.register(client, self.held["assertion"])).status_code,
            "renewal of a revoked code": (await client.post("/oauth/token", data=form)).status_code,
            "session before the new password": (await browser.open("/account")).status_code,
            "old password": (await browser.sign_in("ada@example.com", PASSWORD)).status_code,
            "sign-in of a disabled user": (await browser.sign_in("bob@example.com", PASSWORD)).status_code,
        }

    async def backed_up(self, file: Path) -> dict[str, str]:
        """Back up, let everything end, stop; returns the cookies of the browser."""
        async with running(self.settings) as application, connect(application) as client, connect(application) as mine:
            browser = FormBrowser(mine)
            await self.begin(client, browser)
            await self.operator.json("backup", str(file), GIVEN, given=BACKUP_KEY)
            cookies = dict(mine.cookies)
            await self.end(client)
            assert await self.answers(client, browser) == ENDED
            return cookies


@pytest.fixture
def service(tmp_path: Path, migrated: Path) -> Service:
    place = tmp_path / "here"
    place.mkdir()
    shutil.copy(migrated, place / "negotiator.db")
    return Service(make_settings(place, place / "keys"), FakeIssuer(BASE))


async def restored(service: Service, file: Path, *words: str) -> CommandResult:
    done = await service.operator("restore", str(file), GIVEN, *words, given=BACKUP_KEY)
    assert done.exit_code == 0, done
    return done


@pytest.mark.asyncio
@covers("5.2:restored-endings")
async def test_what_ended_after_the_backup_stays_ended(service: Service, tmp_path: Path) -> None:
    cookies = await service.backed_up(tmp_path / "a.backup")
    done = await restored(service, tmp_path / "a.backup", "--replace")
    assert "stays so" in done.out
    assert "not known" not in done.err
    async with running(service.settings) as application, connect(application) as client:
        client.cookies.update(cookies)
        assert await service.answers(client, FormBrowser(client)) == ENDED
        assert (await FormBrowser(client).sign_in("ada@example.com", NEW_PASSWORD)).status_code == 303
        kept = await client.get("/api/negotiations", headers=bearer(service.held["untouched token"]))
        assert kept.status_code == 200, "what had not ended works"
        assert (await service.claim(client, service.held["open code"])).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("keeps", [False, True])
@covers("5.2:restored-endings")
async def test_where_nobody_knows_what_ended_all_tokens_end_unless_they_are_kept(
    service: Service, tmp_path: Path, keeps: bool
) -> None:
    cookies = await service.backed_up(tmp_path / "a.backup")
    elsewhere = tmp_path / "there"
    service.settings = make_settings(elsewhere, elsewhere / "keys")
    done = await restored(service, tmp_path / "a.backup", *(["--keep-tokens"] if keeps else []))
    assert "disabled accounts are open" in done.err
    assert ("every token, session and code has ended" in done.out.lower()) != keeps
    async with running(service.settings) as application, connect(application) as client:
        client.cookies.update(cookies)
        untouched = await client.get("/api/negotiations", headers=bearer(service.held["untouched token"]))
        assert untouched.status_code == (200 if keeps else 401)
        assert (await service.claim(client, service.held["open code"])).status_code == (200 if keeps else 410)
        if not keeps:
            known = {name: code for name, code in ENDED.items() if "password" not in name and "sign-in" not in name}
            known |= {"used code": 410, "session before the new password": 303}
            now = await service.answers(client, FormBrowser(client))
            assert {name: now[name] for name in known} == known
        assert (await service.register(client)).status_code == 201


@pytest.mark.asyncio
async def test_a_database_that_did_not_go_on_from_the_backup_tells_nothing(service: Service, tmp_path: Path) -> None:
    await service.backed_up(tmp_path / "a.backup")
    elsewhere = tmp_path / "there"
    service.settings = make_settings(elsewhere, elsewhere / "keys")
    added = await service.operator("users", "add", f"{values.new_id('usr')}@example.com")
    assert added.exit_code == 0
    assert "has ended" in (await restored(service, tmp_path / "a.backup", "--replace")).out
