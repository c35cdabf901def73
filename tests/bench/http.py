"""`make bench-http`: our requests a second beside the least that they cost on this stack, and beside peers.

    python -m tests.bench.http [--rounds 5] [--seconds 4]

A server has core 0 and wrk core 1, with one thread and 32 connections; two workers share both cores with it. All
servers run all the time, and one is asked at a time. In each round the contestants of a row follow each other, in
another order each time, and every ratio is taken inside one round. CPU is user and system time of the server's
processes per request. Prints the tables of docs/benchmarks.
"""

import argparse
import contextlib
import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tests.bench import contestants
from tests.bench.contestants import AGENTS, ANONYMOUS, CLIENT_METADATA, Contestant, Provider, bearer
from tests.bench.load import Figure, Load, conditions, measure, spread
from tests.bench.settings import BASE, GRANT

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
REGISTER: Final = "/api/agent/register"
ID_JAG: Final = (
    '{"agent_name":"a","identity_type":"identity_assertion",'
    '"assertion_type":"urn:ietf:params:oauth:token-type:id-jag","assertion":"'
)
JWT_BEARER: Final = "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&client_id={client}&assertion="
FASTEST: Final = 9000
"""Assertions made for each second of a load: more than any server takes."""
OURS: Final = "negotiator, 1 worker"
JWT_PEER: Final = "oidc-provider, JWT, memory"
ANONYMOUS_ROW: Final = "anonymous registration"
ID_JAG_ROW: Final = "ID-JAG registration"
ONE_TOKEN_ROW: Final = "list of 20, one token"
MANY_TOKENS_ROW: Final = f"list of 20, {AGENTS} tokens"
ONE_ROW: Final = "one negotiation"
TOKEN_ROW: Final = "client credentials"


@dataclass(frozen=True, slots=True)
class Aim:
    """The least ratio that our server should have to another on a row."""

    row: str
    against: str
    least: float


AIMS: Final = (
    Aim(ANONYMOUS_ROW, "ceiling", 0.9),
    Aim(ID_JAG_ROW, "ceiling", 0.9),
    Aim(ONE_TOKEN_ROW, "ceiling", 0.85),
    Aim(MANY_TOKENS_ROW, "ceiling", 0.85),
    Aim(ONE_ROW, "ceiling", 0.85),
    Aim(TOKEN_ROW, "ceiling", 0.85),
    Aim(TOKEN_ROW, JWT_PEER, 1.0),
)


@dataclass(frozen=True, slots=True)
class Servers:
    """All contestants, running."""

    ceiling: Contestant
    one: Contestant
    two: Contestant
    oidc_memory: Contestant
    oidc_sqlite: Contestant
    oidc_jwt: Contestant
    fastmcp: Contestant
    authlib: Contestant
    better_auth: Contestant

    @classmethod
    @contextlib.contextmanager
    def started(cls, folder: Path) -> Iterator["Servers"]:
        with contextlib.ExitStack() as stack:
            enter = stack.enter_context
            one = enter(contestants.ours(folder, 1, "0"))
            yield cls(
                enter(contestants.ceiling(folder, one, "0")),
                one,
                enter(contestants.ours(folder, 2, "0,1")),
                enter(contestants.oidc_provider(folder, "memory", "opaque", "0")),
                enter(contestants.oidc_provider(folder, "sqlite", "opaque", "0")),
                enter(contestants.oidc_provider(folder, "memory", "jwt", "0")),
                enter(contestants.fastmcp(folder, "0")),
                enter(contestants.authlib(folder, "0")),
                enter(contestants.better_auth(folder, "0")),
            )

    def all(self) -> list[Contestant]:
        return [getattr(self, name) for name in self.__slots__]


