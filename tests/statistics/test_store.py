"""The store: readable by any Zarr client, exported, checked, and never half there."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zarr

from firstlight.corpus import build_corpus
from firstlight.errors import FirstlightError
from firstlight.files import parse_bytes
from firstlight.statistics import Statistics, count, layout, open_statistics, scratch, segments
from firstlight.statistics.plan import Volume, make_plan, volume_of
from tests.statistics.conftest import MakeCorpus, zipf_windows
from tests.statistics.test_exact import stored_bits

SRC = Path(__file__).parents[2] / "src"


@pytest.fixture
def stats(make_corpus: MakeCorpus, tmp_path: Path) -> Statistics:
    return count(make_corpus(zipf_windows(np.random.default_rng(0), 40, 15, 60), 60), tmp_path / "stats", workers=1)


def test_a_plain_zarr_client_reads_the_theory_from_the_attributes(stats: Statistics) -> None:
    group = zarr.open_group(stats.path, mode="r")
    facts = dict(group.attrs)
    sums = np.asarray(group["context_sum"])
    context = (sums / 2.0 ** facts["context_bits"] - np.asarray(group["context_column_sum"]) / 60) / facts["positions"]
    np.testing.assert_allclose(context, stats.context, rtol=1e-12, atol=1e-18)
    attention = np.asarray(group["attention_sum"]) / 2.0 ** np.asarray(group["attention_exponent"]) / facts["positions"]
    np.testing.assert_allclose(attention, stats.attention, rtol=1e-12)
    assert group["context_sum"].metadata.dimension_names == ("next", "prefix")
    assert group["attention_sum"].metadata.dimension_names == ("query", "key")
    assert all("meaning" in group[name].attrs for name in group.array_keys())


def test_the_export_holds_the_arrays_of_the_paper(stats: Statistics, tmp_path: Path) -> None:
    stats.export(tmp_path / "out" / "stats.npz")
    arrays = np.load(tmp_path / "out" / "stats.npz")
    for name, theirs in (
        ("alpha", stats.alpha), ("B", stats.bigram), ("Sigma", stats.interchangeability),
        ("Phi", stats.context), ("Q", stats.attention), ("Delta", stats.position),
    ):  # fmt: skip
        assert arrays[name].dtype == np.float64
        assert (arrays[name] == theirs).all()
    assert tuple(arrays["vocab"]) == stats.vocabulary
    with pytest.raises(FirstlightError, match=r"ends in \.npz"):
        stats.export(tmp_path / "stats.txt")


def test_a_flipped_byte_is_found(stats: Statistics) -> None:
    stats.verify()
    chunk = max((Path(stats.path) / "context_sum").rglob("c/*/*"), key=lambda path: path.stat().st_size)
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(data)
    fresh = open_statistics(stats.path)
    with pytest.raises(FirstlightError, match="context_sum: damaged"):
        fresh.verify()
    with pytest.raises(FirstlightError, match="context_sum: damaged"):
        _ = fresh.context


def test_what_is_not_a_store_says_so(stats: Statistics, tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="no statistics here"):
        open_statistics(tmp_path / "nowhere")
    with pytest.raises(FirstlightError, match="not a statistics store"):
        open_statistics(tmp_path)
    zarr.create_group(tmp_path / "other.zarr")
    with pytest.raises(FirstlightError, match="not of firstlight statistics"):
        open_statistics(tmp_path / "other.zarr")
    (Path(stats.path) / "zarr.json").write_text('{"zarr')
    with pytest.raises(FirstlightError, match=r"zarr\.json: damaged"):
        open_statistics(stats.path)


def test_a_foreign_folder_is_not_replaced(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    corpus = make_corpus(zipf_windows(np.random.default_rng(1), 5, 8, 20), 20)
    with pytest.raises(FirstlightError, match="not empty and not statistics"):
        count(corpus, tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"


def test_other_statistics_are_replaced_and_readable_until_then(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    first, second = (make_corpus(zipf_windows(np.random.default_rng(seed), 5, 8, 20), 20) for seed in (1, 2))
    old = stored_bits(count(first, tmp_path / "stats", workers=1))
    new = stored_bits(count(second, tmp_path / "stats", workers=1))
    assert old != new
    assert stored_bits(open_statistics(tmp_path / "stats")) == new
    assert sorted(path.name for path in tmp_path.glob("stats*")) == ["stats"]


def test_a_url_works_like_a_folder(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    corpus = make_corpus(zipf_windows(np.random.default_rng(3), 12, 10, 30), 30)
    local = count(corpus, tmp_path / "local", workers=1)
    url = f"file://{tmp_path}/remote"
    assert stored_bits(count(corpus, url, workers=1)) == stored_bits(local)
    assert stored_bits(open_statistics(url)) == stored_bits(local)
    with pytest.raises(FirstlightError, match="no statistics here"):
        open_statistics(f"file://{tmp_path}/nowhere")
    with pytest.raises(FirstlightError, match="foo://bar: Protocol not known"):
        open_statistics("foo://bar")


def test_no_memory_and_no_workers_are_refused(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    corpus = make_corpus(zipf_windows(np.random.default_rng(4), 5, 8, 20), 20)
    with pytest.raises(FirstlightError, match=r"--memory 10.0 MiB is too little.*at least"):
        count(corpus, tmp_path / "stats", memory="10MiB")
    with pytest.raises(FirstlightError, match="--memory 'lots' is not a number"):
        count(corpus, tmp_path / "stats", memory="lots")
    with pytest.raises(FirstlightError, match="--workers 0"):
        count(corpus, tmp_path / "stats", workers=0)
    assert not (tmp_path / "stats").exists()


# Runs a count in small blocks, so that there are many moments to be killed at; says when a unit is finished.
CHILD = """
import dataclasses, sys, time
from firstlight.corpus import open_corpus
from firstlight.statistics import count, engine, layout, matrices, scratch
corpus, out, dense, held = sys.argv[1:]
layout.chunk_side = lambda size: 16
layout.DENSE_VOCABULARY = int(dense)
make_plan = engine.make_plan
engine.make_plan = lambda *a: dataclasses.replace(
    make_plan(*a), unit=16, block_cells=16, composed_in_memory=False, segment_rows=11, held=int(held))
