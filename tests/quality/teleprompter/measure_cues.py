"""Measures the cues on held-out wordings: `python -m tests.quality.teleprompter.measure_cues`.

A card counts as right when it names the wording's own cue, as shown when the display policy shows it for a single final
on an empty screen, as false when any card is shown for ordinary talk.
"""

import asyncio
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rapidfuzz import fuzz, process

from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from negotiator.memory.embedding.trained_file import embed_in_batches
from negotiator.teleprompter.classifier_training import train_shipped
from negotiator.teleprompter.cues.catalogue import SPEAKERS, Speaker, cue_catalogue
from negotiator.teleprompter.cues.classifier import CueClassifier, Vectors
from negotiator.teleprompter.cues.matcher import CueMatch, Matcher, build_matcher, text_pieces
from negotiator.teleprompter.cues.policy import HeardUtterance, PolicySettings, Screen, advance_screen

FILE: Final = Path(__file__).with_name("held_out.toml")
THRESHOLDS: Final = (0.05, 0.10, 0.15, 0.18, 0.20, 0.25, 0.30, 0.40, 0.50)
ALIKE: Final = 75.0


@dataclass(frozen=True, slots=True)
class Wording:
    """A held-out sentence and the cue it stands for; ordinary talk has none."""

    text: str
    speaker: Speaker
    cue_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the matcher says to a wording, surest first."""

    wording: Wording
    matches: tuple[CueMatch, ...]

    def shown(self, rules: PolicySettings) -> str:
        """The cue of the card that is shown for it as a final, or nothing."""
        heard = HeardUtterance("u", self.wording.speaker, self.wording.text, final=True, at=0.0)
        _, events = advance_screen(Screen(), heard, self.matches, rules=rules)
        return next((event.cards[0].cue_id for event in events if event.news == "shown"), "")


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of the wordings that mean something, and of the ordinary ones (`false`)."""

    first: float
    first_three: float
    shown: float
    wrong: float
    false: float


def wordings() -> tuple[Wording, ...]:
    page = tomllib.loads(FILE.read_text("utf-8"))
    cues = cue_catalogue().cues
    meant = [Wording(text, cues[row["id"]].speaker, row["id"]) for row in page["cue"] for text in row["said"]]
    return (*meant, *(Wording(t, s, "") for s in SPEAKERS for t in page["neutral"][s]))


def answers(matcher: Matcher, heads: dict[Speaker, CueClassifier], embedder: Embedder) -> list[Answer]:
    async def run() -> list[Answer]:
        found: list[Answer] = []
        for one in wordings():
            vectors = await embedder.embed(text_pieces(one.text))
            head = heads[one.speaker]
            matches = matcher.match(one.text, one.speaker, head=head, vectors=vectors)
            found.append(Answer(one, matches))
        return found

    return asyncio.run(run())


def figures(found: list[Answer], rules: PolicySettings) -> Figures:
    meant = [one for one in found if one.wording.cue_id]
    ordinary = [one for one in found if not one.wording.cue_id]
    ranks = [[m.cue_id for m in one.matches] for one in meant]
    shown = [one.shown(rules) for one in meant]
    right = [card == one.wording.cue_id for card, one in zip(shown, meant, strict=True)]
    wrong = [bool(card) and not is_right for card, is_right in zip(shown, right, strict=True)]
    firsts = [one.wording.cue_id in rank[:1] for one, rank in zip(meant, ranks, strict=True)]
    threes = [one.wording.cue_id in rank[:3] for one, rank in zip(meant, ranks, strict=True)]
    return Figures(
        first=sum(firsts) / len(meant),
        first_three=sum(threes) / len(meant),
        shown=sum(right) / len(meant),
        wrong=sum(wrong) / len(meant),
        false=sum(bool(one.shown(rules)) for one in ordinary) / max(len(ordinary), 1),
    )


