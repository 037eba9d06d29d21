"""`firstlight predict`: the weights the theory expects after some steps, as a checkpoint file."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.output import Json, print_json
from firstlight.report.tables import format_table

if TYPE_CHECKING:
    from firstlight.statistics import Statistics
    from firstlight.theory import LeadingTerms


def predict(
    stats: Annotated[str, typer.Argument(metavar="STATS", help="Folder or URL of a statistics store.")],
    steps: Annotated[int, typer.Option(help="Steps of full-batch gradient descent from zero.")],
    lr: Annotated[float, typer.Option(help="The rate.")],
    layers: Annotated[int, typer.Option(help="Layers; all have the same prediction.")],
    to: Annotated[Path, typer.Option(help="The .safetensors to write, with the names of checkpoints.")],
    dtype: Annotated[str, typer.Option(help="float32 or float64.")] = "float32",
    order: Annotated[
        str, typer.Option(help="Of W_O: leading, second (the next order too) or flow (descent on bigrams alone).")
    ] = "leading",
    evaluate: Annotated[
        Path | None, typer.Option(metavar="CORPUS", help="Measure the loss of the predicted model on this corpus.")
    ] = None,
    windows: Annotated[int | None, typer.Option(help="Windows to measure on, at equal distances. [all]")] = None,
    as_json: Json = False,
) -> None:
    """Predict every weight from statistics alone, and say which theorem covers that and which conditions fail."""
    from firstlight.statistics import open_statistics
    from firstlight.theory import bounds, leading_terms
    from firstlight.theory.terms import kind_of
    from firstlight.theory.terms_file import write_terms
    from firstlight.theory.trained import has_full_windows

    source = open_statistics(stats)
    terms = leading_terms(source, steps=steps, lr=lr, layers=layers, order=order, dtype=dtype)  # type: ignore[arg-type]
    setting = bounds.Setting(len(source.vocabulary), source.window, layers, lr, full_windows=has_full_windows(source))
    theorem = bounds.theorem_for(setting)
    measure = _measure(source, evaluate, windows) if evaluate else None
    asked = {"statistics": stats, "steps": steps, "lr": lr, "layers": layers, "order": order, "dtype": dtype}
    norms = write_terms(terms, to, {name: str(value) for name, value in asked.items()})
    losses = measure(terms) if measure else None
    tensors: list[dict[str, Any]] = [
        {
            "name": name,
            "shape": list(terms.shape(name)),
            "norm": norms[name],
            "bound": theorem.bound(kind_of(name), steps),
        }
        for name in terms
    ]
    if as_json:
        document: dict[str, Any] = {"path": str(to), "settings": {**asked, "s_eta": steps * lr}, "tensors": tensors}
        document |= {"theorem": {**bounds.as_document(theorem), "in_proved_range": theorem.in_proved_range(steps)}}
        print_json(document | ({"losses": losses} if losses else {}))
        return
    rows = [[each["name"], " x ".join(map(str, each["shape"])), each["norm"], each["bound"]] for each in tensors]
    print(format_table(["weight", "shape", "norm", f"bound ({theorem.name})"], rows, "lrrr"))
    print()
    within = "within" if theorem.in_proved_range(steps) else "outside"
    print(f"s*lr = {steps * lr:.4g}, {within} the proved range")
    print("\n".join(bounds.statement(theorem)))
    if order != "leading":
        print(f"W_O is of order {order}; the theory has only the leading terms of the other weights")
    if losses:
        print()
        print(format_table(["model", "loss"], [[name, value] for name, value in losses.items()], "lr"))
    print(f"\n{to}: {len(tensors)} tensors of {dtype}")


def _measure(stats: "Statistics", path: Path, windows: int | None) -> Callable[["LeadingTerms"], dict[str, float]]:
    """Return what measures predicted weights on a corpus; mistakes are told before anything is predicted."""
    from firstlight.corpus import open_corpus
    from firstlight.report.progress import progress
    from firstlight.theory.closed_form import baselines, check_readable, closed_form_loss
    from firstlight.theory.passes import spread_windows

    corpus = open_corpus(path)
    check_readable(stats, corpus)
    chosen = spread_windows(corpus, windows)

    def losses(terms: "LeadingTerms") -> dict[str, float]:
        counted = baselines(stats)
        with progress("closed form", len(chosen), "windows") as advance:
            loss = closed_form_loss(terms, corpus, chosen, advance)
        return {
            "uniform": counted.uniform,
            "unigram (statistics)": counted.unigram,
            "bigram (statistics)": counted.bigram,
            f"closed form, {len(chosen):,} windows": loss,
        }

    return losses