finish = scratch.Scratch.finish
def slow(self, stage, units):
    print("finished", stage, units, flush=True)
    time.sleep(0.003)
    finish(self, stage, units)
scratch.Scratch.finish = slow
count(open_corpus(corpus), out, workers=2)
print("done", flush=True)
"""


@pytest.mark.parametrize(
    ("dense", "held"),
    [(8192, 0), (100, 0), (100, 20_000)],
    ids=["dense matrices", "sparse ones on disk", "sparse ones partly in memory"],
)
def test_killed_counts_resume_to_the_same_bits(
    make_corpus: MakeCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dense: int, held: int
) -> None:
    monkeypatch.setattr(layout, "DENSE_VOCABULARY", dense)
    monkeypatch.setattr(layout, "chunk_side", lambda size: 16)
    corpus = make_corpus(zipf_windows(np.random.default_rng(5), 60, 20, 150), 150)
    expected = stored_bits(count(corpus, tmp_path / "whole", workers=1))
    command = [sys.executable, "-c", CHILD, str(corpus.path), str(tmp_path / "stats"), str(dense), str(held)]
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    rng = np.random.default_rng(6)
    killed = 0
    for _ in range(40):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(float(rng.uniform(0.0, 0.4)))
            child.send_signal(signal.SIGKILL)
        if (tmp_path / "stats").exists():
            break
        killed += 1
        with pytest.raises(FirstlightError, match="unfinished count"):
            open_statistics(tmp_path / "stats")
    assert killed >= 1
    assert stored_bits(open_statistics(tmp_path / "stats")) == expected


def test_the_memory_limit_is_kept(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    # Held whole, the matrices of this vocabulary would take 4 x 800 MB.
    corpus = make_corpus(zipf_windows(np.random.default_rng(7), 400, 60, 10_000), 10_000)
    code = (
        "import sys; from firstlight.cli.main import main; from firstlight.memory import peak_bytes; "
        "code = main(sys.argv[1:]); print(peak_bytes()); sys.exit(code)"
    )
    limit = 800 * 2**20
    command = [
        "stats",
        "build",
        str(corpus.path),
        "--out",
        str(tmp_path / "stats"),
        "--memory",
        str(limit),
        "--workers",
        "2",
    ]
    result = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    peak = int(result.stdout.splitlines()[-1])
    assert peak < 1.15 * limit
    assert "blocks of" in result.stderr


def test_a_count_killed_after_its_last_write_is_delivered(make_corpus: MakeCorpus, tmp_path: Path) -> None:
    corpus = make_corpus(zipf_windows(np.random.default_rng(9), 5, 8, 20), 20)
    expected = stored_bits(count(corpus, tmp_path / "whole", workers=1))
    staging = tmp_path / "stats.partial"
    (tmp_path / "whole").rename(staging)
    (staging / "removed").mkdir()
    (staging / "removed" / "offsets.npy").write_bytes(b"left over")
    stats = count(corpus, tmp_path / "stats", workers=1)
    assert stored_bits(stats) == expected
    assert not staging.exists()
    assert not (tmp_path / "stats" / "removed").exists()


def test_what_is_at_a_url_is_replaced_as_a_whole_or_not_at_all(
    make_corpus: MakeCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "chunk_side", lambda size: 16)
    rng = np.random.default_rng(10)
    # The second corpus has tokens of one chunk alone: the others are zeros, which are not stored.
    first, second = make_corpus(rng.integers(0, 60, (20, 10)), 60), make_corpus(rng.integers(0, 9, (20, 10)), 60)
    url = f"file://{tmp_path}/remote"
    count(first, url, workers=1)
    assert stored_bits(count(second, url, workers=1)) == stored_bits(count(second, tmp_path / "local", workers=1))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    with pytest.raises(FirstlightError, match=r"home: not empty and not statistics.*thesis\.tex"):
        count(first, f"file://{tmp_path}/home", workers=1)
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["thesis.tex"]


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


def test_a_count_killed_while_it_clears_another_ones_staging_folder_starts_anew(
    make_corpus: MakeCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (make_corpus(zipf_windows(np.random.default_rng(seed), 5, 8, 20), 20) for seed in (1, 2))
    expected = stored_bits(count(second, tmp_path / "whole", workers=1))
    staging = tmp_path / "stats.partial"

    def kill(*arguments: object, **options: object) -> None:
        raise Killed

    for moment in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55):
        # The first count is killed when all is written but the scratch not yet removed.
        with monkeypatch.context() as patch:
            patch.setattr(scratch.Scratch, "remove", kill)
            with pytest.raises(Killed):
                count(first, tmp_path / "stats", workers=1)
        left = moment
        with monkeypatch.context() as patch:
            for owner, name in ((Path, "unlink"), (scratch.shutil, "rmtree")):
                remove = getattr(owner, name)

                def until_killed(path: Path, *a: object, remove: Callable[..., None] = remove, **k: object) -> None:
                    nonlocal left
                    if staging in (path, *path.parents):
                        left -= 1
                        if left < 0:
                            raise Killed
                    remove(path, *a, **k)

                patch.setattr(owner, name, until_killed)
            with contextlib.suppress(Killed):
                count(second, tmp_path / "stats", workers=1)
        if left >= 0:
            break
        with pytest.raises(FirstlightError, match="unfinished count"):
            open_statistics(tmp_path / "stats")
        assert stored_bits(count(second, tmp_path / "stats", workers=1)) == expected
        assert not list((tmp_path / "stats").rglob("*.partial"))
        assert not staging.exists()
        shutil.rmtree(tmp_path / "stats")
    assert moment >= 13


def test_a_vocabulary_that_fits_is_one_block(make_corpus: MakeCorpus) -> None:
    corpus = make_corpus(zipf_windows(np.random.default_rng(11), 5, 8, 20), 1000)
    plan = make_plan(volume_of([corpus]), 1, 2**33, 1e-9)
    assert plan.unit == 512
    assert "1 block of 1,000 columns" in plan.describe()
    least = 2**20 * (plan.needed // 2**20 - 8)
    assert "2 blocks of 512 columns" in make_plan(volume_of([corpus]), 1, least, 1e-9).describe()


def test_windows_are_counted_by_length_a_piece_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "LENGTHS_AT_ONCE", 3)
    (tmp_path / "a.txt").write_text("\n\n".join("a b c d e f g"[: 2 * n - 1] for n in (2, 3, 7, 5, 2, 7, 7)))
    corpus = build_corpus([tmp_path / "a.txt"], tmp_path / "corpus", window=5, min_tokens=2)
    assert segments.windows_by_length(corpus).tolist() == [0, 0, 2, 1, 0, 1, 3]
    # 1 + 2 + ... + (n - 1) pairs in a window of n tokens.
    assert volume_of([corpus]).pairs == 2 * 1 + 3 + 10 + 3 * 15


def test_the_folder_one_is_in_is_a_store(
    make_corpus: MakeCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (make_corpus(zipf_windows(np.random.default_rng(seed), 5, 8, 20), 20) for seed in (1, 2))
    expected = stored_bits(count(second, tmp_path / "whole", workers=1))
    stats = count(first, tmp_path / "stats", workers=1)
    monkeypatch.chdir(stats.path)
    assert stored_bits(open_statistics(".")) == stored_bits(stats)
    assert stored_bits(count(second, ".", workers=1)) == expected
    assert sorted(path.name for path in tmp_path.glob("stats*")) == ["stats"]


@pytest.mark.parametrize("vocabulary", [300, 9000])
def test_what_is_said_to_be_enough_memory_is(vocabulary: int) -> None:
    volume = Volume(vocabulary, window=200, windows=10**6, positions=2 * 10**8, pairs=2 * 10**10, itemsize=2)
    with pytest.raises(FirstlightError, match=r"MiB is too little for V = .* and 7 workers: at least") as error:
        make_plan(volume, 7, 2**26, 1e-9)
    enough = parse_bytes(str(error.value).split("at least ")[1].removesuffix(" is needed").replace(" ", ""))
    assert make_plan(volume, 7, enough, 1e-9).needed <= enough
    with pytest.raises(FirstlightError, match="too little"):
        make_plan(volume, 7, int(enough * 0.95), 1e-9)
