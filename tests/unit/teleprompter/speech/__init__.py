"""Speech without engines and processes: endpointing, the backlog, events, frames, a service's messages."""
