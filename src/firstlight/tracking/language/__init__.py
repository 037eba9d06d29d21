"""Groups acting on values, sentences that apply them, and the tokens that models read."""
