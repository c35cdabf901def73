"""Made-up inputs against the parsers, the application and a running server: `make fuzz`."""
