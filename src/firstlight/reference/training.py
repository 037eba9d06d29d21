"""Gradient descent on the reference model. The function to read first is `train`."""

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from firstlight.corpus import Corpus
from firstlight.errors import Diverged, FirstlightError
from firstlight.files import format_bytes, parse_bytes
from firstlight.memory import peak_bytes as held_at_most
from firstlight.reference.evaluation import is_finite, load_of, positions_of, sum_over
from firstlight.reference.parameters import Parameters
from firstlight.reference.plan import Plan, make_plan
from firstlight.reference.processes import Processes, joined
from firstlight.reference.settings import Settings, make_settings
from firstlight.report.progress import Advance, progress, say
from firstlight.runs.device import set_threads
from firstlight.runs.recorder import Recorder, recording
from firstlight.runs.run import MANIFEST, Run, open_run
from firstlight.runs.schedule import schedule

if TYPE_CHECKING:
    from firstlight.statistics import Statistics

KIND = "reference"


def train(
    corpus: Corpus,
    out: str | Path,
    *,
    layers: int = 3,
    lr: float = 0.005,
    epochs: int | None = None,
    steps: int | None = None,
    batch_size: int | str = 2048,
    init: str = "zero",
    init_scale: float | None = None,
    init_exponent: float | None = None,
    dtype: str = "float32",
    seed: int = 0,
    checkpoint_every: int = 1000,
    limit_windows: int | None = None,
    device: str = "cpu",
    memory: str | int = "8GiB",
    threads: int | None = None,
    statistics: "Statistics | None" = None,
    show: bool = False,
) -> Run:
    """Train the reference model on a corpus into a run folder, and open it.

    A training that was killed goes on when it is called again, and a finished one is only opened.

    Arguments:
        corpus: what to train on.
        out: the folder.
        layers: L.
        lr: eta.
        epochs: how often each window is seen; 100 when neither this nor `steps` is given.
        steps: updates, instead of epochs.
        batch_size: windows an update, or `full` for gradient descent on all of them.
        init: `zero`, or `gaussian` with variance v^2 / V^(2 + 2 xi).
        init_scale: v; the largest that Theorem D.12 allows, eta^2 / T^2, when None.
        init_exponent: xi; 0 when None.
        dtype: `float32` or `float64`.
        seed: of the Gaussian and of the order of windows.
        checkpoint_every: checkpoints are kept at 0, 1, 2, 4, ..., 512, at every multiple of this, and at the last step.
        limit_windows: train on the first windows alone.
        device: `cpu`, `cuda` or `cuda:N`.
        memory: what a process may hold, as bytes or as text such as `8GiB`.
        threads: of PyTorch, in each process; as PyTorch is set when None.
        statistics: of the corpus; their checksum goes into the manifest of a new run.
        show: whether to print the plan and progress on stderr.

    Raises:
        Diverged: if the loss or a gradient stops being a number.
    """
    settings = make_settings(
        *(corpus, layers, lr, epochs, steps, batch_size, init, init_scale, init_exponent),
        *(dtype, seed, checkpoint_every, limit_windows),
    )
    limit = parse_bytes(memory, "--memory") if isinstance(memory, str) else memory
    set_threads(threads)
    provenance = _provenance(corpus, statistics)
    with joined(device) as processes:
        job = _Job(corpus, settings, provenance, processes, limit, show and processes.rank == 0)
        if processes.rank == 0:
            job.lead(Path(out))
        elif processes.hear():
            job.descend(job.plan(None), None)
            processes.hear()
    return open_run(out)


