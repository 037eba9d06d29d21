"""One training step in a process of its own, so that the memory it held is its own. Run by `bench training`."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch

from firstlight.bench import onehot_model
from firstlight.memory import peak_bytes
from firstlight.reference.model import batch_of
from firstlight.reference.parameters import Parameters, Shape, gaussian_parameters, shape_of
from firstlight.reference.plan import Load, make_plan
from firstlight.runs.tensors import write_tensors

LR = 0.005
# Large enough that every path through the three layers counts for the logits, small enough that none drowns the rest.
DEVIATION = 0.03


def main(which: str, windows_file: Path, shape: Shape, memory: int, threads: int, out: Path) -> None:
    """Do a small step, then a timed one, and write its loss, seconds, peak memory and gradients."""
    torch.set_num_threads(threads)
    windows = np.load(windows_file)
    warm = Shape(64, shape.window, shape.layers)
    _step(which, _parameters(warm), windows[:4] % warm.vocabulary, memory)  # loads the libraries
    parameters = _parameters(shape)
    start = time.perf_counter()
    gradients, facts = _step(which, parameters, windows, memory)
    facts |= {"seconds": time.perf_counter() - start, "peak_bytes": peak_bytes()}
    write_tensors(out.with_suffix(".safetensors"), gradients, {})
    out.write_text(json.dumps(facts))


def _parameters(shape: Shape) -> Parameters:
    return gaussian_parameters(shape, DEVIATION * shape.vocabulary, 0.0, 0, torch.float32)


def _step(which: str, parameters: Parameters, windows: np.ndarray, memory: int) -> tuple[Parameters, dict[str, object]]:
    if which == "onehot":
        loss = onehot_model.step(parameters, torch.from_numpy(windows.astype(np.int64)), LR)
        return {name: weight.grad for name, weight in parameters.items() if weight.grad is not None}, {"loss": loss}
    distinct = float(np.mean([len(np.unique(row)) for row in windows[:, :-1]]))
    plan = make_plan(Load(shape_of(parameters), len(windows), distinct, 4), memory)
    sums, loss = plan.sums(parameters), 0.0
    lengths = np.full(len(windows), windows.shape[1])
    for start in range(0, len(windows), plan.chunk):
        part = slice(start, start + plan.chunk)
        loss += sums.add(batch_of(windows[part], lengths[part]))
    gradients, positions = sums.finish(), windows[:, 1:].size
    for name, gradient in gradients.items():
        parameters[name].sub_(gradient.div_(positions), alpha=LR)
    return gradients, {"loss": loss / positions, "plan": plan.describe()}


if __name__ == "__main__":
    name, file, size, memory, threads, out = sys.argv[1:]
    vocabulary, window, layers = map(int, size.split(","))
    main(name, Path(file), Shape(vocabulary, window, layers), int(memory), int(threads), Path(out))
