"""What keeps a process running and observed: threads, breaker, metrics, traces, logs, stopping."""
