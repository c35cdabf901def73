"""`make faults`: real processes, one fault after another under load, and what its clients saw."""
