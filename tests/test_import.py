"""Importing the package stays light, and the test that says so can fail."""

import subprocess
import sys

import pytest

HEAVY = (
    "torch",
    "transformers",
    "datasets",
    "ray",
    "fastapi",
    "uvicorn",
    "jinja2",
    "numba",
    "zarr",
    "pyarrow",
    "tokenizers",
    "sympy",
)


def heavy_after(statement: str) -> list[str]:
    code = f"import sys; {statement}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result.stdout.split()


def test_importing_firstlight_pulls_in_nothing_heavy() -> None:
    assert heavy_after("import firstlight") == []


def test_importing_the_corpus_stage_pulls_in_nothing_heavy() -> None:
    assert heavy_after("import firstlight.corpus") == []


def test_groups_and_sentences_pull_in_nothing_heavy() -> None:
    names = ("names", "facts", "sampling", "text", "tokens", "cayley")
    assert heavy_after("; ".join(f"import firstlight.tracking.language.{name}" for name in names)) == []


@pytest.mark.parametrize("module", ["torch", "transformers"])
def test_the_check_sees_a_heavy_import(module: str) -> None:
    assert module in heavy_after(f"import firstlight, {module}")


def test_counting_does_not_need_the_heavy_extras() -> None:
    assert not {"torch", "transformers", "datasets", "ray", "fastapi"} & set(
        heavy_after("import firstlight.statistics")
    )


def test_public_names_are_loaded_on_demand() -> None:
    import firstlight

    assert all(getattr(firstlight, name) is not None for name in firstlight.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        firstlight.nonsense  # noqa: B018
