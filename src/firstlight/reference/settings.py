"""What a training is asked for."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from firstlight.corpus import Corpus
from firstlight.errors import FirstlightError
from firstlight.reference.batches import Order
from firstlight.reference.parameters import DTYPES, Parameters, Shape, gaussian_parameters, zero_parameters


@dataclass(frozen=True)
class Settings:
    """Everything that decides the trajectory of a training.

    Attributes:
        corpus: fingerprint of the windows.
        windows: how many of the first of them are used.
        vocabulary: V.
        window: T.
        layers: L.
        lr: eta.
        steps: updates.
        batch_size: windows an update, or `full`.
        init: `zero` or `gaussian`.
        init_scale: v of the Gaussian, or None with zero.
        init_exponent: xi of the Gaussian, or None with zero.
        dtype: of weights and all that is computed from them.
        seed: of the Gaussian and of the order of windows.
        checkpoint_every: distance of the later checkpoints.
    """

    corpus: str
    windows: int
    vocabulary: int
    window: int
    layers: int
    lr: float
    steps: int
    batch_size: int | Literal["full"]
    init: str
    init_scale: float | None
    init_exponent: float | None
    dtype: str
    seed: int
    checkpoint_every: int

    @property
    def shape(self) -> Shape:
        """The sizes of the model."""
        return Shape(self.vocabulary, self.window, self.layers)

    @property
    def order(self) -> Order:
        """Which windows each step sees."""
        return Order(self.windows, None if self.batch_size == "full" else self.batch_size, self.seed)

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return DTYPES[self.dtype].itemsize

    def initial(self) -> Parameters:
        """Return the weights before the first update."""
        dtype = DTYPES[self.dtype]
        if self.init_scale is None or self.init_exponent is None:
            return zero_parameters(self.shape, dtype)
        return gaussian_parameters(self.shape, self.init_scale, self.init_exponent, self.seed, dtype)

    def as_json(self) -> dict[str, Any]:
        """Return the settings as the manifest holds them."""
        return asdict(self)


def make_settings(
    corpus: Corpus,
    layers: int,
    lr: float,
    epochs: int | None,
    steps: int | None,
    batch_size: int | str,
    init: str,
    init_scale: float | None,
    init_exponent: float | None,
    dtype: str,
    seed: int,
    checkpoint_every: int,
    limit_windows: int | None,
) -> Settings:
    """Check what was asked for, and fill in what was left open."""
    windows = int(corpus.manifest["windows"])
    if limit_windows is not None:
        _at_least_one("--limit-windows", limit_windows)
        windows = min(windows, limit_windows)
    if windows == 0:
        raise FirstlightError(f"{corpus.path}: a corpus without windows; nothing to train on")
    _at_least_one("--layers", layers)
    _at_least_one("--checkpoint-every", checkpoint_every)
    if not 0 < lr < math.inf:
        raise FirstlightError(f"--lr {lr}: expected a positive number")
    if dtype not in DTYPES:
        raise FirstlightError(f"--dtype {dtype!r}: expected one of {', '.join(DTYPES)}")
    if seed < 0:
        raise FirstlightError(f"--seed {seed}: expected 0 or more")
    size = _batch_size(batch_size)
    scale, exponent = _gaussian(init, init_scale, init_exponent, lr, corpus.window)
    order = Order(windows, None if size == "full" else size, seed)
    return Settings(
        corpus=corpus.fingerprint,
        windows=windows,
        vocabulary=len(corpus.vocabulary),
        window=corpus.window,
        layers=layers,
        lr=lr,
        steps=_steps(epochs, steps, order),
        batch_size=size,
        init=init,
        init_scale=scale,
        init_exponent=exponent,
        dtype=dtype,
        seed=seed,
        checkpoint_every=checkpoint_every,
    )


def _steps(epochs: int | None, steps: int | None, order: Order) -> int:
    if epochs is not None and steps is not None:
        raise FirstlightError("--epochs and --steps: expected one of the two")
    if steps is not None:
        if steps < 0:
            raise FirstlightError(f"--steps {steps}: expected 0 or more")
        return steps
    chosen = 100 if epochs is None else epochs
    if chosen < 0:
        raise FirstlightError(f"--epochs {chosen}: expected 0 or more")
    return chosen * order.steps_per_epoch


def _batch_size(batch_size: int | str) -> int | Literal["full"]:
    if batch_size == "full":
        return "full"
    try:
        size = int(batch_size)
    except ValueError:
        raise FirstlightError(f"--batch-size {batch_size!r}: expected a number of windows or full") from None
    _at_least_one("--batch-size", size)
    return size


def _gaussian(
    init: str, scale: float | None, exponent: float | None, lr: float, window: int
) -> tuple[float | None, float | None]:
    if init not in ("zero", "gaussian"):
        raise FirstlightError(f"--init {init!r}: expected zero or gaussian")
    if init == "zero":
        if scale is not None or exponent is not None:
            raise FirstlightError("--init-scale and --init-exponent: expected only with --init gaussian")
        return None, None
    # The largest scale Theorem D.12 allows.
    scale = lr**2 / window**2 if scale is None else scale
    exponent = 0.0 if exponent is None else exponent
    if not 0 < scale < math.inf:
        raise FirstlightError(f"--init-scale {scale}: expected a positive number")
    if not 0 <= exponent < math.inf:
        raise FirstlightError(f"--init-exponent {exponent}: expected 0 or more")
    return scale, exponent


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise FirstlightError(f"{name} {value}: expected at least 1")
