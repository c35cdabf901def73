"""Speech recognition: audio of one channel in, words out; partial text while somebody speaks, a final after a pause.

`recognizer` is the interface, `events` what comes out of it, and `recognizer_factory` picks an engine by the settings.
`endpointer` detects voices and cuts utterances. Local engines run in worker processes (`local_recognizer`, `worker`);
`deepgram` and `transcription_api` call services that the operator chose. Audio is 16 kHz mono, signed 16 bit;
at most ten seconds of it are held, and it is never written to disk.
"""
