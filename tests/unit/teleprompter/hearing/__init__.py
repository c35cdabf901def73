"""What one utterance means beyond its phrases."""
