"""Merging: the statistics of several corpora together, from their stores.

Counts and context sums add, as integers, to exactly what counting the corpora at once gives. Attention and position
depend on the composed matrix of the whole and need a second pass over the member corpora, which every store remembers.
When one is gone they are left out, and the store says so.
"""

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from firstlight.corpus.corpus import Corpus, open_corpus
from firstlight.errors import FirstlightError
from firstlight.files import fingerprint
from firstlight.report.progress import progress as progress_bar
from firstlight.report.progress import say
from firstlight.statistics import context_pass, fixed_point, layout
from firstlight.statistics.bigrams import Bigrams, add
from firstlight.statistics.engine import Clock, Request, run
from firstlight.statistics.job import Head, Job
from firstlight.statistics.plan import Volume, volume_of
from firstlight.statistics.statistics import Statistics, open_statistics


def merge(
    stores: Sequence[str | Path | Statistics],
    out: str | Path,
    *,
    workers: int | None = None,
    memory: str | int = "8GiB",
    progress: bool = False,
    clock: Clock | None = None,
) -> Statistics:
    """Merge statistics stores of one vocabulary and window into a new one and open it.

    Arguments:
        stores: two or more.
        out: a folder or an fsspec URL.
        workers: threads; all cores when None.
        memory: what the process may hold.
        progress: whether to print the plan and progress on stderr.
        clock: receives the wall time of each stage.
    """
    opened = [store if isinstance(store, Statistics) else open_statistics(store) for store in stores]
    _check(opened, out)
    members = [member for stats in opened for member in stats.facts["corpora"]]
    corpora, missing = _reopen(members)
    if missing:
        say(f"{out}: merged without attention and position, which need every member corpus: {missing}")
    facts = [stats.facts for stats in opened]
    volume = (
        volume_of(corpora)
        if corpora
        else Volume(
            vocabulary=int(facts[0]["vocabulary_size"]),
            window=int(facts[0]["window"]),
            windows=sum(int(each["windows"]) for each in facts),
            positions=sum(int(each["positions"]) for each in facts),
            pairs=0,
            itemsize=4,
        )
    )
    # In the order of content, not of the call: merging is the same whichever store comes first.
    content = sorted(member["fingerprint"] for member in members)
    key = fingerprint([layout.FORMAT, layout.FORMAT_VERSION, content, bool(corpora)])

    def sum_bigrams(job: Job) -> Bigrams:
        return reduce(add, (stats.bigrams for stats in opened))

    def sum_context(job: Job, bigrams: Bigrams, head: Head) -> None:
        _sum_context(job, bigrams, opened)

    request = Request(key, opened[0].vocabulary, volume, corpora, members, sum_bigrams, sum_context, missing)
    return run(request, out, workers, memory, progress, clock or Clock())


def _check(stores: list[Statistics], out: str | Path) -> None:
    if len(stores) < 2:
        raise FirstlightError(f"merge: {len(stores)} store given, expected at least 2")
    first = stores[0]
    for stats in stores[1:]:
        if stats.vocabulary != first.vocabulary:
            raise FirstlightError(
                f"{stats.path}: another vocabulary ({len(stats.vocabulary):,} tokens) than {first.path} "
                f"({len(first.vocabulary):,}); corpora to be merged must share one"
            )
        if stats.window != first.window:
            raise FirstlightError(
                f"{stats.path}: windows of {stats.window}, expected {first.window} as in {first.path}"
            )
    if any(_place(out) == _place(stats.path) for stats in stores):
        raise FirstlightError(f"--out {out}: is one of the stores to be merged")


def _place(path: str | Path) -> str:
    """Return a name that two spellings of one folder share."""
    return str(path).rstrip("/") if "://" in str(path) else str(Path(path).resolve())


def _reopen(members: list[dict[str, Any]]) -> tuple[list[Corpus], str | None]:
    """Open every member corpus; or none, and say which one is gone or not the same any more."""
    corpora = []
    for member in members:
        try:
            corpus = open_corpus(member["path"])
        except FirstlightError as error:
            return [], str(error)
        if corpus.fingerprint != member["fingerprint"]:
            return [], f"{member['path']}: not the corpus that was counted"
        corpora.append(corpus)
    return corpora, None


def _sum_context(job: Job, bigrams: Bigrams, stores: list[Statistics]) -> None:
    """Add the context sums of stores, a unit of columns at a time."""
    wide = context_pass.needs_carry(job, bigrams)
    target, carry_target = context_pass.open_context(job, wide)
    bits = fixed_point.context_bits(job.plan.window)
    with progress_bar("context", job.plan.vocabulary, "columns", job.show) as advance:
        done = job.scratch.done("context")
        for unit in range(job.plan.units):
            low, high = unit * job.plan.unit, min((unit + 1) * job.plan.unit, job.plan.vocabulary)
            if unit not in done:
                total = np.zeros((job.plan.vocabulary, high - low), np.int64)
                carry = np.zeros(total.shape, np.int32) if wide else None
                for stats in stores:
                    part, part_carry = layout.read_context(stats.group, low, high)
                    total += part
                    if carry is not None:
                        carry += 0 if part_carry is None else part_carry
                        fixed_point.move_carry(total, carry)
                rows = np.ascontiguousarray(total.T)
                row_carry = None if carry is None else np.ascontiguousarray(carry.T)
                kept = target.write(low, rows)
                if row_carry is not None and carry_target is not None:
                    kept = carry_target.write(low, row_carry) and kept
                job.scratch.save(f"context-column-sum-{unit}", fixed_point.row_sums(rows, row_carry, bits))
                if kept:
                    job.scratch.finish("context", [unit])
            advance(high - low)
