"""`negotiator directory …`: the operator's side of the tools directory, one file a topic.

`agents` lists, vets and ends agents that registered themselves; `submissions` is the moderators' queue; `tools` has
the reports and what they lead to; `imports` takes over other catalogues. Put together here, the whole is added to
the command tree by `cli.main`.
"""

import typer

from negotiator.cli.directory.agents import agents
from negotiator.cli.directory.imports import import_entries
from negotiator.cli.directory.submissions import submissions
from negotiator.cli.directory.tools import reports, tools

directory = typer.Typer(no_args_is_help=True, help="The AI tools directory.")
directory.add_typer(agents, name="agents")
directory.add_typer(submissions, name="submissions")
directory.add_typer(reports, name="reports")
directory.add_typer(tools, name="tools")
directory.command("import")(import_entries)
