"""From text to windows of tokens on disk, with a ledger of what was left out and why."""

from firstlight.corpus.build import build_corpus
from firstlight.corpus.corpus import Corpus, open_corpus

__all__ = ["Corpus", "build_corpus", "open_corpus"]
