"""What everything stands on: values, errors, scopes, schemas, strict JSON and the caller."""