@dataclass(frozen=True, slots=True)
class Early:
    """Growing partials, a word at a time: shares of the wordings, and how much of the sentence had been said."""

    shown: float
    wrong_family: float
    heard: float
    false: float


def growing(matcher: Matcher, heads: dict[Speaker, CueClassifier], embedder: Embedder) -> Early:
    """What is shown before the last word, by the policy as it ships."""

    async def first_card(one: Wording) -> tuple[str, float]:
        screen, words = Screen(), one.text.split()
        for said in range(2, len(words)):
            text = " ".join(words[:said])
            vectors = await embedder.embed(text_pieces(text))
            matches = matcher.match(text, one.speaker, head=heads[one.speaker], vectors=vectors)
            heard = HeardUtterance("u", one.speaker, text, final=False, at=0.3 * said)
            screen, _ = advance_screen(screen, heard, matches)
            if screen.cards:
                return screen.cards[0].cue_id, said / len(words)
        return "", 1.0

    async def run() -> Early:
        cues = matcher.catalogue.cues
        said = [(one, *await first_card(one)) for one in wordings()]
        meant = [row for row in said if row[0].cue_id]
        shown = [row for row in meant if row[1]]
        wrong = [one for one, card, _ in shown if cues[card].family != cues[one.cue_id].family]
        ordinary = [bool(card) for one, card, _ in said if not one.cue_id]
        heard = sum(part for _, _, part in shown) / max(len(shown), 1)
        count = len(meant)
        return Early(
            shown=len(shown) / count, wrong_family=len(wrong) / count, heard=heard, false=sum(ordinary) / len(ordinary)
        )

    return asyncio.run(run())


def unlike_every_phrasing(found: list[Answer]) -> list[Answer]:
    """Without the wordings that are spelled much like a phrasing: the part the head has to understand."""
    phrasings = [text for cue in cue_catalogue().cues.values() for text in cue.phrasings]
    return [
        one
        for one in found
        if not one.wording.cue_id
        or process.extractOne(one.wording.text, phrasings, scorer=fuzz.ratio, score_cutoff=ALIKE) is None
    ]


def taught(embedder: Embedder) -> dict[Speaker, CueClassifier]:
    book = cue_catalogue()

    async def run() -> dict[Speaker, CueClassifier]:
        vectors: dict[Speaker, Vectors] = {
            speaker: await embed_in_batches(embedder, [text for text, _ in book.examples(speaker)])
            for speaker in SPEAKERS
        }
        return {speaker: one.head for speaker, one in train_shipped(book, vectors).taught.items()}

    return asyncio.run(run())


def main() -> None:
    """Print the curve, for all wordings, by speaker, and for those unlike every phrasing."""
    with tempfile.TemporaryDirectory() as folder:
        embedder = choose_embedder("", key="", model="", models=Path(folder))
        matcher, heads = build_matcher(cue_catalogue()), taught(embedder)
        found = answers(matcher, heads, embedder)
        early = growing(matcher, heads, embedder)
        asyncio.run(embedder.close())
    parts = {
        f"all, {embedder.model}": found,
        "them": [one for one in found if one.wording.speaker == "them"],
        "me": [one for one in found if one.wording.speaker == "me"],
        "unlike every phrasing": unlike_every_phrasing(found),
    }
    out = sys.stdout.write
    for name, part in parts.items():
        out(f"\n{name}: {len(part)} sentences\nshown from  first  in 3  right  wrong  false\n")
        for threshold in THRESHOLDS:
            got = figures(part, PolicySettings(shown=threshold, guessed=threshold))
            row = (got.first, got.first_three, got.shown, got.wrong, got.false)
            out(f"{threshold:10.2f}" + "".join(f"{share:7.2f}" for share in row) + "\n")
    out(f"\nas shipped: {figures(found, PolicySettings())}\n")
    out(f"on growing partials, {early}\n")


if __name__ == "__main__":
    main()