class Bench:
    """The loads, and the provider whose assertions they send."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds
        self.provider = Provider(folder)

    def registration(self, path: str, body: Any = ANONYMOUS) -> Load:
        sent = {"BODY": json.dumps(body), "TYPE": JSON, "BASIC": ""}
        return Load(ANONYMOUS_ROW, "post.lua", lambda _: path, lambda _: sent)

    def assertion(self, path: str = REGISTER, before: str = ID_JAG, after: str = '"}', kind: str = JSON) -> Load:
        def environment(contestant: Contestant) -> dict[str, str]:
            file, count = self.folder / "assertions", int(self.seconds * FASTEST)
            self.provider.write_assertions(file, count, contestant.client, resource=BASE)
            head = before.replace("{client}", contestant.client)
            return {"ASSERTIONS": str(file), "BEFORE": head, "AFTER": after, "TYPE": kind}

        return Load(ID_JAG_ROW, "assertions.lua", lambda _: path, environment)

    def listing(self, tokens: int) -> Load:
        name = ONE_TOKEN_ROW if tokens == 1 else MANY_TOKENS_ROW
        return self._reading(name, tokens, _list)

    def one(self) -> Load:
        return self._reading(ONE_ROW, 1, _newest)

    def _reading(self, name: str, tokens: int, path: Callable[[Contestant], str]) -> Load:
        def environment(contestant: Contestant) -> dict[str, str]:
            file = self.folder / "tokens"
            file.write_text("\n".join(contestant.tokens[:tokens]) + "\n")
            return {"TOKENS": str(file)}

        return Load(name, "get.lua", path, environment)

    def credentials(self, path: str, body: str = GRANT) -> Load:
        def environment(contestant: Contestant) -> dict[str, str]:
            return {"BODY": body, "TYPE": FORM, "BASIC": contestant.basic}

        return Load(TOKEN_ROW, "post.lua", lambda _: path, environment)


class Comparison:
    """The rows with all contestants, and what was measured."""

    def __init__(self, bench: Bench, servers: Servers) -> None:
        self.bench = bench
        self.servers = servers
        self.figures: dict[tuple[str, str], list[Figure]] = defaultdict(list)
        self.fastmcp_test = replace(servers.fastmcp, name="fastmcp, its provider for tests")

    def rows(self) -> list[list[tuple[Contestant, Load]]]:
        s, bench = self.servers, self.bench
        durable = (s.ceiling, s.one, s.two)
        client = {"redirect_uris": CLIENT_METADATA["redirect_uris"]}
        issues = bench.credentials("/token")
        return [
            [
                *((each, bench.registration(REGISTER)) for each in durable),
                *((each, bench.registration("/reg", client)) for each in (s.oidc_memory, s.oidc_sqlite)),
                (s.fastmcp, bench.registration("/register", CLIENT_METADATA)),
                (self.fastmcp_test, bench.registration("/memory/register", CLIENT_METADATA)),
                (s.better_auth, bench.registration("/oauth2/register", CLIENT_METADATA)),
            ],
            [
                *((each, bench.assertion()) for each in durable),
                (s.fastmcp, bench.assertion("/token", JWT_BEARER, "", FORM)),
            ],
            [(each, bench.listing(1)) for each in durable],
            [(each, bench.listing(AGENTS)) for each in durable],
            [(each, bench.one()) for each in durable],
            [
                *((each, bench.credentials("/oauth/token")) for each in durable),
                *((each, issues) for each in (s.oidc_jwt, s.oidc_memory, s.oidc_sqlite, s.authlib)),
                (s.better_auth, bench.credentials("/oauth2/token", f"{GRANT}&resource=urn:negotiator")),
            ],
        ]

    def run(self, rounds: int) -> None:
        """Measure all rows; each load runs for a second first, so that every server has loaded its code."""
        rows = self.rows()
        for contestant, load in (pair for row in rows for pair in row):
            measure(contestant, load, 1)
        for number in range(rounds):
            for row in rows:
                turn = number % len(row)
                for contestant, load in [*row[turn:], *row[:turn]]:
                    figure = measure(contestant, load, self.bench.seconds)
                    self.figures[load.name, contestant.name].append(figure)

    def ratios(self, row: str, name: str, against: str) -> list[float]:
        """Requests a second as a share of another's, a value for each round."""
        pairs = zip(self.figures[row, name], self.figures[row, against], strict=True)
        return [mine.rps / theirs.rps for mine, theirs in pairs]

    def report(self, rounds: int) -> str:
        """All tables, as docs/benchmarks has them."""
        one, top = self.servers.one, self.servers.ceiling
        foreign = [figure.foreign for figures in self.figures.values() for figure in figures]
        lists, documents = (
            [len(each.request("GET", path(each), headers=bearer(each.tokens[0]))) for each in (one, top)]
            for path in (_list, _newest)
        )
        sizes = (
            f"A list has {lists[0]:,} bytes, the ceiling's {lists[1]:,}; "
            f"one negotiation {documents[0]:,} and {documents[1]:,}."
        )
        measured = f"{conditions(rounds, self.bench.seconds, foreign)} {sizes}"
        return "\n\n".join([self._requests(), self._aims(), self._memory(), measured])

    def _requests(self) -> str:
        lines = [
            "| Row | Contestant | Requests/s | p99, ms | CPU, µs | × ceiling, requests/s | × ceiling, CPU |",
            "|---|---|---:|---:|---:|---:|---:|",
        ]
        names = [each.name for each in (*self.servers.all(), self.fastmcp_test)]
        for row, name in sorted(self.figures, key=lambda key: _place(key[0], key[1], names)):
            figures, top = self.figures[row, name], self.figures[row, "ceiling"]
            cpu = [b.cpu_us / a.cpu_us for a, b in zip(figures, top, strict=True)]
            cells = (
                row,
                name,
                spread([each.rps for each in figures], 0),
                spread([each.p99_ms for each in figures], 1),
                spread([each.cpu_us for each in figures], 0),
                spread(self.ratios(row, name, "ceiling"), 2),
                spread(cpu, 2),
            )
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)

    def _aims(self) -> str:
        lines = [
            "Against the aims, one worker, by requests a second:",
            "",
            "| Row | Beside | Aim | Reached | |",
            "|---|---|---:|---:|---|",
        ]
        for aim in AIMS:
            ratios = self.ratios(aim.row, OURS, aim.against)
            missing = aim.least - statistics.median(ratios)
            said = "reached" if missing <= 0 else f"missed by {missing:.3f}"
            lines.append(f"| {aim.row} | {aim.against} | {aim.least:.2f} | {spread(ratios, 2)} | {said} |")
        return "\n".join(lines)

    def _memory(self) -> str:
        lines = [
            "| Contestant | Once started: PSS, MB | RSS of each process | After all loads: PSS, MB | RSS of each |",
            "|---|---:|---:|---:|---:|",
        ]
        for contestant in self.servers.all():
            cells = [contestant.name]
            for used in (contestant.first_memory, contestant.memory()):
                cells += [f"{sum(used.pss):.0f}", " + ".join(f"{each:.0f}" for each in used.rss)]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)


def _place(row: str, name: str, names: list[str]) -> tuple[int, int]:
    rows = (ANONYMOUS_ROW, ID_JAG_ROW, ONE_TOKEN_ROW, MANY_TOKENS_ROW, ONE_ROW, TOKEN_ROW)
    return rows.index(row), names.index(name)


def _list(_contestant: Contestant) -> str:
    return "/api/negotiations"


def _newest(contestant: Contestant) -> str:
    return f"/api/negotiations/{contestant.negotiation}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(folder, chosen.seconds)
        with Servers.started(folder) as servers:
            comparison = Comparison(bench, servers)
            comparison.run(chosen.rounds)
            print(comparison.report(chosen.rounds))


if __name__ == "__main__":
    main()
