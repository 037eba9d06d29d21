"""Where a training computes."""

import torch

from firstlight.errors import FirstlightError


def device_named(name: str) -> torch.device:
    """Return the device a name stands for: `cpu`, `cuda` or `cuda:N`, if this machine has it."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise FirstlightError(f"--device {name!r}: expected cpu, cuda or cuda:N") from None
    if device.type not in ("cpu", "cuda"):
        raise FirstlightError(f"--device {name!r}: expected cpu, cuda or cuda:N")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise FirstlightError(f"--device {name}: this PyTorch sees no GPU; expected cpu")
    return device


def set_threads(threads: int | None) -> None:
    """Tell PyTorch how many threads to use; None leaves it as it is."""
    if threads is None:
        return
    if threads < 1:
        raise FirstlightError(f"--threads {threads}: expected at least 1")
    torch.set_num_threads(threads)
