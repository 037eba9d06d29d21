"""Work in as many threads as PyTorch has been told to use; compiled loops hold no lock."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import torch

Part = TypeVar("Part")
Result = TypeVar("Result")


def spread(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Do the parts of a piece of work, and return their results in order."""
    threads = min(torch.get_num_threads(), len(parts))
    if threads < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, parts))


def shares(count: int) -> list[slice]:
    """Cut so many things into one run of them for each thread."""
    threads = max(1, min(torch.get_num_threads(), count))
    ends = [count * number // threads for number in range(threads + 1)]
    return [slice(start, end) for start, end in pairwise(ends)]
