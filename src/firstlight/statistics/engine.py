"""Counting: corpus in, statistics store out. The function to read first is `count`."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from firstlight.corpus.corpus import Corpus
from firstlight.errors import FirstlightError
from firstlight.files import fingerprint, named, parse_bytes, publish
from firstlight.report.progress import say, short_number
from firstlight.statistics import attention_pass, composition_pass, context_pass, fixed_point, layout, means_pass
from firstlight.statistics.bigrams import Bigrams
from firstlight.statistics.compose import composer
from firstlight.statistics.job import Head, Job, choose_head, most_cells
from firstlight.statistics.matrices import Room
from firstlight.statistics.plan import Volume, make_plan, volume_of
from firstlight.statistics.remote import holds_store, upload
from firstlight.statistics.scratch import claimed, deliver_complete
from firstlight.statistics.segments import Workers
from firstlight.statistics.statistics import Statistics, open_statistics
from firstlight.statistics.warm_up import measure_scatter, warm_up
from firstlight.version import __version__


@dataclass
class Clock:
    """Wall seconds of each stage, in order."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a block under a name."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def count(
    corpus: Corpus,
    out: str | Path,
    *,
    workers: int | None = None,
    memory: str | int = "8GiB",
    progress: bool = False,
    clock: Clock | None = None,
) -> Statistics:
    """Count all statistics of a corpus into a Zarr store and open it.

    The result is the same bit for bit whatever the workers and the memory. A count that was killed goes on when it is
    called again.

    Arguments:
        corpus: what to count.
        out: a folder, or an fsspec URL such as `s3://bucket/stats`.
        workers: threads; all cores when None.
        memory: what the process may hold, as bytes or as text such as `8GiB`.
        progress: whether to print the plan and progress on stderr.
        clock: receives the wall time of each stage.
    """
    if int(corpus.manifest["windows"]) == 0:
        raise FirstlightError(f"{corpus.path}: a corpus without windows; nothing to count")
    key = fingerprint([layout.FORMAT, layout.FORMAT_VERSION, corpus.fingerprint])
    request = Request(
        key=key,
        vocabulary=corpus.vocabulary,
        volume=volume_of([corpus]),
        corpora=[corpus],
        members=[remember(corpus)],
        count_bigrams=context_pass.count_bigrams,
        count_context=context_pass.count_context,
    )
    return run(request, out, workers, memory, progress, clock or Clock())


@dataclass(frozen=True)
class Request:
    """A count to be made: of a corpus, or of finished stores together.

    Attributes:
        key: identifies the content; a finished store with the same key is the answer.
        vocabulary: the tokens.
        volume: how much there is.
        corpora: the corpora for the second pass; none leaves attention and position out.
        members: what the store remembers of its corpora.
        count_bigrams: the first of the two passes that add over corpora.
        count_context: the second of them.
        missing: the corpus for want of which there is no second pass.
    """

    key: str
    vocabulary: tuple[str, ...]
    volume: Volume
    corpora: Sequence[Corpus]
    members: Sequence[dict[str, Any]]
    count_bigrams: Callable[[Job], Bigrams]
    count_context: Callable[[Job, Bigrams, Head], None]
    missing: str | None = None


def run(
    request: Request, out: str | Path, workers: int | None, memory: str | int, show: bool, clock: Clock
) -> Statistics:
    """Do the passes of a request and publish the store."""
    place, remote = _destination(out)

    def deliver(folder: Path) -> None:
        if remote is None:
            publish(folder, place)
        else:
            upload(folder, remote)
            shutil.rmtree(folder)

    deliver_complete(place, deliver)
    existing = _existing(place, remote)
    if existing is not None and existing.facts["key"] == request.key:
        if show:
            say(f"{out}: already counted, nothing to do")
        return existing
    if existing is not None and show:
        say(f"{out}: holds other statistics, which stay until these are finished and are then replaced")
    threads = check_workers(workers)
    limit = parse_bytes(memory, "--memory") if isinstance(memory, str) else memory
    with clock.stage("kernels ready"):
        warm_up(request.corpora)
        speed = measure_scatter()
    plan = make_plan(request.volume, threads, limit, speed)
    if show:
        say(plan.describe())
    with claimed(place, request.key) as (scratch, resumed), Workers(threads) as pool:
        if resumed and show:
            say(f"resuming the count of {out} that was stopped")
        job = Job(request.corpora, plan, scratch, pool, show, Room(plan.held), most_cells(plan, None))
        with clock.stage("bigrams"):
            bigrams = request.count_bigrams(job)
            fixed_point.refuse_context_overflow(bigrams.next_count, plan.window)
        head = choose_head(bigrams, plan.head)
        if plan.sparse and not context_pass.needs_carry(job, bigrams):
            job = replace(job, unit_cells=most_cells(plan, bigrams))
        with clock.stage("context"):
            request.count_context(job, bigrams, head)
        if request.corpora:
            _second_pass(job, bigrams, head, clock)
        with clock.stage("publish"):
            _finish(request, job, bigrams)
            deliver(scratch.folder)
    if show and request.corpora:
        paired = sum(clock.seconds[name] for name in ("context", "prefix means", "attention"))
        say(f"counted {short_number(plan.pairs)} pairs twice over at {short_number(2 * plan.pairs / paired)} pairs/s")
    return open_statistics(remote or place)


