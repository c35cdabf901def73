"""nginx in front of machines."""

import getpass
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import httpx2

from tests.helpers.live_server import free_port, wait_for
from tests.live.faults.site import Machine


def start_nginx(folder: Path, machines: Sequence[Machine]) -> tuple[str, subprocess.Popen[bytes]]:
    """nginx in front of the machines: a request that one of them refuses goes to the other."""
    port = free_port()
    servers = "".join(f"server {each.address}:{each.port} max_fails=0;" for each in machines)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid; daemon off; error_log {folder}/errors; user {getpass.getuser()};\n"
        "events {}\n"
        f"http {{ access_log off; client_max_body_size 0; {paths}\n"
        f"upstream machines {{ {servers} keepalive 32; }}\n"
        f"server {{ listen 127.0.0.1:{port};\n"
        "location / { proxy_pass http://machines; proxy_http_version 1.1;\n"
        'proxy_set_header Connection ""; proxy_set_header Host $http_host;\n'
        "proxy_set_header X-Forwarded-For $http_x_forwarded_for; } } }\n"
    )
    command = ("nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf"))
    environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    base = f"http://127.0.0.1:{port}"
    wait_for(lambda: _answers(base))
    return base, process


def _answers(base: str) -> bool:
    try:
        return httpx2.get(f"{base}/api/health").status_code == 200
    except httpx2.TransportError:
        return False
