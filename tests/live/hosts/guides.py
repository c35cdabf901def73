"""What the guides tell a user to paste is run: the programs of three frameworks, and Claude Code's commands.

The programs ask a model on loopback in OpenAI's place: it calls `open_negotiation`, and then says what came back.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any, Final

import httpx2

from negotiator.console.guides_content import EXAMPLE_BASE
from tests.helpers.guide_snippets import fences
from tests.helpers.live_server import Server

CLAUDE: Final = Path(__file__).parent / "node_modules" / ".bin" / "claude"
GUIDES: Final = resources.files("negotiator.console") / "guides"
PROGRAMS: Final = {"langchain": "mcp-1", "openai-agents": "mcp-2", "pydantic-ai": "mcp-2"}
"""The environment that each guide's program runs in."""
ENVIRONMENTS: Final = Path(__file__).parents[3] / ".hosts"
_QUIET: Final = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
_CAR: Final = {
    "title": "Used car",
    "role": "buyer",
    "idempotency_key": "car-1",
    "issues": [{"name": "price", "type": "money", "range": {"min": "12000", "max": "14900"}}],
}
_PATIENCE: Final = 120


class _Model(BaseHTTPRequestHandler):
    """OpenAI's chat completions and responses, as far as a framework asks for them without streaming."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_chat = self.path.endswith("/chat/completions")
        answer = (_chat if is_chat else _response)(asked)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _chat(asked: dict[str, Any]) -> dict[str, Any]:
    results = [each["content"] for each in asked["messages"] if each["role"] == "tool"]
    call = {"name": "open_negotiation", "arguments": json.dumps(_CAR)}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if results:
        message["content"] = f"Opened: {results[-1]}"
    else:
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
    reason = "stop" if results else "tool_calls"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "c1", "object": "chat.completion", "created": 0, "model": "m", "usage": usage}
    return {**head, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def _response(asked: dict[str, Any]) -> dict[str, Any]:
    results = [each["output"] for each in asked["input"] if each.get("type") == "function_call_output"]
    call = {"name": "open_negotiation", "arguments": json.dumps(_CAR), "call_id": "call_1"}
    text: dict[str, Any] = {"type": "output_text", "text": f"Opened: {results[-1:]}", "annotations": []}
    item: dict[str, Any] = {"type": "function_call", "id": "fc_1", **call}
    if results:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
    usage = {
        **{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        **{"input_tokens_details": {"cached_tokens": 0}},
        **{"output_tokens_details": {"reasoning_tokens": 0}},
    }
    return {
        **{"id": "r1", "object": "response", "created_at": 0, "model": "m", "usage": usage},
        **{"output": [{**item, "status": "completed"}], "status": "completed"},
        **{"parallel_tool_calls": False, "tool_choice": "auto", "tools": []},
    }


@contextmanager
def model() -> Generator[str]:
    """The base address of the model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def fenced(name: str, kind: str, base: str) -> list[str]:
    """The fences of a guide, with this server's address."""
    page = (GUIDES / f"{name}.md").read_text()
    return [text.replace(EXAMPLE_BASE, base) for text in fences(page, kind)]


def code_of_user(server: Server, email: str) -> str:
    """A delegation code of a new user, made on the command line."""

    def negotiator(*words: str, said: str = "") -> str:
        command = [sys.executable, "-m", "negotiator", *words]
        done = subprocess.run(
            command, input=said, env=server.environment, capture_output=True, text=True, timeout=_PATIENCE, check=True
        )
        return done.stdout.strip()

    negotiator("users", "add", email, "--password-stdin", said="a password of their own\n")
    return negotiator("delegations", "create", "--user", email)


def ran(command: list[str | Path], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The command in a folder that is also its home, with a plain environment."""
    plain = {"HOME": str(folder), "PATH": f"{CLAUDE.parent}:{os.environ['PATH']}", **environment}
    return subprocess.run(
        command, cwd=folder, env=plain, capture_output=True, text=True, timeout=_PATIENCE, check=False
    )


def program(name: str, server: Server, folder: Path) -> list[str]:
    """What goes wrong when a user saves the two files, gives the program a code and runs it, with its token run out."""
    python = ENVIRONMENTS / PROGRAMS[name] / "bin" / "python"
    (keeper,) = fenced("agent-program", "python", server.base)
    (text,) = fenced(name, "python", server.base)
    folder.mkdir()
    (folder / "negotiator_token.py").write_text(keeper)
    (folder / "agent.py").write_text(text)
    code = code_of_user(server, f"{name}@live.example")
    first = ran([python, "negotiator_token.py", code], folder, {})
    kept = folder / ".negotiator-token.json"
    if first.returncode or kept.stat().st_mode & 0o077:
        return [f"{name}: the code is not redeemed: {first.stderr[-500:]}"]
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "renew_at": 0}))
    with model() as url:
        done = ran([python, "agent.py"], folder, {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k"})
    token = ran([python, "negotiator_token.py"], folder, {}).stdout.strip()
    wrong = [f"{name}: {done.stderr[-1500:]}"] if done.returncode else []
    if "Opened:" not in done.stdout or "neg_" not in done.stdout:
        wrong.append(f"{name}: prints {done.stdout!r}")
    if token == first.stdout.strip():
        wrong.append(f"{name}: the token is not renewed")
    headers = {"authorization": f"Bearer {token}"}
    items = httpx2.get(f"{server.base}/api/negotiations", headers=headers).json()["items"]
    if [each["title"] for each in items] != [_CAR["title"]]:
        wrong.append(f"{name}: the user has {items}")
    return wrong


def claude_code(server: Server, folder: Path) -> list[str]:
    """What goes wrong when Claude Code is connected, looked at and disconnected as its guide says."""
    folder.mkdir()
    code = code_of_user(server, "claude@live.example")
    (keeper,) = fenced("agent-program", "python", server.base)
    (folder / "negotiator_token.py").write_text(keeper)
    token = ran([sys.executable, "negotiator_token.py", code], folder, {}).stdout.strip()
    by_sign_in, by_code, remove = fenced("claude", "shell", server.base)
    shown: list[str] = []
    for add in (by_sign_in, by_code):
        for command in (add, "claude mcp list", remove):
            done = ran(["bash", "-euc", command], folder, {"NEGOTIATOR_TOKEN": token, **_QUIET})
            if done.returncode:
                return [f"claude: {command}: {done.stdout}{done.stderr}"]
            shown.append(done.stdout)
    wanted = {1: "Needs authentication", 4: "Connected"}
    return [f"claude: {shown[at]}" for at, state in wanted.items() if state not in shown[at]]


def run_guides(server: Server, folder: Path) -> list[str]:
    """What goes wrong in all of them."""
    wrong = claude_code(server, folder / "claude")
    for name in PROGRAMS:
        wrong += program(name, server, folder / name)
        sys.stdout.write(f"{name}: the program of its guide ran\n")
    return wrong
