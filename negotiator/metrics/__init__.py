"""Numbers about the running service: counted in each worker, added up over all workers of the machine when asked.

`lanes` keeps a worker's 64-bit cells in a file that the others map, `meters` names them (counters, histograms, the
traffic of requests), `exposition` writes them as Prometheus text. Nothing here knows HTTP; `discovery/scrape` serves
it. Why not a library: docs/decisions/0007-metrics.md.
"""
