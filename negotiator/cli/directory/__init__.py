"""`negotiator directory …`: the operator's side of the tools directory, one file a topic.

`agents` lists, vets and ends agents that registered themselves, `entries` takes over entries of other catalogues. They
are put together here, and the whole is added to the command tree by `cli.main`.
"""

import typer

from negotiator.cli.directory.agents import agents
from negotiator.cli.directory.entries import import_entries

directory = typer.Typer(no_args_is_help=True, help="The AI tools directory.")
directory.add_typer(agents, name="agents")
directory.command("import")(import_entries)
