"""The rules of the teleprompter, by id."""

from typing import Final

TELEPROMPTER: Final = {
    "assistant:1:teleprompter": "live transcription with counter-objection cues",
    "assistant:5:scope-stream": "teleprompter:stream opens the stream",
    "contract:5:open": "a session is opened under a consent, 201 with where to go on",
    "contract:5:utterances": "an utterance is answered with its number and the cards it raises",
    "contract:5:once": "a final counts once, however often it is sent",
    "contract:5:cue": "a cue has the members of the contract",
    "contract:5:events": "events are numbered without gaps and answered after any number",
    "contract:5:poll": "a long poll waits for the first event",
    "contract:5:sse": "the same events come as server-sent events, from Last-Event-ID on",
    "contract:5:pause": "while it is paused nothing is heard, and the gap is marked",
    "contract:5:consent": "with the own side's consent only, theirs is not heard",
    "contract:5:keep": "what was said is kept as long as was chosen, then nowhere",
    "contract:5:end": "an ended session hears nothing more",
    "contract:5:transcript": "the transcript has the finals in their order",
    "contract:5:delete": "DELETE erases the session with all that was said",
    "contract:5:redact": "cards, accounts, addresses and secrets are taken out before anything is kept",
    "contract:5:limits": "figures are held against the bound negotiation's limits; that card beats any other",
    "contract:5:offers": "detected prices enter the ledger of the bound negotiation unconfirmed",
    "contract:5:feedback": "feedback on a card teaches its owner's cues and nobody else's",
    "contract:5:socket": "GET …/stream is a WebSocket of negotiator.teleprompter.v1, else 426",
    "contract:5:tickets": "a ticket opens its session's socket once, within 30 seconds",
    "contract:5:resume": "after=N replays what came since, nothing lost, nothing twice",
    "contract:5:close-codes": "a socket is closed with the code of its reason",
    "contract:5:producer": "one connection sends sound; a new one takes over, the old one gets 4409",
    "contract:5:owner": "a session is there for its owner alone",
}
