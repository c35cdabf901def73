"""The teleprompter: listens to a call and shows a card with what to say next.

`routes` and `websocket_endpoint` take requests and sockets. `utterances` takes what is said,
`utterance_analyser` finds cues, figures and memories in it, `session_transitions` changes the session in one
transaction, and `bus` wakes its followers. `cues` and `figures` are pure.
"""
