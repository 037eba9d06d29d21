"""The one-block transformer of the experiments (section 7)."""
