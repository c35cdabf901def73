"""Engines that hear on this machine, each in a worker process.

`engine` is their seam; `invented` knows what some of them write when nobody spoke.
`sphinx` is the default and brings its model; `sherpa`, `vosk` and `whisper` are optional packages with a model that the
operator supplies. An engine's package is imported by its own file only, and only in a worker.
"""
