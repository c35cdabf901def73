"""`make bench-soak MINUTES=60`: mixed requests for so long; memory, open files and p99 by the minute, and their slopes.

    python -m tests.bench.soak [--minutes 60] [--rate 100] [--workers 1]

Eight clients with a connection each send requests of one kind each: anonymous and ID-JAG registrations, client
credentials, lists, a negotiation opened and deleted, a memory noted and searched, directory searches, tool calls
by MCP. A slope is fitted by least squares, with the standard error of the fit; memory is that of all processes.
"""

import argparse
import asyncio
import itertools
import math
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import httpx2

from tests.bench.contestants import ANONYMOUS, NEGOTIATION, Contestant, Provider, operate, ours
from tests.bench.mcp import NEWEST, called
from tests.bench.settings import GRANT

SCOPES: Final = ("negotiations:read", "negotiations:write", "memories:read", "memories:write")
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
_ROWS: Final = 12
"""Minutes that are printed, besides the first."""
Step = tuple[str, str, dict[str, Any]]
"""Method, path and httpx2's options of a request."""


class Soak:
    """The clients, and what the current minute has seen."""

    def __init__(self, contestant: Contestant, provider: Provider) -> None:
        self.contestant = contestant
        self.provider = provider
        self.token = claimed_token(contestant)
        self.numbers = itertools.count()
        self.seconds: list[float] = []
        self.refusals: Counter[str] = Counter()

    def kinds(self) -> list[Callable[[str], Step]]:
        """What makes the next request of each client, from the id that the last answer named."""
        bearer = {"headers": {"Authorization": f"Bearer {self.token}"}}
        basic = {"headers": {**FORM, "Authorization": f"Basic {self.contestant.basic}"}}
        sent = called("list_negotiations", {}, NEWEST, self.token)
        headers = dict(line.split(": ", 1) for line in sent["HEADERS"].splitlines())
        words = ("price", "delivery", "discount", "contract", "quarter", "buyer", "warranty")

        def assertion(_: str) -> Step:
            kind = "urn:ietf:params:oauth:token-type:id-jag"
            body = {"agent_name": "a", "identity_type": "identity_assertion"}
            body |= {"assertion_type": kind, "assertion": self.provider.assertion()}
            return "POST", "/api/agent/register", {"json": body}

        def negotiation(last: str) -> Step:
            if last:
                return "DELETE", f"/api/negotiations/{last}", bearer
            return "POST", "/api/negotiations", {"json": NEGOTIATION, **bearer}

        def memory(last: str) -> Step:
            number = next(self.numbers)
            word = words[number % len(words)]
            if last:
                return "POST", "/api/memories/search", {"json": {"query": word}, **bearer}
            text = f"Acme moved on {word} in round {number % 500}."
            return "POST", "/api/memories", {"json": {"text": text}, **bearer}

        def search(_: str) -> Step:
            return "GET", f"/api/v1/tools?query={words[next(self.numbers) % len(words)]}", {}

        return [
            lambda _: ("POST", "/api/agent/register", {"json": ANONYMOUS}),
            assertion,
            lambda _: ("POST", "/oauth/token", {"content": GRANT, **basic}),
            lambda _: ("GET", "/api/negotiations", bearer),
            negotiation,
            memory,
            search,
            lambda _: ("POST", "/mcp", {"content": sent["BODY"], "headers": headers}),
        ]

    async def send(self, make: Callable[[str], Step], every: float, end: float) -> None:
        """Send requests of one kind at this interval."""
        last, due = "", time.monotonic()
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{self.contestant.port}", timeout=60) as client:
            while (now := time.monotonic()) < end:
                if now < due:
                    await asyncio.sleep(due - now)
                due = max(due + every, now)
                method, path, options = make(last)
                began = time.perf_counter()
                answer = await client.request(method, path, **options)
                self.seconds.append(time.perf_counter() - began)
                if answer.status_code >= 300:
                    self.refusals[f"{answer.status_code} {method} {path.partition('?')[0]}"] += 1
                added = answer.status_code == 201 and not last
                last = str(answer.json().get("id", "")) if added else ""

    async def run(self, minutes: int, rate: float) -> str:
        """Print some of the minutes; gives the slopes."""
        kinds, samples = self.kinds(), list[tuple[float, ...]]()
        end = time.monotonic() + minutes * 60
        print("| Minute | Answers | Refusals | p50, ms | p99, ms | PSS, MB | RSS, MB | Open files |")
        print("|" + "---:|" * 8, flush=True)
        async with asyncio.TaskGroup() as group:
            for make in kinds:
                group.create_task(self.send(make, len(kinds) / rate, end))
            for minute in range(1, minutes + 1):
                await asyncio.sleep(max(0.0, end - time.monotonic() - (minutes - minute) * 60))
                times, self.seconds = sorted(self.seconds), []
                used = self.contestant.memory()
                files = sum(each.num_fds() for each in self.contestant.tree())
                p50, p99 = (1000 * times[int(share * len(times))] for share in (0.5, 0.99))
                samples.append((sum(used.rss), sum(used.pss), files, p99))
                if minute > 1 and minute % max(1, minutes // _ROWS):
                    continue
                print(
                    f"| {minute} | {len(times):,} | {self.refusals.total()} | {p50:.1f} | {p99:.1f} "
                    f"| {sum(used.pss):.1f} | {sum(used.rss):.1f} | {files} |",
                    flush=True,
                )
        return self.slopes(samples)

    def slopes(self, samples: Sequence[tuple[float, ...]]) -> str:
        """The slopes per hour over all minutes and over the second half."""
        lines = ["", "| Slope per hour | over all minutes | over the second half |", "|---|---:|---:|"]
        for name, values in zip(
            ("RSS, MB", "PSS, MB", "open files", "p99, ms"), zip(*samples, strict=True), strict=True
        ):
            cells = [fit(values), fit(values[len(values) // 2 :])]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        refused = ", ".join(f"{count} × {name}" for name, count in self.refusals.items())
        return "\n".join([*lines, "", f"Refusals: {refused or 'none'}."])


def fit(values: Sequence[float]) -> str:
    """The slope per hour of a value per minute by least squares, ± its standard error."""
    count = len(values)
    if count < 3:
        return "too few minutes"
    slope, start = statistics.linear_regression(range(count), values)
    left = sum((value - start - slope * minute) ** 2 for minute, value in enumerate(values))
    spread = sum((minute - (count - 1) / 2) ** 2 for minute in range(count))
    return f"{60 * slope:+.2f} ± {60 * math.sqrt(left / (count - 2) / spread):.2f}"


def claimed_token(contestant: Contestant) -> str:
    """The token of an agent that a user has claimed, which may note memories."""
    operate(contestant.environment, "users", "add", "ada@example.com")
    scopes = [word for scope in SCOPES for word in ("--scope", scope)]
    code = operate(contestant.environment, "delegations", "create", "--user", "ada@example.com", *scopes)["code"]
    agent = contestant.post("/api/agent/register", ANONYMOUS)["access_token"]
    claim = contestant.post("/api/agent/claim", {"claim_token": code}, agent)
    return str(claim["access_token"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--rate", type=float, default=100, help="requests a second, all kinds")
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        provider = Provider(folder)
        with ours(folder, chosen.workers, "0,1") as contestant:
            print(asyncio.run(Soak(contestant, provider).run(chosen.minutes, chosen.rate)))


if __name__ == "__main__":
    main()
