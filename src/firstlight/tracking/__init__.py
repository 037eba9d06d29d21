"""State tracking: groups acting on values, sentences that apply them, models that follow, and how far they carry."""
