"""`negotiator directory agents`: who registered, whom the operator knows, who has to go."""

from typing import Annotated

import typer

from negotiator.cli.output import Json, change, command, say, tabulate
from negotiator.directory.accounts import registered

agents = typer.Typer(no_args_is_help=True, help="Agents that registered at the directory.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The agent's client_id.")]


@agents.command("list")
@command
async def list_agents(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many agents.")] = 100,
    as_json: Json = False,
) -> None:
    """Show the newest agents. What is not verified is only a claim."""
    rows = await change(lambda tx: registered.newest(tx, limit))
    tabulate(rows, "No agents.", as_json=as_json)


@agents.command("vet")
@command
async def vet_agent(
    agent_id: Id,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
    as_json: Json = False,
) -> None:
    """Say that you know this agent: it gets level 3 and its rate, at once."""
    await change(lambda tx: registered.vet(tx, agent_id, vetted=not undo))
    line = f"{agent_id} is {'not vetted any more' if undo else 'vetted'}."
    say({"client_id": agent_id, "vetted": not undo}, line, as_json=as_json)


@agents.command("revoke")
@command
async def revoke_agent(agent_id: Id, as_json: Json = False) -> None:
    """End an agent: its keys and tokens die at once, what it had proven is free again."""
    await change(lambda tx: registered.revoke(tx, agent_id, actor="operator"))
    say({"client_id": agent_id, "revoked": True}, f"{agent_id} is revoked.", as_json=as_json)
