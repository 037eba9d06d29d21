"""The figures and theorems of the state-tracking paper, and what goes beyond it."""
