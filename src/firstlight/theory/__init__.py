"""From statistics to predictions, and how far real training is from them."""

from firstlight.theory.leading import LeadingTerms, leading_terms
from firstlight.theory.verification import Verification, verify

# firstlight.theory.ablation, truncation and closed_form run the reference model, so they need PyTorch.
__all__ = ["LeadingTerms", "Verification", "leading_terms", "verify"]
