"""An issue's label and unit as a sentence needs them, whatever the user wrote: `price_per_seat`, `Term (months)`."""

import re
from dataclasses import dataclass
from typing import Final

from negotiator.base.values import MINOR_UNITS
from negotiator.terms.issues import Issue
from negotiator.terms.plain_text import COUNT_NOUNS, cut_at_word, singular, tidy, word_set

MAX_LABEL_CHARACTERS: Final = 60
MAX_UNIT_CHARACTERS: Final = 30
_ACRONYMS: Final = {
    word.lower(): word
    for word in word_set(
        "SLA VAT API CRM ERP NDA KPI ROI SaaS GDPR SSO IP PTO HR EV GPS LED USB VIP B2B B2C OEM MRR ARR CPM UK US EU"
    )
}
_TRAILING_BRACKET: Final = re.compile(r"[(\[]([^()\[\]]*)[)\]]$")
_MEASURED: Final = re.compile(
    r"\b(term|time|period|notice|warranty|length|duration|delivery|payment)\s+(?:days|weeks|months|years|hours)$",
    re.IGNORECASE,
)
"""A measure with its unit as the last word, `lead time weeks`."""
_TIME_UNITS: Final = frozenset(["day", "week", "month", "year", "hour", "minute"])


@dataclass(frozen=True, slots=True)
class IssueWords:
    """A label in sentence form (`contract term`) and a unit (`months`), either of them safe to print."""

    label: str
    unit: str | None

    @property
    def words(self) -> tuple[str, ...]:
        """The label's words in lower case."""
        return tuple(re.findall(r"[^\W_]+", self.label.lower()))


_WHO: Final = re.compile(
    r"^who (?:does|pays(?: for)?|sees to|takes care of|is responsible for|handles|covers|bears)\s+(?=\S)|(?<=\S)\s+by$",
    re.IGNORECASE,
)
"""What of the label of a choice of sides is no noun: "who sees to the garden", "transport by"."""


def issue_words(issue: Issue, title: str = "") -> IssueWords:
    """The words for an issue. Names that the title writes with a capital inside a sentence keep it."""
    label = _sentence_form(issue.label, title) if tidy(issue.label) else _from_name(issue.name)
    unit = cut_at_word(tidy(issue.unit or ""), MAX_UNIT_CHARACTERS) or None
    bracket = _TRAILING_BRACKET.search(label)
    if bracket is not None and bracket.start() and _is_unit(issue, bracket[1], unit):
        label = label[: bracket.start()].rstrip()
        unit = unit or bracket[1].strip()
    if issue.type == "duration_days":
        unit = "days"
    elif unit is None and issue.type in {"number", "integer"}:
        unit = _unit_in_name(issue.name, label)
    label = _MEASURED.sub(r"\1", label)
    if issue.type == "enum":
        label = _WHO.sub("", label) or label
    return IssueWords(cut_at_word(label, MAX_LABEL_CHARACTERS) or "point", unit)


def _is_unit(issue: Issue, text: str, unit: str | None) -> bool:
    plain = text.strip()
    return (
        plain == unit
        or plain.upper() in MINOR_UNITS
        or plain in {"%", "€", "$", "£", "¥"}
        or (issue.type not in {"money", "enum", "boolean"} and singular(plain.lower().split(" ")[0]) in COUNT_NOUNS)
    )


def _unit_in_name(name: str, label: str) -> str | None:
    """The unit that a name ends with, `term_months`, or the noun that a label counts, `seats`."""
    last = re.split(r"[^a-z]+", name.lower().strip("_"))[-1]
    if singular(last) in _TIME_UNITS:
        return last
    words = label.lower().split()
    head = words[: words.index("per")] if "per" in words[1:] else words
    noun = head[-1] if head else ""
    if head[:2] == ["number", "of"] or len(head) == 1:
        return noun if noun.endswith("s") and singular(noun) in COUNT_NOUNS else None
    return noun if noun.endswith("s") and singular(noun) in _TIME_UNITS else None


def _from_name(name: str) -> str:
    """`price_per_seat`, `price-per-seat` and `pricePerSeat` as `price per seat`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-_.]+", " ", name)
    words = [_ACRONYMS.get(word.lower(), word if _is_acronym(word) else word.lower()) for word in tidy(spaced).split()]
    return " ".join(words) or "point"


def _sentence_form(label: str, title: str) -> str:
    """A label as it stands inside a sentence: `Price Per Seat` as `price per seat`, `SLA credit` as it is."""
    plain = tidy(label)
    if "_" in label and plain == plain.lower():
        return _from_name(plain)
    words = plain.split()
    shouted = len(words) > 1 and plain == plain.upper()
    rest = [word for word in words[1:] if len(word) > 3 and word[0].isalpha()]
    titled = len(words) > 1 and bool(rest) and all(word[0].isupper() for word in rest)
    names = _names(title)
    said: list[str] = []
    for place, word in enumerate(words):
        lowered = _is_capitalised(word) and word not in names and (place == 0 or titled)
        if shouted and len(word) > 4:
            lowered = True
        said.append(word.lower() if lowered else word)
    return " ".join(said)


def _names(title: str) -> frozenset[str]:
    """The words that a title in sentence case writes with a capital after its first word."""
    words = tidy(title).split()
    in_sentence_case = any(len(word) > 3 and word.islower() for word in words)
    return frozenset(word for word in words[1:] if in_sentence_case and _is_capitalised(word))


def _is_capitalised(word: str) -> bool:
    """Whether a word is written like `Price`; `SLA`, `iPhone` and `I` are not."""
    letters = [mark for mark in word if mark.isalpha()]
    return (
        len(letters) > 1 and letters[0].isupper() and not any(mark.isupper() for mark in letters[1:])
    ) or word == "A"


def _is_acronym(word: str) -> bool:
    return 2 <= len(word) <= 4 and word.isupper()
