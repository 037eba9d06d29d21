"""Statistics: the basis functions of a corpus, read lazily from a store."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import zarr
from jaxtyping import Float64, Int64
from scipy.sparse import csr_array

from firstlight.errors import FirstlightError
from firstlight.files import format_bytes, recover, staging_folder
from firstlight.statistics import layout
from firstlight.statistics.basis import columns_of, rows_of
from firstlight.statistics.bigrams import Bigrams
from firstlight.statistics.remote import filesystem_of
from firstlight.statistics.vocabulary import TokenIndex

Basis = Literal["bigram", "interchangeability", "context", "attention", "composed"]
BASES: tuple[Basis, ...] = ("bigram", "interchangeability", "context", "attention", "composed")


@dataclass(frozen=True)
class Statistics:
    """The statistics of a corpus.

    `bigram`, `interchangeability`, `context`, `attention` and `composed` are dense V x V float64 arrays, read when
    first asked for and kept. When V is too large for that, `rows` and `columns` read parts.

    Attributes:
        path: where the store is, a folder or a URL.
        group: the Zarr group.
        facts: its attributes: sizes, scales, the corpora counted.
    """

    path: str
    group: zarr.Group
    facts: dict[str, Any]

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The token of each row and column."""
        return layout.load_vocabulary(self.group)

    @cached_property
    def tokens(self) -> TokenIndex:
        """Finds the id of a token."""
        return TokenIndex(self.vocabulary)

    @property
    def window(self) -> int:
        """T: the positions of a window."""
        return int(self.facts["window"])

    @property
    def positions(self) -> int:
        """The positions counted."""
        return int(self.facts["positions"])

    @cached_property
    def bigrams(self) -> Bigrams:
        """The exact sparse bigram counts."""
        parts = [layout.read(self.group, f"bigram_{part}") for part in ("count", "indices", "indptr")]
        size = int(self.facts["vocabulary_size"])
        counts = csr_array(tuple(parts), shape=(size, size))
        return Bigrams(counts, layout.read(self.group, "token_count"), layout.read(self.group, "next_count"))

    @property
    def token_count(self) -> Int64[np.ndarray, " current"]:
        """Occurrences of each token as x_t."""
        return self.bigrams.token_count

    @property
    def alpha(self) -> Float64[np.ndarray, " current"]:
        """The share of positions whose x_t is each token."""
        return self.bigrams.alpha

    @cached_property
    def bigram(self) -> Float64[np.ndarray, "current next"]:
        """B: count(i, j) / NT - alpha_i / V."""
        return self._dense("bigram")

    @cached_property
    def interchangeability(self) -> Float64[np.ndarray, "token token"]:
        """Sigma: B^T B."""
        return self._dense("interchangeability")

    @cached_property
    def context(self) -> Float64[np.ndarray, "next prefix"]:
        """Phi: the mean share of each prefix token before each next token, columns centred."""
        return self._dense("context")

    @cached_property
    def composed(self) -> Float64[np.ndarray, "next prefix"]:
        """G: Sigma Phi, computed from the counts when asked for."""
        return self._dense("composed")

    @cached_property
    def attention(self) -> Float64[np.ndarray, "query key"]:
        """Q: the query x key statistic of Theorem 4.1."""
        return self._dense("attention")

    @cached_property
    def position(self) -> Float64[np.ndarray, " offset"]:
        """Delta: the offset statistic, offsets 0 to T - 1."""
        self.require_attention()
        return layout.read(self.group, "position")

    def rows(self, basis: Basis, tokens: Any) -> Float64[np.ndarray, "chosen token"]:
        """Read some rows of a basis function.

        Arguments:
            basis: which one.
            tokens: ids, in any order.
        """
        return rows_of(self, _check_basis(basis), np.asarray(tokens, np.int64))

    def columns(self, basis: Basis, tokens: Any) -> Float64[np.ndarray, "token chosen"]:
        """Read some columns of a basis function.

        Arguments:
            basis: which one.
            tokens: ids, in any order.
        """
        return columns_of(self, _check_basis(basis), np.asarray(tokens, np.int64))

    def top(
        self,
        token: str,
        basis: Basis = "context",
        k: int = 10,
        score: Literal["lift", "raw"] = "lift",
        direction: Literal["out", "in"] = "out",
        min_count: int = 30,
    ) -> list[tuple[str, float]]:
        """Return the k tokens most associated with a token, with their scores.

        Arguments:
            token: the token, as the vocabulary writes it.
            basis: which basis function.
            k: how many.
            score: `raw` is the entry. `lift` is for reading and leaves out the token itself: for bigram and context
                the uncentred entry over the product of its margins, for interchangeability the entry over the root of
                the two diagonal ones (a cosine of bigram columns), for attention and composed the cosine of rows.
            direction: `out` reads the token's row, `in` its column.
            min_count: tokens that occur less often are left out.
        """
        from firstlight.statistics.associations import associations

        return associations(self, token, _check_basis(basis), k, score, direction, min_count)

    def export(self, path: str | Path) -> list[str]:
        """Write an `.npz` with alpha, B, Sigma, Phi, Q, Delta (float64) and vocab; return the names written."""
        from firstlight.statistics.export import export_npz

        return export_npz(self, Path(path))

    def verify(self) -> None:
        """Read every chunk; a chunk that does not match its checksum is an error that names its array."""
        groups = [self.group, *(group for _, group in self.group.groups())]
        for group in groups:
            for name in sorted(group.array_keys()):
                array = layout.matrix(group, name)
                step = array.chunks[0]
                for start in range(0, array.shape[0], step):
                    layout.read(group, name, slice(start, start + step))

    def require_attention(self) -> None:
        """Raise an error if the attention and position statistics were left out of a merged store."""
        if not self.facts["has_attention"]:
            raise FirstlightError(
                f"{self.path}: has no attention and position statistics: they need the member corpora, "
                f"and this store was merged without {self.facts['missing_corpus']}"
            )

    def _dense(self, basis: Basis) -> np.ndarray:
        size = int(self.facts["vocabulary_size"])
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        needed = 8 * size * size
        # Twice: what is read is turned into float64 in a second array.
        if 2 * needed > free:
            raise FirstlightError(
                f"{self.path}: {basis} as one array of {size:,} x {size:,} takes {format_bytes(2 * needed)}, "
                f"{format_bytes(free)} are free; read parts with rows() or columns()"
            )
        return rows_of(self, basis, np.arange(size))


def _check_basis(basis: str) -> Basis:
    if basis not in BASES:
        raise FirstlightError(f"basis {basis!r}: expected one of {', '.join(BASES)}")
    return basis


def open_statistics(path: str | Path) -> Statistics:
    """Open a statistics store: a folder, or an fsspec URL. Nothing but its attributes is read."""
    text = str(path)
    if "://" in text:
        filesystem, inside = filesystem_of(text)
        if not filesystem.exists(f"{inside}/zarr.json"):
            raise FirstlightError(f"{text}: no statistics here")
        group = zarr.open_group(text, mode="r")
    else:
        folder = Path(path)
        if not folder.exists():
            recover(folder)
        if not folder.exists():
            if staging_folder(folder).exists():
                raise FirstlightError(f"{text}: an unfinished count; run the same command again to finish it")
            raise FirstlightError(
                f"{text}: no statistics here; `firstlight stats build CORPUS --out {text}` makes them"
            )
        if not (folder / "zarr.json").is_file():
            raise FirstlightError(f"{text}: not a statistics store: it has no zarr.json")
        with layout.damage_named(f"{text}: zarr.json"):
            group = zarr.open_group(folder, mode="r")
    return Statistics(text, group, layout.attributes(group))
