"""Corpora made to order: stories whose true statistics are known, and copies, which break the theory.

In a copy corpus a window is a random string and then the same string again. Its tokens are independent and uniform, and
so are any two neighbours: the true bigram matrix is zero, and with it every leading term. Of a sample the theory
reads the noise. Yet half of all tokens can be told exactly, by looking back one length of the string; the model
learns that, and no statistic of the theory says so.
"""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
from jaxtyping import Float64, Int32

from firstlight.corpus import Corpus, build_corpus, story_truth
from firstlight.corpus.story_grammar import Choice, Grammar, draw_story, embedded, token_of
from firstlight.theory.terms import Kind

Sampler = Callable[[int, int], Int32[np.ndarray, "window place"]]


def some_topics(count: int | None) -> Grammar:
    """Return the embedded grammar, or its first topics alone, in equal shares."""
    grammar = embedded()
    if count is None:
        return grammar
    return Grammar(Choice(grammar.topics.items[:count], (1 / count,) * count))


def story_windows(grammar: Grammar, window: int) -> Sampler:
    """Return what tells so many stories of a seed, as token ids in the order of `story_truth.vocabulary`."""
    index = {token: number for number, token in enumerate(story_truth.vocabulary(grammar))}

    def sample(count: int, seed: int) -> Int32[np.ndarray, "window place"]:
        told = (draw_story(grammar, Random((seed << 64) | number)) for number in range(count))
        return np.array([[index[token_of(word)] for _, word in story][: window + 1] for story in told], np.int32)

    return sample


def copy_windows(symbols: int, half: int) -> Sampler:
    """Return what draws windows of a random string of a length, twice, and its first symbol once more."""

    def sample(count: int, seed: int) -> Int32[np.ndarray, "window place"]:
        string = np.random.default_rng(seed).integers(0, symbols, (count, half), np.int32)
        return np.concatenate([string, string, string[:, :1]], axis=1)

    return sample


def corpus_of(tokens: Int32[np.ndarray, "window place"], vocabulary: list[str], out: Path) -> Corpus:
    """Build a corpus from token ids, beside the files it is made from."""
    out.parent.mkdir(parents=True, exist_ok=True)
    source, words = out.with_name(f"{out.name}.npy"), out.with_name(f"{out.name}.json")
    np.save(source, tokens)
    words.write_text(json.dumps(vocabulary), encoding="utf-8")
    return build_corpus([f"tokens:{source}"], out, vocab=words)


def true_directions(grammar: Grammar, window: int) -> dict[Kind, Float64[np.ndarray, "row column"]]:
    """Return the directions of endlessly many stories, as far as they are known: those of output and value.

    Attention and position need how often three places go together, which the grammar's exact counts do not have.
    """
    pairs = story_truth.transitions(window, grammar)
    sums = story_truth.context(window, grammar)
    context = (sums - sums.sum(axis=0) / len(pairs.vocabulary)) / pairs.expected_positions
    return {"output": pairs.bigram, "value": (pairs.bigram @ context).T}
