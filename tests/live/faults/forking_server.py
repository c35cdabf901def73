"""Server processes forked from one that has imported everything: they start in a second, the whole command in many.

Run as `python -m tests.live.faults.forking_server PORT WORKERS`. Each line on its standard input starts the processes
of a server in a group of their own; the group's number is printed. They are the application, protocol and options of
`negotiator serve` without the command and its supervisor.
"""

import os
import signal
import sys

import uvicorn

from negotiator.cli.serve import server_options
from negotiator.cli.worker import create_app


def _serve(config: uvicorn.Config, workers: int) -> None:
    """The first process of the group, which listens and forks the others."""
    os.setsid()
    listening = config.bind_socket()
    for _ in range(workers - 1):
        if os.fork() == 0:
            break
    server = uvicorn.Server(config)
    server.run([listening])


def main() -> None:
    """Fork a server for each line until the input ends."""
    port, workers = map(int, sys.argv[1:])
    create_app()  # what it builds is thrown away; what it imports stays
    config = uvicorn.Config(**server_options("127.0.0.1", port, 1, reload=False, timeout=30))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _serve(config, workers)
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
