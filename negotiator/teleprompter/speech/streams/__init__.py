"""What every recognition shares, whoever hears.

`backlog` holds at most ten seconds of audio, `telling` numbers utterances and keeps the promises of `events`,
`channel` joins the two and says when hearing lags behind.

`segmented` is the recognition of an engine that wants an utterance whole and answers over the network.
"""
