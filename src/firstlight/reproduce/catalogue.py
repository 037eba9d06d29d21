"""The names of all reproductions."""

from collections.abc import Callable, Iterable
from importlib import import_module

from firstlight.errors import FirstlightError
from firstlight.reproduce.outcome import Outcome, Place

# Each is a module with a docstring that says what it shows, and a function `reproduce`.
NAMES = (
    "associations/table1",
    "associations/table2",
    "associations/table3",
    "associations/figure3",
    "associations/figure4",
    "associations/figure5",
    "associations/controlled",
    "tracking/figure1a",
    "tracking/figure1b",
    "tracking/figure2",
    "tracking/figure5",
    "tracking/figure6",
    "tracking/figure7",
    "tracking/theorem41",
    "tracking/theorem51",
    "tracking/ladder",
    "tracking/failure",
    "tracking/positions",
)


def function_of(name: str) -> Callable[[Place], Outcome]:
    """Return the function that makes a table or figure again."""
    function: Callable[[Place], Outcome] = import_module(_module(name)).reproduce
    return function


def described() -> Iterable[tuple[str, str]]:
    """Yield each name with what it shows."""
    for name in NAMES:
        yield name, (import_module(_module(name)).__doc__ or "").splitlines()[0]


def chosen(name: str) -> list[str]:
    """Return the names that a name stands for: itself, all of a paper, or all."""
    found = [each for each in NAMES if name in ("all", each, each.split("/")[0])]
    if not found:
        raise FirstlightError(f"reproduce {name!r}: expected one of {', '.join(NAMES)}, associations, tracking or all")
    return found


def _module(name: str) -> str:
    return f"firstlight.reproduce.{name.replace('/', '.')}"