@dataclass(frozen=True)
class _Job:
    """One training, seen from one process."""

    corpus: Corpus
    settings: Settings
    provenance: dict[str, Any]
    processes: Processes
    memory: int
    show: bool

    def lead(self, out: Path) -> None:
        """Train in the process that writes, and tell the others whether there is anything to do."""
        session = {
            "device": str(self.processes.device),
            "dtype": self.settings.dtype,
            "world_size": self.processes.size,
            "threads": torch.get_num_threads(),
        }
        told = False
        try:
            settings = self.settings.as_json()
            if not (out / MANIFEST).exists():
                # What does not fit in memory leaves no folder behind.
                self.plan(None)
            with recording(out, KIND, settings, provenance=self.provenance, session=session) as recorder:
                status = recorder.manifest["status"]
                if status == "diverged":
                    raise Diverged(f"{out}: {recorder.manifest['message']}")
                if status == "finished":
                    if self.show:
                        say(f"{out}: already trained, nothing to do")
                    return
                plan = self.plan(recorder)
                self.processes.tell(True)
                told = True
                self.descend(plan, recorder)
                self.processes.tell(True)
        finally:
            if not told:
                self.processes.tell(False)

    def plan(self, recorder: Recorder | None) -> Plan:
        """Return how steps are computed: in a resumed run as before, for the order of sums decides the last bits."""
        if recorder and "plan" in recorder.manifest:
            plan = Plan(**recorder.manifest["plan"])
            if plan.bytes > self.memory:
                raise FirstlightError(
                    f"{recorder.path}: --memory {format_bytes(self.memory)}: this run was planned with "
                    f"{format_bytes(plan.bytes)}, expected at least that to go on"
                )
            return plan
        share = -(-len(self.settings.order.batch(0)) // self.processes.size)
        plan = make_plan(load_of(self.corpus, self.settings.shape, share, self.settings.itemsize), self.memory)
        if recorder:
            recorder.update(plan=asdict(plan))
        return plan

    def descend(self, plan: Plan, recorder: Recorder | None) -> None:
        """Do all updates that are left; the recorder is that of the process that writes."""
        settings, processes = self.settings, self.processes
        parameters = {name: tensor.to(processes.device) for name, tensor in settings.initial().items()}
        step = _resume(recorder, parameters) if recorder else 0
        if self.show:
            self._announce(plan, step)
        step = processes.agree(step, parameters)
        kept = schedule(settings.steps, settings.checkpoint_every)
        with progress("training", self._windows_left(step), "windows", self.show) as advance:
            while True:
                start = time.perf_counter()
                loss, gradients = self._evaluate(plan, parameters, step, advance)
                if recorder:
                    recorder.record(self._row(step, loss, time.perf_counter() - start))
                broken = _broken(loss, gradients)
                if broken:
                    raise self._diverged(recorder, step, broken, parameters)
                if recorder and step in kept:
                    recorder.checkpoint(step, parameters)
                if step == settings.steps:
                    break
                for name, gradient in gradients.items():
                    parameters[name].sub_(gradient, alpha=settings.lr)
                # They are parts of sums many times their size, which the next step makes anew.
                gradients.clear()
                step += 1
                if recorder and recorder.state_is_due():
                    recorder.save_state(step, parameters, {})
        if recorder:
            recorder.finish("finished", step=step, s_eta=step * settings.lr, loss=loss)

    def _evaluate(self, plan: Plan, parameters: Parameters, step: int, advance: Advance) -> tuple[float, Parameters]:
        """Return mean loss and gradient over the batch of a step; after the last update there is no gradient."""
        batch = self.settings.order.batch(step)
        positions = positions_of(self.corpus, batch)
        share, more = self.processes.share(batch), step < self.settings.steps
        loss, gradients = sum_over(plan, parameters, self.corpus, share, with_gradient=more, advance=advance)
        loss = self.processes.add_up(loss, gradients)
        return loss / positions, {name: gradient.div_(positions) for name, gradient in gradients.items()}

    def _row(self, step: int, loss: float, seconds: float) -> dict[str, int | float]:
        order = self.settings.order
        return {
            "step": step,
            "epoch": step / order.steps_per_epoch,
            "lr": self.settings.lr,
            "s_eta": step * self.settings.lr,
            "loss": loss,
            "seconds": seconds,
            "tokens_per_second": positions_of(self.corpus, order.batch(step)) / seconds,
            "peak_bytes": peak_bytes(self.processes.device),
        }

    def _diverged(self, recorder: Recorder | None, step: int, broken: str, parameters: Parameters) -> Diverged:
        """Keep what is known and return the error that says where it ended."""
        lr = self.settings.lr
        message = f"{broken} after step {step} (s*eta = {step * lr:g}); expected a smaller --lr than {lr:g}"
        if recorder is None:
            return Diverged(message)
        if all(map(is_finite, parameters.values())):
            recorder.checkpoint(step, parameters)
        recorder.finish("diverged", step=step, s_eta=step * lr, message=message)
        return Diverged(f"{recorder.path}: {message}")

    def _windows_left(self, step: int) -> float:
        order, left = self.settings.order, self.settings.steps - step + 1
        return left / order.steps_per_epoch * order.windows / self.processes.size

    def _announce(self, plan: Plan, step: int) -> None:
        settings, shape, size = self.settings, self.settings.shape, self.processes.size
        weights = (2 * shape.layers + 1) * shape.vocabulary**2 * settings.itemsize
        count = len(schedule(settings.steps, settings.checkpoint_every))
        say(
            f"plan: {settings.steps:,} steps of {len(settings.order.batch(0)):,} windows, V = {shape.vocabulary:,}, "
            f"T = {shape.window:,}, {shape.layers} layers, {settings.dtype} on {self.processes.device}"
            + (f", {size} processes" if size > 1 else "")
        )
        say(f"plan: {plan.describe()}; {count} checkpoints of {format_bytes(weights)}")
        if step:
            say(f"resuming after step {step:,}")


def peak_bytes(device: torch.device) -> int:
    """Return the most memory held so far: of the GPU, or of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return held_at_most()


def _provenance(corpus: Corpus, statistics: "Statistics | None") -> dict[str, Any]:
    """Return where the data came from, with checksums."""
    provenance: dict[str, Any] = {"corpus": {"path": str(corpus.path.resolve()), "fingerprint": corpus.fingerprint}}
    if statistics is not None:
        if corpus.fingerprint not in [member["fingerprint"] for member in statistics.facts["corpora"]]:
            raise FirstlightError(f"{statistics.path}: statistics of another corpus, expected those of {corpus.path}")
        provenance["statistics"] = {"path": statistics.path, "key": statistics.facts["key"]}
    return provenance


def _resume(recorder: Recorder, parameters: Parameters) -> int:
    state = recorder.resume()
    if state is None:
        return 0
    step, tensors, _ = state
    for name, parameter in parameters.items():
        parameter.copy_(tensors[name])
    return step


def _broken(loss: float, gradients: Parameters) -> str | None:
    if not math.isfinite(loss):
        return f"the loss is {loss}"
    return next((f"the gradient of {name} is not finite" for name in gradients if not is_finite(gradients[name])), None)
