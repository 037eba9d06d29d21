"""`firstlight bench statistics`: counting against what one would write without it."""

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from firstlight.bench import pair_baselines as plain
from firstlight.bench.material import corpus_of, subword_windows, word_windows, zipf_windows
from firstlight.bench.rows import Row, best_of, row
from firstlight.corpus import Corpus
from firstlight.report.progress import say
from firstlight.statistics.engine import Clock, count
from firstlight.statistics.warm_up import measure_scatter

PAIR_STAGES = ("context", "prefix means", "attention")
SMALL = (3000, 200)
LARGE = (50_304, 512)


def bench_statistics(
    workers: int,
    text: str | None = None,
    windows: int = 40_000,
    subword_text: str | None = None,
    tokenizer: str | None = None,
    large_windows: int = 2_000,
) -> list[Row]:
    """Run all comparisons, V = 3,000 first.

    Arguments:
        workers: threads, for ours and for the plain loops.
        text: a source for the words; the embedded stories when None.
        windows: how many windows at V = 3,000.
        subword_text: a source for the subwords, with its tokenizer; Zipf draws when None.
        tokenizer: a tokenizer.json.
        large_windows: how many windows at V = 50,304; 0 leaves that part out.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        vocabulary, steps = SMALL
        small = word_windows(text or "stories:10000", vocabulary, steps, windows, folder)
        rows = _small(small, workers, folder)
        if large_windows:
            vocabulary, steps = LARGE
            if subword_text and tokenizer:
                large = subword_windows(subword_text, tokenizer, steps, large_windows, folder)
            else:
                large = zipf_windows(vocabulary, steps, large_windows)
            rows += _large(large, workers, folder)
    return rows


def _small(windows: np.ndarray, workers: int, folder: Path) -> list[Row]:
    vocabulary, steps = SMALL
    name, total = "statistics", len(windows)
    shape = f"V = {vocabulary:,}, T = {steps}, {total:,} windows"
    corpus = corpus_of(windows, vocabulary, folder, "small")
    clock = timed_count(corpus, workers, folder)
    context, pairs = clock["context"], sum(clock[stage] for stage in PAIR_STAGES)
    attention = pairs - context
    composed = np.random.default_rng(0).standard_normal((vocabulary, vocabulary), dtype=np.float32)

    say("baseline: one-hot einsum")
    few = windows[:16]
    scale = total / len(few)
    einsum = best_of(1, lambda: plain.einsum_context(few, vocabulary)) * scale
    einsum_q = best_of(1, lambda: plain.einsum_attention(few, vocabulary, composed)) * scale
    say("baseline: index_add")
    index_add = best_of(1, lambda: plain.index_add_context(windows[:200], vocabulary)) * total / 200
    say("baseline: scipy.sparse")
    sparse = best_of(1, lambda: plain.sparse_context(windows[:256], vocabulary)) * total / 256
    say("baseline: plain loops")
    loops_context, loops_attention = plain_loops(windows, vocabulary, workers, composed)

    threads = f"{workers} thread{'s' if workers > 1 else ''}"
    billion = total * steps * (steps + 1) / 2 / 1e9 / workers
    scatter = measure_scatter()
    rows = [
        row(name, f"context + attention, {shape}", "one-hot einsum, PyTorch (16 windows, scaled)", pairs,
            einsum + einsum_q, 500),
        row(name, f"context, {shape}", "torch index_add (200 windows, scaled)", context, index_add, 8),
        row(name, f"context, {shape}", "scipy.sparse products (256 windows, scaled)", context, sparse, 60),
        row(name, f"context, {shape}", f"plain float32 loops, {threads}", context, loops_context, None),
        row(name, f"attention + position, {shape}", f"plain float32 loops, {threads}", attention,
            loops_attention, None),
        row(name, f"context + attention + position, {shape}", f"plain float32 loops, {threads}", pairs,
            loops_context + loops_attention, 1.5),
        row(name, f"context, {1 / (context / billion):.2f} G pairs/s per core",
            f"plain scatter-adds into a cached row, {1e-9 / scatter:.2f} G/s", context,
            billion * 1e9 * scatter, 1 / 1.3),
    ]  # fmt: skip
    if workers > 1:
        one = timed_count(corpus, 1, folder)
        rows.append(
            row(
                name,
                f"the three passes, {workers} workers",
                "1 worker",
                pairs,
                sum(one[s] for s in PAIR_STAGES),
                0.9 * workers,
            )
        )
    half = timed_count(corpus_of(windows[::2], vocabulary, folder, "half"), workers, folder)
    rows.append(
        row(name, f"the three passes, {total:,} windows", "half of the windows, times 2", pairs,
            2 * sum(half[s] for s in PAIR_STAGES), None)
    )  # fmt: skip
    short = timed_count(corpus_of(windows[:, : steps // 2 + 1], vocabulary, folder, "short"), workers, folder)
    rows.append(
        row(name, f"the three passes, T = {steps}", f"T = {steps // 2}, times 4 (as pairs grow)", pairs,
            4 * sum(short[s] for s in PAIR_STAGES), None)
    )  # fmt: skip
    rows.append(row(name, f"the composed matrix, {shape}", "the three passes", clock["composition"], pairs, None))
    return rows


def _large(windows: np.ndarray, workers: int, folder: Path) -> list[Row]:
    vocabulary, steps = LARGE
    shape = f"V = {vocabulary:,}, T = {steps}, {len(windows):,} windows"
    clock = timed_count(corpus_of(windows, vocabulary, folder, "large"), workers, folder, memory="6GiB", times=1)
    pairs = sum(clock[stage] for stage in PAIR_STAGES)
    say("baseline: plain loops at large V")
    composed = np.full((vocabulary, vocabulary), 1e-3, np.float32)
    loops_context, loops_attention = plain_loops(windows, vocabulary, 1, composed)
    baseline = (loops_context + loops_attention) / workers
    note = f"plain float32 loops, 1 thread{'' if workers == 1 else f', divided by {workers}'}"
    return [
        row("statistics", f"context + attention + position, {shape}", note, pairs, baseline, 2),
        row("statistics", f"the composed matrix, {shape}", "the three passes", clock["composition"], pairs, None),
    ]


def timed_count(corpus: Corpus, workers: int, folder: Path, memory: str = "8GiB", times: int = 2) -> dict[str, float]:
    """Count a corpus some times and return the seconds of each stage of the fastest, writing the store included."""
    say(f"ours: {corpus.path.name}, {len(corpus.windows):,} windows, {workers} workers")
    best: dict[str, float] = {}
    for _ in range(times):
        clock = Clock()
        count(corpus, folder / "statistics", workers=workers, memory=memory, clock=clock)
        shutil.rmtree(folder / "statistics")
        if not best or sum(clock.seconds.values()) < sum(best.values()):
            best = clock.seconds
    return best


def plain_loops(windows: np.ndarray, vocabulary: int, workers: int, composed: np.ndarray) -> tuple[float, float]:
    """Time the plain loops; with several threads each has its own accumulators and its share of the windows."""
    steps = windows.shape[1] - 1
    shares = (1 / np.arange(1, steps + 1)).astype(np.float32)
    parts = np.array_split(windows, workers)
    with ThreadPoolExecutor(workers) as pool:
        # Filled, not only reserved: the memory is at hand before the clock starts.
        sums = [np.full((vocabulary, vocabulary), 0, np.float32) for _ in parts]
        offsets = [np.zeros(steps, np.float32) for _ in parts]
        plain.loops_context(windows[:1], shares, sums[0])
        plain.loops_attention(windows[:1], shares, composed, sums[0], offsets[0])
        context = best_of(1, lambda: list(pool.map(plain.loops_context, parts, [shares] * workers, sums)))
        attention = best_of(
            1,
            lambda: list(
                pool.map(plain.loops_attention, parts, [shares] * workers, [composed] * workers, sums, offsets)
            ),
        )
    return context, attention
