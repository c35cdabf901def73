"""The settings, the files they are read from, and the data folder."""
