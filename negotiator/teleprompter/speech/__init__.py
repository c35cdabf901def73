"""Audio of one speaking channel in, words out: partials while somebody speaks, a final when they stop.

`recognizer` is the seam, `events` what comes out of it, `choose` picks one from the settings. `endpointing` says when
somebody speaks; `engines` hear (in a worker process); `workers` are those processes; `remote` are adapters to services
that the operator named; `streams` holds what all of them share: the bounded backlog and the numbering of utterances.
Audio is 16 kHz, mono, signed 16 bit; it is never written anywhere and at most ten seconds of it are held. Neighbour:
the live session, which pushes audio and reads events. It knows nothing of cues.
"""
