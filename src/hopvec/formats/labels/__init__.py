"""Files -> labels."""
