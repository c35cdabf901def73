"""The card of a figure that was held against a limit: it beats any phrase, and names no limit."""

from dataclasses import replace
from typing import Final

from negotiator.teleprompter.cues.policy import Card, Heard
from negotiator.teleprompter.figures.limits import ADVICE, MINE, Held

CONFIDENCE: Final = 0.95


def figure_card(held: Held, heard: Heard) -> Card:
    """What to say to this figure; its family is the topic, so that each topic is told apart."""
    advice = ADVICE[held.standing]
    return Card(
        id=f"{heard.utterance_id}:figure:{held.limit.topic}",
        family=f"figure:{held.limit.topic}",
        cue_id=f"figure:{held.limit.topic}",
        kind="manoeuvre",
        title=advice.title,
        say=advice.say,
        why=advice.why,
        tactic_id=advice.tactic_id,
        utterance_id=heard.utterance_id,
        quote=held.figure.quote,
        confidence=CONFIDENCE,
        source="plan",
        stage="final",
        at=heard.at,
    )


def own_figure_card(held: Held, heard: Heard) -> Card | None:
    """The card of a figure that I named myself: only one past my own limit is worth it."""
    if held.standing != "past_limit":
        return None
    card = figure_card(held, heard)
    return replace(
        card,
        kind="coaching",
        title=MINE.title,
        say=MINE.say,
        why=MINE.why,
        tactic_id=MINE.tactic_id,
    )
