"""What a step costs and holds in memory, and which of the two ways to compute it is taken."""

from dataclasses import dataclass
from typing import Literal

from firstlight.errors import FirstlightError
from firstlight.files import format_bytes
from firstlight.reference.composed import Composed
from firstlight.reference.parameters import Parameters, Shape
from firstlight.reference.residual import Residual
from firstlight.report.progress import short_number

Form = Literal["paths", "layers"]

PROCESS_BYTES = 2**29  # Python and PyTorch themselves
CHUNK_BYTES = 2**29  # smaller pieces lose more to busy cores, larger ones gain little
# A batched product of one window's size runs at this share of the speed of a V x V one, and moving an element of a
# row costs as much as this many operations: both measured at V = 3,000, T = 200.
WINDOW_SPEED = 0.6
MOVE_FLOPS = 150


@dataclass(frozen=True)
class Load:
    """What a step has to do.

    Attributes:
        shape: the sizes of the model.
        windows: windows a step in this process.
        distinct: mean number of distinct tokens in a window.
        itemsize: bytes of a number.
    """

    shape: Shape
    windows: int
    distinct: float
    itemsize: int


@dataclass(frozen=True)
class Plan:
    """How a step is computed.

    Attributes:
        form: `paths` forms products of the weights once a step, `layers` multiplies each window by the weights.
        chunk: windows at a time.
        bytes: what the process will hold at most, about.
        flops: operations of a step in this process, about.
    """

    form: Form
    chunk: int
    bytes: int
    flops: float

    def describe(self) -> str:
        """Return the plan in words."""
        how = "products along the paths, then look-ups" if self.form == "paths" else "layer by layer"
        return (
            f"{how}; {self.chunk:,} windows at a time, about {format_bytes(self.bytes)} "
            f"and {short_number(self.flops)} operations a step"
        )

    def sums(self, parameters: Parameters, with_gradient: bool = True) -> Composed | Residual:
        """Start sums of loss and gradients at these weights."""
        return (Composed if self.form == "paths" else Residual)(parameters, with_gradient)


def make_plan(load: Load, memory: int, form: Form | None = None) -> Plan:
    """Choose the cheaper way that fits in memory, and as many windows at a time as are of use.

    Arguments:
        load: what a step has to do.
        memory: what the process may hold, in bytes.
        form: the way to take, whatever it costs.
    """
    forms: tuple[Form, ...] = (form,) if form else ("paths", "layers")
    plans = sorted((_plan(load, memory, each) for each in forms), key=lambda plan: plan.flops)
    for plan in plans:
        if plan.bytes <= memory:
            return plan
    least = min(plan.bytes for plan in plans)
    raise FirstlightError(
        f"--memory {format_bytes(memory)}: a model of {load.shape.layers} layers and {load.shape.vocabulary:,} tokens "
        f"at T = {load.shape.window} needs at least {format_bytes(least)}"
    )


def _plan(load: Load, memory: int, form: Form) -> Plan:
    fixed, each = _paths_bytes(load) if form == "paths" else _layers_bytes(load)
    room = min(CHUNK_BYTES, memory - fixed) // each
    chunk = max(1, min(room, load.windows))
    return Plan(form, chunk, fixed + chunk * each, _paths_flops(load) if form == "paths" else _layers_flops(load))


def _paths_bytes(load: Load) -> tuple[int, int]:
    V, T, L = load.shape.vocabulary, load.shape.window, load.shape.layers
    U = min(T, V)  # a window may have as many distinct tokens
    below = [2**layer for layer in range(L)]
    products = 2**L + sum(below) + (2 ** (L - 1) if L > 1 else 0)
    matrices = 2 * L + 1 + 2 * products + L
    # Beside rows of the products and logits: path weights and forms of each layer with their gradients, attention.
    numbers = V * (2**L * U + 2 * T) + 6 * 2**L * T * U + 6 * L * T * T + 4 * U * U * sum(n * n for n in below)
    return PROCESS_BYTES + load.itemsize * V * V * matrices, load.itemsize * numbers


def _layers_bytes(load: Load) -> tuple[int, int]:
    V, T, L = load.shape.vocabulary, load.shape.window, load.shape.layers
    numbers = V * T * (7 * L + 4) + 6 * L * T * T
    return PROCESS_BYTES + load.itemsize * V * V * (2 * (2 * L + 1) + 2), load.itemsize * numbers


def _paths_flops(load: Load) -> float:
    V, T, L, U = load.shape.vocabulary, load.shape.window, load.shape.layers, load.distinct
    below = [2**layer for layer in range(L)]
    products = (2**L - 1) + sum(n - 1 for n in below) + (2 ** (L - 1) - L if L > 1 else 0)
    pairs = sum(n * (n - 1) for n in below)
    rows = 2**L + sum(2 * n - 1 for n in below)
    window = 2 * V * U * (2**L * T + pairs * U) / WINDOW_SPEED + rows * U * V * MOVE_FLOPS
    return float(6 * products * V**3 + 3 * load.windows * window)


def _layers_flops(load: Load) -> float:
    V, T, L = load.shape.vocabulary, load.shape.window, load.shape.layers
    dense = 2 * T * V * V * (2 * (L - 1) + 1)
    attention = 2 * T * T * V * (2 * L - 1) / WINDOW_SPEED
    return float(3 * load.windows * (dense + attention + (2 * L + 1) * T * V * MOVE_FLOPS))
