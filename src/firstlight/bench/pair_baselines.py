"""The baselines of the pair statistics, written as plainly as one would write them.

Each takes windows of token ids and computes the uncentred context sums (1/t summed over prefix tokens of each next
token), and some of them the attention statistic given the composed matrix. None is exact in the sense of the package:
they add float32 numbers in the order they come.
"""

from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array, kron

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True)
def loops_context(windows: Array, shares: Array, context: Array) -> None:
    """Add to context[next, prefix] pair by pair."""
    for i in range(windows.shape[0]):
        for t in range(windows.shape[1] - 1):
            following = windows[i, t + 1]
            for j in range(t + 1):
                context[following, windows[i, j]] += shares[t]


@njit(cache=True, nogil=True)
def loops_attention(windows: Array, shares: Array, composed: Array, attention: Array, position: Array) -> None:
    """Add to attention[query, key] and position[offset] pair by pair."""
    for i in range(windows.shape[0]):
        for t in range(windows.shape[1] - 1):
            query, following = windows[i, t], windows[i, t + 1]
            mean = np.float32(0)
            for j in range(t + 1):
                mean += composed[following, windows[i, j]]
            mean *= shares[t]
            for j in range(t + 1):
                term = shares[t] * (composed[following, windows[i, j]] - mean)
                attention[query, windows[i, j]] += term
                position[t - j] += term


def einsum_context(windows: Array, vocabulary: int) -> Array:
    """Do it with one-hot matrices and einsum in PyTorch."""
    import torch

    x, y, uniform = _one_hots(windows, vocabulary)
    return torch.einsum("nty,ts,nsx->yx", y, uniform, x).numpy()


def einsum_attention(windows: Array, vocabulary: int, composed: Array) -> Array:
    """Compute attention[query, key] with one-hot matrices and einsum in PyTorch."""
    import torch

    x, y, uniform = _one_hots(windows, vocabulary)
    scores = torch.einsum("nty,yx,nsx->nts", y, torch.from_numpy(composed), x)
    centred = scores - torch.einsum("ts,nts->nt", uniform, scores)[:, :, None]
    return torch.einsum("ntq,ts,nts,nsk->qk", x, uniform, centred, x).numpy()


def _one_hots(windows: Array, vocabulary: int) -> tuple[Any, Any, Any]:
    import torch

    ids = torch.from_numpy(windows.astype(np.int64))
    hot = torch.nn.functional.one_hot(ids, vocabulary).to(torch.float32)
    steps = windows.shape[1] - 1
    uniform = torch.tril(torch.ones(steps, steps)) / torch.arange(1, steps + 1)[:, None]
    return hot[:, :-1], hot[:, 1:], uniform


def index_add_context(windows: Array, vocabulary: int) -> Array:
    """Do it with lists of pairs and torch index_add."""
    import torch

    ids = torch.from_numpy(windows.astype(np.int64))
    steps = windows.shape[1] - 1
    t, j = torch.tril_indices(steps, steps)
    shares = (1 / (t + 1)).to(torch.float32)
    context = torch.zeros(vocabulary * vocabulary)
    for window in ids:
        context.index_add_(0, window[1:][t] * vocabulary + window[:-1][j], shares)
    return context.reshape(vocabulary, vocabulary).numpy()


def sparse_context(windows: Array, vocabulary: int, at_once: int = 64) -> Array:
    """Do it with products of sparse matrices in SciPy."""
    steps = windows.shape[1] - 1
    uniform = csr_array((np.tril(np.ones((steps, steps))) / np.arange(1, steps + 1)[:, None]).astype(np.float32))
    context = np.zeros((vocabulary, vocabulary), np.float32)
    for start in range(0, len(windows), at_once):
        part = windows[start : start + at_once]
        x, y = (_sparse_one_hots(tokens, vocabulary) for tokens in (part[:, :-1], part[:, 1:]))
        blocks = csr_array(kron(csr_array(np.eye(len(part), dtype=np.float32)), uniform))
        context += (y.T @ (blocks @ x)).toarray()
    return context


def _sparse_one_hots(tokens: Array, vocabulary: int) -> csr_array:
    rows = tokens.size
    return csr_array(
        (np.ones(rows, np.float32), tokens.reshape(-1).astype(np.int32), np.arange(rows + 1)), shape=(rows, vocabulary)
    )
