"""The benchmark of drawing: its rows, and a baseline that does the same job."""

import numpy as np

from firstlight.bench.tracking_language import bench_language, sympy_sentences
from firstlight.tracking.language.names import action_named


def test_rows_tell_the_rate_beside_the_goal_and_beside_sympy() -> None:
    rows = bench_language(clauses=500, plain_clauses=50, lengths=(5,))
    assert [each.bench for each in rows] == ["tracking"] * 4
    assert [each.goal for each in rows] == [1, None] * 2
    assert all("500 clauses of" in each.work and "M a second on one core" in each.work for each in rows)
    assert all(each.seconds > 0 and each.baseline_seconds > 0 for each in rows)
    assert rows[0].baseline_seconds == 500 / 1e6


def test_the_sympy_loop_draws_sentences_of_the_same_language() -> None:
    action = action_named("S5")
    for chosen, elements, values in sympy_sentences(action, variables=30, length=6, count=20, seed=0):
        assert len(set(chosen)) == 7
        assert len(elements) == 6
        assert values[1:] == [action.images[g, y] for g, y in zip(elements, values, strict=False)]
        assert np.isin(chosen, np.arange(30)).all()
