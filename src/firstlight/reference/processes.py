"""Training in several processes, as torchrun starts them: each sums over its share of the windows."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist
from jaxtyping import Int64

from firstlight.reference.parameters import Parameters
from firstlight.runs.device import device_named


@dataclass(frozen=True)
class Processes:
    """The processes that train together, seen from one of them.

    Attributes:
        rank: which one this is; 0 writes.
        size: how many there are.
        device: where this one computes.
    """

    rank: int
    size: int
    device: torch.device

    def share(self, windows: Int64[np.ndarray, " window"]) -> Int64[np.ndarray, " window"]:
        """Return this process's part of a batch."""
        return np.array_split(windows, self.size)[self.rank]

    def tell(self, going: bool) -> None:
        """From process 0: let the others go on, or end."""
        if self.size > 1:
            dist.broadcast(torch.tensor(int(going), device=self.device), 0)

    def hear(self) -> bool:
        """Wait for what process 0 tells."""
        going = torch.tensor(0, device=self.device)
        dist.broadcast(going, 0)
        return bool(going)

    def add_up(self, loss: float, gradients: Parameters) -> float:
        """Return the sum of the losses of all processes, and turn the gradients into their sums, in place."""
        if self.size == 1:
            return loss
        total = torch.tensor(loss, dtype=torch.float64, device=self.device)
        for tensor in (total, *(gradients[name] for name in sorted(gradients))):
            dist.all_reduce(tensor)
        return float(total)

    def agree(self, step: int, parameters: Parameters) -> int:
        """Return the step of process 0, and give all processes its weights, in place."""
        if self.size == 1:
            return step
        first = torch.tensor(step, device=self.device)
        for tensor in (first, *(parameters[name] for name in sorted(parameters))):
            dist.broadcast(tensor, 0)
        return int(first)


@contextmanager
def joined(device: str) -> Iterator[Processes]:
    """Join the processes that torchrun started, or be the only one.

    Arguments:
        device: `cpu`, `cuda` or `cuda:1`; under torchrun `cuda` is the GPU of the local rank.
    """
    chosen = device_named(device)
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield Processes(0, 1, chosen)
        return
    if chosen.type == "cuda":
        chosen = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(chosen)
    dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield Processes(dist.get_rank(), dist.get_world_size(), chosen)
    finally:
        dist.destroy_process_group()