def check_workers(workers: int | None) -> int:
    """Return how many threads to run: the cores this process may use when not told."""
    if workers is None:
        return len(os.sched_getaffinity(0))
    if workers < 1:
        raise FirstlightError(f"--workers {workers}: expected at least 1")
    return workers


def _second_pass(job: Job, bigrams: Bigrams, head: Head, clock: Clock) -> None:
    """Do what depends on the composed matrix of the whole: attention and position."""
    column_sum = context_pass.context_column_sum(job)
    with clock.stage("composition"):
        composed = composition_pass.compose(job, composer(bigrams), column_sum)
    with clock.stage("prefix means"):
        position, largest_mean = means_pass.average_prefixes(job, composed)
    with clock.stage("attention"):
        exponents = fixed_point.key_exponents(composed.column_max, column_sum, largest_mean)
        attention_pass.count_attention(job, bigrams, head, composed, exponents)
    layout.save(job.scratch.group, "attention_exponent", exponents, ("key",))
    layout.save(job.scratch.group, "position", position / bigrams.positions, ("offset",))


def _finish(request: Request, job: Job, bigrams: Bigrams) -> None:
    """Write the small arrays, then the facts, without which a group does not open, and remove the scratch."""
    group = job.scratch.group
    layout.save_vocabulary(group, request.vocabulary)
    layout.save(group, "token_count", bigrams.token_count, ("current",))
    layout.save(group, "next_count", bigrams.next_count, ("next",))
    layout.save(group, "bigram_indptr", bigrams.counts.indptr.astype(np.int64), ("row",))
    layout.save(group, "bigram_indices", bigrams.counts.indices.astype(np.int32), ("entry",))
    layout.save(group, "bigram_count", bigrams.counts.data, ("entry",))
    layout.save(group, "context_column_sum", context_pass.context_column_sum(job), ("prefix",))
    _gather_sparse(job)
    group.attrs.update(
        {
            "format": layout.FORMAT,
            "format_version": layout.FORMAT_VERSION,
            "firstlight": __version__,
            "key": request.key,
            "vocabulary_size": job.plan.vocabulary,
            "window": job.plan.window,
            "windows": job.plan.windows,
            "positions": bigrams.positions,
            "context_bits": fixed_point.context_bits(job.plan.window),
            "corpora": list(request.members),
            "has_attention": bool(request.corpora),
            "missing_corpus": request.missing,
        }
    )
    job.scratch.remove()


def _gather_sparse(job: Job) -> None:
    """Write the matrices that were kept in scratch files to the store."""
    if not job.plan.sparse:
        return
    for name, dtype in (("context_sum", "int64"), ("context_carry", "int32"), ("attention_sum", "int64")):
        if job.has_matrix(name):
            matrix = job.sparse_matrix(name, dtype)
            entries = sum(len(others) for _, others, _ in matrix.units())
            layout.save_sparse(job.scratch.group, name, job.plan.vocabulary, dtype, matrix.units(), entries)


def remember(corpus: Corpus) -> dict[str, Any]:
    """Return what finds a member corpus again and tells whether it is still the same."""
    return {
        "path": str(corpus.path.resolve()),
        "fingerprint": corpus.fingerprint,
        "windows": int(corpus.manifest["windows"]),
        "positions": corpus.positions,
    }


def _destination(out: str | Path) -> tuple[Path, str | None]:
    """Return where to work and publish, and the URL to upload to if `out` is one."""
    if "://" not in str(out):
        return named(Path(out)), None
    local = Path(tempfile.gettempdir()) / f"firstlight-{fingerprint(str(out))[:16]}"
    return local, str(out)


def _existing(place: Path, remote: str | None) -> Statistics | None:
    """Return the finished store at the destination, if there is one; refuse to replace anything else."""
    if remote is not None:
        return open_statistics(remote) if holds_store(remote) else None
    if not place.exists():
        above = next(folder for folder in place.absolute().parents if folder.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise FirstlightError(f"--out {place}: cannot be made in {above}, expected a folder one may write in")
        return None
    if not place.is_dir():
        raise FirstlightError(f"--out {place}: a file; expected a folder that is new or holds statistics")
    if not any(place.iterdir()):
        return None
    try:
        return open_statistics(place)
    except FirstlightError as error:
        raise FirstlightError(f"--out {place}: not empty and not statistics, so it is not replaced ({error})") from None
