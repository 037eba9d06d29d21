"""From statistics to predictions, and how far real training is from them."""

from firstlight.theory.leading import LeadingTerms, leading_terms

__all__ = ["LeadingTerms", "leading_terms"]
