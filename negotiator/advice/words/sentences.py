"""Renders the templates of this folder, and reads its tables."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from negotiator.terms.plain_text import capitalise, join_words, noun_phrase, sentence, split_sentences, word_set

_FOLDER: Final = "negotiator.advice.words"

_OPENERS: Final = word_set(
    "we you it the a an this that there my our your if with all both no one two three in on at for"
)


def said(template: str, **facts: Any) -> list[str]:
    """`lines`, each as a whole sentence."""
    return [sentence(line) for line in lines(template, **facts)]


def lines(template: str, **facts: Any) -> list[str]:
    """The lines of a template, or of a block of it such as `move.say`, with single blanks and without empty ones."""
    name, _, block = template.partition(".")
    found = sentence_templates().get_template(f"{name}.jinja")
    text = "".join((found.blocks[block] if block else found.root_render_func)(found.new_context(facts)))
    return [one for line in text.split("\n") if (one := " ".join(line.split()))]


def parts(template: str, **facts: Any) -> dict[str, str]:
    """Each block of a template as a whole sentence, by its name; empty where it says nothing."""
    found = sentence_templates().get_template(f"{template}.jinja")
    context = found.new_context(facts)
    return {name: sentence("".join(block(context))) for name, block in found.blocks.items()}


@cache
def sentence_templates() -> Environment:
    """The templates. A name that is not given is an error, and nothing is escaped: the texts are no HTML."""
    made = Environment(loader=PackageLoader(_FOLDER, ""), undefined=StrictUndefined)  # noqa: S701
    made.filters |= {
        "capitalise": capitalise,
        "join_words": join_words,
        "noun_phrase": noun_phrase,
        "sentence": sentence,
        "first_sentence": first_sentence,
        "lower_first": lower_first,
    }
    return made


def first_sentence(text: str) -> str:
    """The first sentence of a text; empty for an empty one."""
    return "".join(split_sentences(text)[:1])


def lower_first(text: str) -> str:
    """The text with a small letter at its start, unless its first word keeps its capital: "I", a name, "VAT"."""
    first = text.split(" ", 1)[0].rstrip(",'")
    is_plain = first[1:] == first[1:].lower() and first.lower() in _OPENERS
    return text[:1].lower() + text[1:] if is_plain else text


@cache
def table(name: str) -> dict[str, Any]:
    """A table of texts of this folder."""
    return tomllib.loads(files(_FOLDER).joinpath(f"{name}.toml").read_text("utf-8"))
