"""A plain advisor to compare with: a target that falls with time, and a count of the values the other side names.

It accepts what is worth at least its own next offer. Everything comes from the view of one turn.
"""

import itertools
import math
import random
from typing import Any, Final

View = dict[str, Any]
SPACE: Final = 20_000
"""Packages looked at; a larger space is sampled."""
EXPONENT: Final = 0.2
MARGIN: Final = 0.02
CLOSE: Final = 1e-9


def opponent_model(view: View) -> dict[str, dict[Any, float]]:
    """Each value by how often the other side named it, an issue weighing more where few values are named."""
    named = [past["offer"] for past in view["history"] if past["by"] == "them"]
    scores: dict[str, dict[Any, float]] = {}
    for issue in view["issues"]:
        name = issue["name"]
        counts = [1 + sum(offer[name] == value for offer in named) for value in issue["values"]]
        weight = sum((count / sum(counts)) ** 2 for count in counts)
        scores[name] = {
            value: weight * count / max(counts) for value, count in zip(issue["values"], counts, strict=True)
        }
    whole = sum(max(table.values()) for table in scores.values()) or 1.0
    return {name: {value: score / whole for value, score in table.items()} for name, table in scores.items()}


def target(view: View) -> float:
    """Least utility of an offer now."""
    floor = max(view["my_preferences"]["reservation_utility"], 0.0) + MARGIN
    return floor + (1 - floor) * (1 - view["progress"]["relative_time"] ** (1 / EXPONENT))


def advise(view: View) -> dict[str, Any]:
    """Answer one view."""
    mine = view["my_preferences"]
    tables = {name: sorted(map(tuple, table), key=lambda pair: -pair[1]) for name, table in mine["part_worths"].items()}
    model, wanted = opponent_model(view), target(view)
    best, top = None, None
    best_score, top_utility = -1.0, -1.0
    for values in packages(view, list(tables.values())):
        utility = mine["constant"] + sum(worth for _, worth in values)
        if utility > top_utility:
            top, top_utility = values, utility
        if utility >= wanted - CLOSE:
            score = sum(model[name][value] for name, (value, _) in zip(tables, values, strict=True))
            if score > best_score:
                best, best_score = values, score
    chosen = best or top or ()
    told = {name: list(table.items()) for name, table in model.items()}
    table, floor = view["on_table"], mine["reservation_utility"]
    if table and table["my_utility"] > floor:
        own = mine["constant"] + sum(worth for _, worth in chosen)
        last = view["progress"]["n_steps"] - view["progress"]["step"] <= 1
        if last or table["my_utility"] >= min(own - CLOSE, wanted):
            return {"action": "accept", "opponent_utility": told}
    offer = {name: value for name, (value, _) in zip(tables, chosen, strict=True)}
    return {"action": "counter", "offer": offer, "opponent_utility": told}


def packages(view: View, tables: list[list[tuple[Any, float]]]) -> Any:
    """All packages with their worths, or a sample that is the same for a step."""
    if math.prod(map(len, tables)) <= SPACE:
        return itertools.product(*tables)
    rng = random.Random(view["progress"]["step"])
    return ([rng.choice(table) for table in tables] for _ in range(SPACE))
