"""The loop of a training that one process does: metrics, checkpoints, and the same trajectory after any kill."""

import math
import time
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from torch import Tensor

from firstlight.errors import Diverged
from firstlight.report.progress import progress, say
from firstlight.runs.recorder import Recorder


class Trainee(Protocol):
    """A training as a sequence of updates.

    What update s does is a function of the state before it, the settings and s alone: random numbers are drawn anew
    from seed and s, so they are no part of the state.
    """

    def update(self, step: int) -> Mapping[str, float]:
        """Do the update that follows `step` updates and return measures of the weights before it; one is `loss`."""
        ...

    def finished(self, step: int) -> bool:
        """Return whether nothing is left to do after so many updates."""
        ...

    def weights(self) -> Mapping[str, Tensor]:
        """Return what checkpoints keep."""
        ...

    def state(self) -> tuple[Mapping[str, Tensor], Mapping[str, Any]]:
        """Return all that is needed to go on, weights among it: tensors, and values that JSON can hold."""
        ...

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Take what `state` returned."""
        ...


def descend(
    recorder: Recorder,
    trainee: Trainee,
    *,
    kept: Collection[int],
    expected: int,
    record_every: int = 1,
    show: bool = False,
) -> int:
    """Do all updates that are left, and return how many were done in all.

    Arguments:
        recorder: of the run.
        trainee: in its initial state.
        kept: the steps whose weights are kept; those after the last update are kept as well.
        expected: how many updates there will be, for the bar.
        record_every: steps between rows of metrics.
        show: whether to show progress on stderr.
    """
    saved = recorder.resume()
    step = 0
    if saved is not None:
        step, tensors, values = saved
        trainee.restore(tensors, values)
        if show:
            say(f"resuming after step {step:,}")
    with progress("training", max(expected - step, 0), "steps", show) as advance:
        while not trainee.finished(step):
            if step in kept:
                recorder.checkpoint(step, trainee.weights())
            start = time.perf_counter()
            measures = trainee.update(step)
            if not math.isfinite(measures["loss"]):
                message = f"the loss is {measures['loss']} after step {step}; expected a smaller rate"
                recorder.finish("diverged", step=step, message=message)
                raise Diverged(f"{recorder.path}: {message}")
            if step % record_every == 0:
                recorder.record({"step": step, **measures, "seconds": time.perf_counter() - start})
            step += 1
            advance(1)
            if recorder.state_is_due():
                recorder.save_state(step, *trainee.state())
    recorder.checkpoint(step, trainee.weights())
    return step
