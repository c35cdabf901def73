"""The operator's face: the `negotiator` command (contract §2).

Every command takes `--json`, prints one clear line, exits 1 on refusal and 2 on misuse, and works while the
server runs: it opens the same database. `output` is how a command speaks; one file a topic.
"""

from negotiator.cli.main import main

__all__ = ["main"]
