"""Better words for what the engine has already decided, from a language model or from nobody.

`numbers` reads numbers in any spelling; `wording` hides them behind placeholders before anything is sent and refuses
every answer that says more than it was given; `advisor` is the seam with its silent default; `openai` speaks to an
OpenAI-compatible endpoint. A model is told neither a number nor a private field, so it can neither bend nor betray one.
Used by `plans` and `suggestions`, chosen in `wiring`.
"""
