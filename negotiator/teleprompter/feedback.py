"""`POST …/cues/{cue}/feedback`: what became of a card, and what its owner's cues learn from it."""

from dataclasses import dataclass

from negotiator.edge.operation import Call, Operation, Tool
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter.cues.catalogue import cue_catalogue
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.routes import ONE, STREAM
from negotiator.teleprompter.sessions import rows
from negotiator.teleprompter.sessions.moving import Outcome
from negotiator.teleprompter.sessions.schemas import Feedback, JudgedView
from negotiator.teleprompter.taught import judging
from negotiator.teleprompter.taught.examples import lesson_of
from negotiator.teleprompter.taught.heads import Heads


@dataclass(frozen=True, slots=True)
class Judging:
    """Takes feedback."""

    store: Store
    listening: Listening
    heads: Heads

    def operations(self) -> list[Operation]:
        """What this slice offers."""
        return [
            Operation(
                name="judge_cue",
                method="POST",
                path=f"{ONE}/cues/{{cue}}/feedback",
                summary="Say what became of a card: your own later cards learn from it",
                run=self.judge,
                input=Feedback,
                output=JudgedView,
                scopes=STREAM,
                refusals=(400, 404, 422, 503),
                tool=Tool("Judge a card", hint="Use it when the user took or refused a card."),
                tag="teleprompter",
            ),
        ]

    async def judge(self, call: Call[Feedback]) -> JudgedView:
        """Note what became of a card and let its owner's head learn from it, once for each action in a row.

        A card of a figure or of a memory teaches nothing, nor does one whose words are not there any more.
        """
        asked, owner, log = call.input, call.caller.principal, self.listening.log

        def find(tx: Transaction) -> judging.Judged:
            session = rows.find(tx, owner, asked.id)
            return judging.find(tx, session, asked.cue, log.unkept(asked.id))

        judged = await self.store.read(find)
        teaches = judged.cue in cue_catalogue().cues and judged.sentence != ""
        vector = await self.heads.vector(judged.sentence) if teaches else None

        def change(tx: Transaction, session: rows.Session) -> Outcome:
            outcome, is_news = judging.judge(tx, session, judged, asked.action)
            if is_news and vector is not None:
                self.heads.teach(tx, owner, lesson_of(asked.action, judged.cue), vector=vector)
            return outcome

        await self.listening.change(call.caller, asked.id, change)
        return {"id": judged.id, "action": asked.action, "taught": vector is not None}
