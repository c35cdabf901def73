"""`negotiator directory …`: the operator's side of the tools directory, one file a topic.

`agents` lists, vets and ends agents that registered themselves. Each topic is a Typer of its own; they are put
together here, and the whole is added to the command tree by `cli.main`.
"""

import typer

from negotiator.cli.directory.agents import agents

directory = typer.Typer(no_args_is_help=True, help="The AI tools directory.")
directory.add_typer(agents, name="agents")
