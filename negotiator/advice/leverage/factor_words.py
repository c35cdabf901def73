"""What the factors of power are called in sentences: clauses that explain them, actions that move them, and questions.

Clauses begin in lower case and have no full stop, so that they can be joined. They address the user as "you" and the
other side as "they", and contain no numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from negotiator.terms.plain_text import sentence

PowerSide: TypeAlias = Literal["me", "them"]

NEARLY_EVEN: Final = 0.1
"""A factor of at most this size, of 1, is called about even."""
SMALL_SHIFT: Final = 0.04
LARGE_SHIFT: Final = 0.1
"""Below the first, a change of the user's share of the power is a little one, from the second on a large one."""
_PRONOUNS: Final[Mapping[PowerSide, Mapping[str, str]]] = {
    "me": {"they": "you", "them": "you", "their": "your", "theirs": "yours"},
    "them": {"they": "they", "them": "them", "their": "their", "theirs": "theirs"},
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one side's fact, and what its answer tells. `ask` is who can answer it."""

    question: str
    why: str
    ask: Literal["yourself", "them"]


@dataclass(frozen=True, slots=True)
class FactorWords:
    """The words of one factor.

    `favours` says which side it is good for. In the other clauses `{they}`, `{them}`, `{their}` and `{theirs}` stand
    for the side that the clause is about, with `other_` before them for its counterpart: `better` compares both sides;
    `strong`, `usual` and `weak` tell of one side where nothing is known of the other. `action` is the user's, in the
    form "Finding …". `mine` and `others` are the questions about the user's fact and the other side's.
    """

    favours: str
    better: str
    even: str
    strong: str
    usual: str
    weak: str
    unknown: str
    action: str
    mine: Question
    others: Question


FACTOR_WORDS: Final[Mapping[str, FactorWords]] = {
    "alternatives": FactorWords(
        favours="the alternatives favour {them}",
        better="{their} best alternative is better than {other_theirs}",
        even="both sides have about equally good alternatives",
        strong="{they} have an alternative to fall back on",
        usual="{they} have little to fall back on",
        weak="{they} have nothing to fall back on",
        unknown="Nobody has said what either side does without this deal.",
        action="Finding a good second offer",
        mine=Question(
            "What will you do if there is no deal, and what is that worth to you?",
            "Nothing gives you more power than a good alternative, and yours is not known yet.",
            "yourself",
        ),
        others=Question(
            "What will you do if we do not reach an agreement?", "It shows how good their alternative is.", "them"
        ),
    ),
    "time": FactorWords(
        favours="time favours {them}",
        better="waiting costs {other_them} more than it costs {them}",
        even="waiting costs both sides about the same",
        strong="{they} are in no hurry",
        usual="{they} have the usual time to decide",
        weak="{they} are pressed for time",
        unknown="Nobody has said by when either side has to decide, or what waiting costs.",
        action="Gaining enough time to wait twice as long",
        mine=Question(
            "By when do you need a result, and what does waiting cost you?",
            "The side that can wait longer concedes less.",
            "yourself",
        ),
        others=Question(
            "By when do you need this settled, and what happens if it takes longer?",
            "It shows how much waiting costs them.",
            "them",
        ),
    ),
    "competition": FactorWords(
        favours="the competition favours {them}",
        better="{they} can turn to more others than {other_they} can",
        even="both sides have about as many others to turn to",
        strong="{they} have others to turn to",
        usual="{they} have hardly anybody else to turn to",
        weak="{they} have nobody else to turn to",
        unknown="Nobody has said how many others either side could deal with instead.",
        action="Bringing one more serious {rival} into the talks",
        mine=Question(
            "How many others could you deal with instead today?",
            "When others offer the same deal, it is easier to say no.",
            "yourself",
        ),
        others=Question(
            "Who else are you talking to about this?", "It shows whether they have anybody else to turn to.", "them"
        ),
    ),
    "dependency": FactorWords(
        favours="the cost of ending the relationship favours {them}",
        better="ending the relationship would cost {other_them} more than {them}",
        even="ending the relationship would cost both sides about the same",
        strong="ending the relationship would cost {them} little",
        usual="ending the relationship would cost {them} a fair amount",
        weak="ending the relationship would cost {them} a lot",
        unknown="Nobody has said what ending the relationship would cost either side.",
        action="Making it cheaper for you to end the relationship",
        mine=Question(
            "What would it cost you to end this and start with somebody else?",
            "The side for which an end is more expensive gives in sooner.",
            "yourself",
        ),
        others=Question(
            "What would change for you if we did not work together?",
            "It shows what ending the relationship would cost them.",
            "them",
        ),
    ),
    "information": FactorWords(
        favours="knowledge of the limits favours {them}",
        better="{they} know more about {other_their} limits than {other_they} know about {theirs}",
        even="both sides know about as much of each other's limits",
        strong="{they} have an idea of {other_their} limits",
        usual="{they} know a little about {other_their} limits",
        weak="{they} know almost nothing about {other_their} limits",
        unknown="Nobody has said how well either side knows the other's limits.",
        action="Learning their limits and priorities before you offer",
        mine=Question(
            "How sure are you of what they can accept, and how do you know it?",
            "If you know their limits, you do not give more than you need to.",
            "yourself",
        ),
        others=Question(
            "What do they already know about your limits, and from whom?",
            "If they know your limits, they can demand everything up to them.",
            "yourself",
        ),
    ),
    "market": FactorWords(
        favours="the market favours {them}",
        better="market figures support {them} more than {other_them}",
        even="market figures support both sides about equally",
        strong="market figures support {them}",
        usual="market figures support {them} to some degree",
        weak="market figures do not support {them}",
        unknown="Nobody has said whose figures the market supports.",
        action="Finding market figures that support your target",
        mine=Question(
            "Which prices or contracts of others support your target?",
            "A figure with a source is harder to refuse.",
            "yourself",
        ),
        others=Question("What is your figure based on?", "It shows how well the market supports them.", "them"),
    ),
    "authority": FactorWords(
        favours="the freedom to decide favours {them}",
        better="{they} can decide more freely than {other_they} can",
        even="both sides can decide about equally freely",
        strong="{they} can decide without asking anybody",
        usual="{they} can decide within limits",
        weak="{they} need somebody's approval",
        unknown="Nobody has said who decides on either side.",
        action="Getting more authority to decide yourself",
        mine=Question(
            "Who has to approve what you agree to, and up to which figure can you decide yourself?",
            "The side that can decide on the spot has more to offer.",
            "yourself",
        ),
        others=Question(
            "Who else has to agree on your side?", "It shows whether you are talking to the person who decides.", "them"
        ),
    ),
    "commitment": FactorWords(
        favours="what is already invested favours {them}",
        better="{other_they} are already more committed to this deal than {they} are",
        even="both sides are about equally committed to this deal",
        strong="{they} are not committed to this deal yet",
        usual="{they} are committed to this deal to some degree",
        weak="{they} are already committed to this deal",
        unknown="Nobody has said how much either side has already put into this deal.",
        action="Keeping other options open instead of putting more into this deal",
        mine=Question(
            "What have you already spent, announced or promised for this deal?",
            "What you have already spent makes it harder to leave.",
            "yourself",
        ),
        others=Question(
            "What have you already prepared for this?", "It shows how hard it would be for them to leave.", "them"
        ),
    ),
    "relationship": FactorWords(
        favours="the relationship favours {them}",
        better="{other_they} need the relationship more than {they} do",
        even="both sides need the relationship about equally",
        strong="{they} can do without the relationship",
        usual="{they} need the relationship to some degree",
        weak="{they} need the relationship",
        unknown="Nobody has said how much either side needs the relationship.",
        action="Needing the relationship less yourself",
        mine=Question(
            "How much do you need to work with them afterwards?",
            "The side that needs the relationship more gives in sooner.",
            "yourself",
        ),
        others=Question(
            "How do you see us working together after this?", "It shows how much they need the relationship.", "them"
        ),
    ),
}


def factor_clause(name: str, value: float, known: frozenset[PowerSide]) -> str:
    """What a factor says of the two sides, for example "a break would cost them more than you".

    `value` is the factor from -1 to 1, positive in the user's favour; `known` are the sides of which something is
    known, not empty.
    """
    words = FACTOR_WORDS[name]
    even = abs(value) <= NEARLY_EVEN
    if len(known) == 2:
        return words.even if even else _about(words.better, "me" if value > 0 else "them")
    side: PowerSide = "me" if "me" in known else "them"
    good = value > 0 if side == "me" else value < 0
    return _about(words.usual if even else words.strong if good else words.weak, side)


def favour_clause(name: str, value: float) -> str:
    """Which side a factor favours, for example "time favours you"."""
    side = "neither side" if abs(value) <= NEARLY_EVEN else "you" if value > 0 else "them"
    return FACTOR_WORDS[name].favours.format(them=side)


def factor_explanation(name: str, value: float, known: frozenset[PowerSide], *, judged: bool = False) -> str:
    """The sentence that explains a factor; it says what is not known."""
    if judged:
        return sentence(f"in your own judgement, {favour_clause(name, value)}")
    if not known:
        return FACTOR_WORDS[name].unknown
    text = sentence(factor_clause(name, value, known))
    if len(known) == 2:
        return text
    return f"{text} {'Their' if 'me' in known else 'Your'} side of this is not known."


def _about(template: str, side: PowerSide) -> str:
    other: PowerSide = "them" if side == "me" else "me"
    counterpart = {f"other_{name}": word for name, word in _PRONOUNS[other].items()}
    return template.format(**_PRONOUNS[side], **counterpart)


def size_of_shift(change: float) -> str:
    """How much a change of the user's share of the power is, in words."""
    size = abs(change)
    return "a little" if size < SMALL_SHIFT else "quite a bit" if size < LARGE_SHIFT else "a lot"
