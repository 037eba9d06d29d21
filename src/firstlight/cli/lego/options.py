"""The settings of both models as options of a command, each with its default where there is one for all actions."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any

import typer

from firstlight.errors import FirstlightError
from firstlight.tracking.practical.settings import POSITIONS, Settings, option
from firstlight.tracking.theory_model.settings import TheorySettings

MODELS = ("theory", "practical")

_BOTH = {
    "variables": "How many there are, |X|.",
    "seed": "Of initial weights and sentences.",
    "dtype": "float32 or float64.",
    "checkpoint_every": "Steps between checkpoints; of theory, those of stage 2 and later.",
}
_THEORY = {
    "power": "q of the smooth ReLU, even.",
    "radius": "rho, where it becomes straight.",
    "neurons": "m, of each output token.",
    "clip": "C_B: logits are clipped above at C_B ln d.",
    "leak": "Slope of the activation below zero (Assumption B.2).",
    "restricted": "Q in the blocks of Assumption 3.5 alone, or everywhere.",
    "ffn_steps": "Updates of stage 1, of W.",
    "ffn_batch": "Sentences an update of W.",
    "ffn_rate": "Of W.",
    "attention_steps": "Updates of stage 2, of Q.",
    "attention_batch": "Sentences an update of Q.",
    "attention_rate": "Of Q, once it has warmed up.",
    "attention_rate_first": "Of Q at first.",
    "attention_rate_growth": "What it grows by with each update.",
    "level": "A stage of self-training ends when its loss is below this / d.",
    "level_window": "Updates that loss is averaged over.",
    "stage_limit": "The most updates of a stage of self-training.",
    "ffn_checkpoint_every": "Steps between checkpoints of stage 1, which are large; 0 for none.",
}
_PRACTICAL = {
    "length": "L of the training sentences.",
    "batch_size": "Sentences an update.",
    "lr": "Rate of Adam.",
    "betas": "Decay rates of Adam.",
    "adam_eps": "What Adam adds to the root of the second moment.",
    "heads": "Of the attention.",
    "embedding": "Numbers a slot.",
    "embedding_std": "Standard deviation of their initial values.",
    "width": "Of the feed-forward part, in widths of a clause.",
    "residual": "Whether its parts add to what they read.",
    "layer_norm": "Whether there is one before each part.",
    "slot_weights": "Weight of each slot in the loss.",
    "positions": f"{', '.join(POSITIONS[:-1])} or {POSITIONS[-1]}.",
    "position_rows": "Rows of learned positions.",
    "position_std": "Standard deviation of their initial values.",
    "convolution": "Clauses that a causal convolution before the block reads; 0 for none.",
    "accuracy_every": "Steps between roll-outs for the metrics.",
}
_BY_GROUP = ("neurons", "ffn_rate", "ffn_steps")  # those that `settings_for` chooses


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of its `**settings`, an option for each setting of either model."""
    signature = inspect.signature(command)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    # Options whose default shows, such as --json, stay the last.
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _options().items()
    ]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + added
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def theory_settings(base: TheorySettings, steps: int | None, given: dict[str, Any]) -> TheorySettings:
    """Return the settings of a theory model: the base with those that were given.

    Arguments:
        base: what works for the action.
        steps: of each of the two stages, unless one is given by itself.
        given: by name, None where nothing was given.
    """
    chosen = _chosen("theory", given, {**_BOTH, **_THEORY}, _PRACTICAL)
    each = {} if steps is None else {"ffn_steps": steps, "attention_steps": steps}
    return TheorySettings(**{**_values(base), **each, **chosen})


def practical_settings(steps: int | None, given: dict[str, Any]) -> Settings:
    """Return the settings of a practical model: the defaults with those that were given."""
    chosen = _chosen("practical", given, {**_BOTH, **_PRACTICAL}, _THEORY)
    if steps is not None:
        chosen["steps"] = steps
    for name, count in (("betas", 2), ("slot_weights", 5)):
        if name in chosen:
            chosen[name] = _numbers(option(name), chosen[name], count)
    return Settings(**chosen)


def integers(name: str, text: str, example: str) -> list[int]:
    """Read integers separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise FirstlightError(f"{name} {text!r}: expected integers separated by commas, such as {example}") from None


def check_model(model: str) -> None:
    """Refuse a model that there is not."""
    if model not in MODELS:
        raise FirstlightError(f"--model {model!r}: expected {' or '.join(MODELS)}")


def _options() -> dict[str, Any]:
    theory, practical = _values(TheorySettings()), _values(Settings())
    found: dict[str, Any] = {}
    for name, help_text in _BOTH.items():
        shown = theory[name] if theory[name] == practical[name] else f"{theory[name]}, or {practical[name]}"
        found[name] = _annotation(name, help_text, theory[name], str(shown))
    for name, help_text in _THEORY.items():
        shown = "as worked for the action" if name in _BY_GROUP else _shown(theory[name])
        found[name] = _annotation(name, f"theory: {help_text}", theory[name], shown)
    for name, help_text in _PRACTICAL.items():
        found[name] = _annotation(name, f"practical: {help_text}", practical[name], _shown(practical[name]))
    return found


def _annotation(name: str, help_text: str, default: Any, shown: str) -> Any:
    if isinstance(default, bool):
        other = "--free" if name == "restricted" else f"--no-{name.replace('_', '-')}"
        names = f"{option(name)}/{other}"
        shown = names.split("/")[not default]
        return Annotated[bool | None, typer.Option(names, help=f"{help_text} [{shown}]", show_default=False)]
    kind: Any = str if isinstance(default, tuple) else type(default)
    return Annotated[kind | None, typer.Option(option(name), help=f"{help_text} [{shown}]")]


def _shown(default: Any) -> str:
    return ",".join(f"{value:g}" for value in default) if isinstance(default, tuple) else str(default)


def _values(settings: Any) -> dict[str, Any]:
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def _chosen(model: str, given: dict[str, Any], known: dict[str, str], others: dict[str, str]) -> dict[str, Any]:
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in known:
            other = next(each for each in MODELS if each != model)
            raise FirstlightError(f"{option(name)} with --model {model}: expected with --model {other} alone")
    return chosen


def _numbers(name: str, text: str, count: int) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        raise FirstlightError(f"{name} {text!r}: expected {count} numbers separated by commas")
    return numbers
