"""How good answers are, not whether they come: measured against material with a judged truth."""
