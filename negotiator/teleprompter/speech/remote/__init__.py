"""Speech services behind a network, used only when the operator names one; each says which host hears the audio.

`transcriptions` speaks the OpenAI-compatible `POST /audio/transcriptions`, utterance by utterance; `deepgram` speaks
the Deepgram-style WebSocket, and `results` understands its messages. No audio goes anywhere by default.
"""
