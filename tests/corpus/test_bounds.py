"""What a build costs: memory that does not grow with the file, and imports that stay light."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import json, sys
from firstlight.corpus import build_corpus
from firstlight.memory import peak_bytes
corpus = build_corpus([sys.argv[1]], sys.argv[2], window=50, windows="chunk", oov="unk")
print(json.dumps({"peak": peak_bytes() // 2**20, "ledger": corpus.ledger}))
"""

HEAVY = ("torch", "transformers", "datasets", "pyarrow", "tokenizers", "typer", "huggingface_hub", "rich")


def measure(source: Path, out: Path) -> dict[str, object]:
    result = subprocess.run([sys.executable, "-c", MEASURE, source, out], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    counts: dict[str, object] = json.loads(result.stdout)
    return counts


def test_a_single_line_of_200_mb_takes_no_more_memory_than_a_small_file(tmp_path: Path) -> None:
    words = b" ".join(bytes([97 + i % 26]) * 80 + bytes([97 + i % 7]) for i in range(1000)) + b" "
    peaks = []
    for megabytes in (10, 200):
        path = tmp_path / f"{megabytes}.txt"
        with path.open("wb") as file:
            for _ in range(megabytes * 1_000_000 // len(words)):
                file.write(words)
        counts = measure(path, tmp_path / f"out{megabytes}")
        path.unlink()
        ledger: dict[str, dict[str, int]] = counts["ledger"]  # type: ignore[assignment]
        assert ledger["tokens"]["read"] == megabytes * 1_000_000 // len(words) * 1000  # no word was cut or lost
        assert ledger["split"]["parts"] == -(-megabytes * 1_000_000 // (4 * 2**20))
        peaks.append(int(str(counts["peak"])))
    assert peaks[1] - peaks[0] < 50, peaks


def imported(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_importing_the_corpus_stays_light() -> None:
    assert imported("import firstlight.corpus") == set()


@pytest.mark.parametrize("module", ["tokenizers", "typer"])
def test_the_test_of_light_imports_can_fail(module: str) -> None:
    assert module in imported(f"import firstlight.corpus, {module}")
