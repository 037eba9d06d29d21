"""The one progress bar: on stderr, with throughput, cheap enough never to slow the work it shows."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[float], None]


def say(message: str) -> None:
    """Print a line for people on stderr; stdout is for results."""
    print(message, file=sys.stderr, flush=True)


@contextmanager
def progress(label: str, total: float | None, unit: str, show: bool = True) -> Iterator[Advance]:
    """Show a bar while the block runs and yield the function that moves it.

    Arguments:
        label: what is being done.
        total: how much there is to do in units, or None when nobody knows.
        unit: what is counted, such as `pairs` or `documents`; the bar shows units a second.
        show: False hides the bar, as the Python functions do unless asked.
    """
    if not show or not sys.stderr.isatty():
        yield lambda amount: None
        return
    # Imported here: rich takes a tenth of a second that a plain `import firstlight` should not pay.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Speed(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{short_number(task.completed)} {unit}, {short_number(task.speed or 0)}/s")

    columns = (TextColumn("{task.description}"), BarColumn(), Speed(""), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=4, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda amount: bar.advance(task, amount)


def short_number(value: float) -> str:
    """Write a count for people: 1.31 G, 20.5 k, 7."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"
