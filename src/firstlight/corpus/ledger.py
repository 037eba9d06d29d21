"""The ledger: how many documents and tokens were read, kept and excluded, by reason, adding up exactly."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Int64


@dataclass
class Ledger:
    """The account a build keeps while it reads; `as_dict` is what the manifest carries.

    Tokens are those of the documents' text, each counted once, also where two windows share one. Tokens the build
    put in itself (a BOS) are counted apart in `tokens_added`, those kept as `<unk>` again in `tokens_unknown`.
    """

    documents_read: int = 0
    documents_kept: int = 0
    documents_excluded: dict[str, int] = field(default_factory=dict)
    tokens_read: int = 0
    tokens_kept: int = 0
    tokens_excluded: dict[str, int] = field(default_factory=dict)
    tokens_added: int = 0
    tokens_unknown: int = 0
    split_documents: int = 0
    split_parts: int = 0
    windows: int = 0
    short_windows: int = 0
    positions: int = 0

    def exclude_document(self, reason: str) -> None:
        """Enter a document that is left out before its tokens were counted."""
        self.documents_excluded[reason] = self.documents_excluded.get(reason, 0) + 1

    def exclude_documents(self, reason: str, tokens: Int64[np.ndarray, " document"]) -> None:
        """Enter documents that are left out whole, given the tokens of each."""
        if len(tokens):
            self.documents_excluded[reason] = self.documents_excluded.get(reason, 0) + len(tokens)
            self.exclude_tokens(reason, int(tokens.sum()))

    def exclude_tokens(self, reason: str, tokens: int) -> None:
        """Enter tokens that are left out."""
        if tokens:
            self.tokens_excluded[reason] = self.tokens_excluded.get(reason, 0) + tokens

    def check(self) -> None:
        """Assert that what was read is what was kept and what was excluded, no more and no less."""
        check(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger as the manifest and `--json` show it, the largest exclusion first."""
        return {
            "documents": {
                "read": self.documents_read,
                "kept": self.documents_kept,
                "excluded": _largest_first(self.documents_excluded),
            },
            "tokens": {
                "read": self.tokens_read,
                "kept": self.tokens_kept,
                "excluded": _largest_first(self.tokens_excluded),
                "added": self.tokens_added,
                "unknown": self.tokens_unknown,
            },
            "split": {"documents": self.split_documents, "parts": self.split_parts},
            "windows": self.windows,
            "short_windows": self.short_windows,
            "positions": self.positions,
        }


def check(ledger: dict[str, Any]) -> None:
    """Assert that a ledger in the form of the manifest adds up."""
    for what in ("documents", "tokens"):
        account = ledger[what]
        excluded = sum(account["excluded"].values())
        if account["read"] != account["kept"] + excluded:
            raise AssertionError(
                f"ledger does not add up: {what} read {account['read']}, kept {account['kept']}, excluded {excluded}"
            )


def _largest_first(reasons: dict[str, int]) -> dict[str, int]:
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))
