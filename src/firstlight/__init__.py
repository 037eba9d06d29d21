"""firstlight: from data alone, what a transformer learns first and how far it carries.

    import firstlight as fl
    corpus = fl.build_corpus(["stories:20000"], out="corpora/stories")
    stats = fl.count(corpus, out="stats/stories")
    stats.top("fish", basis="context")

Names are loaded when first used, so importing the package is quick and pulls in nothing heavy.
"""

import importlib
from typing import TYPE_CHECKING, Any

from firstlight.errors import FirstlightError
from firstlight.version import __version__

if TYPE_CHECKING:
    from firstlight.corpus import Corpus, build_corpus, open_corpus
    from firstlight.reference.training import train
    from firstlight.runs import Run, open_run
    from firstlight.statistics import Statistics, count, merge, open_statistics
    from firstlight.theory import leading_terms, verify

_HOMES = {
    "Corpus": "firstlight.corpus",
    "build_corpus": "firstlight.corpus",
    "open_corpus": "firstlight.corpus",
    "Run": "firstlight.runs",
    "open_run": "firstlight.runs",
    "train": "firstlight.reference.training",
    "Statistics": "firstlight.statistics",
    "count": "firstlight.statistics",
    "merge": "firstlight.statistics",
    "open_statistics": "firstlight.statistics",
    "leading_terms": "firstlight.theory",
    "verify": "firstlight.theory",
}

__all__ = [
    "Corpus",
    "FirstlightError",
    "Run",
    "Statistics",
    "__version__",
    "build_corpus",
    "count",
    "leading_terms",
    "merge",
    "open_corpus",
    "open_run",
    "open_statistics",
    "train",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'firstlight' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
