"""Truncation, ablation, closed-form losses, controlled corpora: against dense float64 and against what must be so."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from firstlight.corpus import Corpus, story_truth
from firstlight.errors import FirstlightError
from firstlight.runs import Run
from firstlight.statistics import Statistics, count
from firstlight.theory import leading_terms
from firstlight.theory.ablation import ablate, divergence, projection
from firstlight.theory.closed_form import baselines, check_readable, closed_form_loss, compare_losses
from firstlight.theory.controlled import Scale, controlled
from firstlight.theory.controlled_corpora import copy_windows, corpus_of, some_topics, story_windows, true_directions
from firstlight.theory.controlled_report import write_controlled
from firstlight.theory.directions import Directions
from firstlight.theory.passes import spread_windows
from firstlight.theory.tables import loss_text
from firstlight.theory.terms import gradient_coefficient, kind_of
from firstlight.theory.truncation import truncation
from tests.theory.reference import dense_loss, descend


def quiet(amount: float) -> None:
    pass


def test_what_the_leading_term_of_a_gradient_neglects(
    run: Run, stats: Statistics, corpus: Corpus, windows: np.ndarray
) -> None:
    rows = truncation(run, stats, corpus, checkpoints=[0, 4, 10])
    gradients = {step: dense for step, _, _, dense in descend(windows, 60, 3, 0.01, 10)}
    assert len(rows) == 30
    for row in rows:
        kind = kind_of(row.weight)
        direction = Directions(stats).whole(kind).reshape(gradients[0][row.weight].shape)
        descent, leading = -gradients[row.step][row.weight], gradient_coefficient(kind, row.step, 0.01) * direction
        assert row.gradient == pytest.approx(np.linalg.norm(descent), rel=1e-9, abs=1e-25)
        assert row.leading == pytest.approx(np.linalg.norm(leading), rel=1e-12)
        # What is neglected is a thousandth of the gradient and less: the two ways to compute it differ by rounding.
        size = np.linalg.norm(descent)
        assert row.neglected == pytest.approx(np.linalg.norm(descent - leading), abs=1e-9 * size + 1e-25)
        if row.step:
            assert row.share is not None
            assert row.share < 1e-3
            assert row.cosine == pytest.approx(1, abs=1e-6)


def test_the_share_that_is_neglected_grows_with_the_time(run: Run, stats: Statistics, corpus: Corpus) -> None:
    rows = truncation(run, stats, corpus, checkpoints=[4, 8])
    for name in {row.weight for row in rows}:
        early, late = (row.share for row in rows if row.weight == name)
        assert early is not None
        assert late is not None
        assert 1.5 < late / early < 3


def test_an_ablation_takes_away_the_projection_and_nothing_else() -> None:
    weight, direction = torch.randn(2, 7, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    for scale in (1.0, 1e-150):
        removed = projection(weight, direction * scale)
        assert abs(float(((weight - removed) * direction).sum())) < 1e-13
        cosine = float((removed * direction).sum() / removed.norm() / direction.norm())
        assert abs(cosine) == pytest.approx(1)
    assert not projection(weight, torch.zeros_like(weight)).any()


def test_ablating_each_weight(run: Run, stats: Statistics, corpus: Corpus, windows: np.ndarray) -> None:
    rows = ablate(run, stats, corpus, step=10, seeds=2)
    assert [row.weight for row in rows][:5] == ["none", "W_O", "W_O", "W_O", "layers.0.W"]
    assert [row.removed for row in rows][:4] == ["nothing", "leading term", "random", "random"]
    weights = run.load(10)
    base = float(dense_loss(weights, windows, 60))
    assert rows[0].loss == pytest.approx(base, rel=1e-12)
    own = rows[1]
    assert own.share == pytest.approx(1, abs=1e-6)
    # Without it nothing but the value's small effect is left: a uniform output.
    assert own.loss == pytest.approx(math.log(60), abs=1e-6)
    assert own.loss_change == pytest.approx(own.loss - base)
    direction = torch.from_numpy(Directions(stats).whole("output"))
    without = {**weights, "W_O": weights["W_O"] - projection(weights["W_O"], direction)}
    assert own.loss == pytest.approx(float(dense_loss(without, windows, 60)), rel=1e-12)
    assert own.kl == pytest.approx(_divergence(weights, without, windows), rel=1e-6)
    assert all(row.norm == own.norm and row.loss_change < own.loss_change / 3 for row in rows[2:4])
    assert rows[2].kl != rows[3].kl
    assert all(row.kl >= 0 for row in rows)


def _divergence(one: dict[str, torch.Tensor], two: dict[str, torch.Tensor], windows: np.ndarray) -> float:
    """Mean KL divergence from logits read off gradients of the loss: -dL/dlogits = (onehot - softmax) / NT."""
    logits = []
    for weights in (one, two):
        hidden = torch.nn.functional.one_hot(torch.as_tensor(windows[:, :-1].astype(np.int64)), 60).double()
        steps = hidden.shape[1]
        offset = torch.arange(steps)[:, None] - torch.arange(steps)
        for layer in range(3):
            w, v, p = (weights[f"layers.{layer}.{letter}"] for letter in "WVP")
            scores = (hidden @ w @ hidden.mT + p[offset.clamp(min=0)]).masked_fill(offset < 0, -torch.inf)
            hidden = hidden + scores.softmax(-1) @ hidden @ v
        logits.append(torch.log_softmax(hidden @ weights["W_O"], dim=-1))
    return float((logits[0].exp() * (logits[0] - logits[1])).sum(-1).mean())


def test_windows_are_chosen_at_equal_distances(corpus: Corpus) -> None:
    assert spread_windows(corpus, 4).tolist() == [0, 50, 100, 150]
    assert spread_windows(corpus, None).tolist() == spread_windows(corpus, 10**6).tolist() == list(range(200))


@pytest.mark.parametrize("count", [0, -5])
def test_no_window_is_no_choice(corpus: Corpus, count: int) -> None:
    with pytest.raises(FirstlightError, match=f"windows = {count}: expected at least 1"):
        spread_windows(corpus, count)


def test_divergences_are_exact_however_small_or_large() -> None:
    generator = torch.Generator().manual_seed(0)
    own = torch.log_softmax(torch.randn(5, 7, generator=generator, dtype=torch.float64), -1)
    other = torch.log_softmax(3 * torch.randn(5, 7, generator=generator, dtype=torch.float64), -1)
    assert float(divergence(own, other)) == pytest.approx(float((own.exp() * (own - other)).sum()), rel=1e-12)
    near = torch.log_softmax(own + 1e-9 * torch.randn(5, 7, generator=generator, dtype=torch.float64), -1)
    # Half the variance of the difference: 1e-18 beside terms of order 1e-9.
    gap = near - own
    assert float(divergence(own, near)) == pytest.approx(float((own.exp() * gap**2).sum() / 2), rel=1e-6)
    # As of a model that is about to diverge: what one gives a probability of 0 the other is sure of.
    sure = torch.log_softmax(torch.tensor([[1e50, 0.0, 0.0]], dtype=torch.float64), -1)
    unsure = torch.log_softmax(torch.tensor([[0.0, 1e50, 0.0]], dtype=torch.float64), -1)
    assert float(divergence(sure, unsure)) == pytest.approx(1e50)


def test_losses_of_any_size_are_short() -> None:
    assert [loss_text(loss) for loss in (2.60444, 123.0, 5.9e53)] == ["2.6044", "123.0000", "5.900e+53"]


def test_predicted_weights_read_corpora_of_their_own_tokens(
    stats: Statistics, corpus: Corpus, windows: np.ndarray, tmp_path: Path
) -> None:
    check_readable(stats, corpus)
    check_readable(stats, corpus_of(windows[:3, :8], list(corpus.vocabulary), tmp_path / "short"))
    others = [f"other{number}" for number in range(60)]
    with pytest.raises(FirstlightError, match="its 60 tokens are not those of"):
        check_readable(stats, corpus_of(windows[:3], others, tmp_path / "others"))
    long = np.concatenate([windows[:3], windows[:3]], axis=1)
    with pytest.raises(FirstlightError, match=r"windows of 41 positions, but .* has offsets for 20"):
        check_readable(stats, corpus_of(long, list(corpus.vocabulary), tmp_path / "long"))


def test_counting_models_have_the_losses_of_their_definition(stats: Statistics, windows: np.ndarray) -> None:
    x, y = windows[:, :-1].ravel(), windows[:, 1:].ravel()
    pairs = np.zeros((60, 60))
    np.add.at(pairs, (x, y), 1)
    counted = baselines(stats)
    assert counted.uniform == pytest.approx(math.log(60))
    unigram = np.bincount(y, minlength=60) / len(y)
    assert counted.unigram == pytest.approx(-np.log(unigram[y]).mean())
    assert counted.bigram == pytest.approx(-np.log(pairs[x, y] / pairs.sum(axis=1)[x]).mean())


def test_the_closed_form_is_the_reference_model_with_predicted_weights(
    run: Run, stats: Statistics, corpus: Corpus, windows: np.ndarray
) -> None:
    terms = leading_terms(stats, steps=200, lr=0.5, layers=3)
    dense = float(dense_loss({name: torch.from_numpy(tensor) for name, tensor in terms.items()}, windows, 60))
    assert closed_form_loss(terms, corpus, np.arange(200), quiet) == pytest.approx(dense, rel=1e-12)
    rows = compare_losses(run, stats, corpus, [0, 10], np.arange(200), "leading", quiet)
    assert rows[0]["trained"] == rows[0]["closed_form"] == pytest.approx(math.log(60))
    assert rows[1]["trained"] == pytest.approx(rows[1]["closed_form"], abs=1e-7)
    assert rows[1]["trained"] < rows[0]["trained"]


def test_counts_of_many_stories_come_near_the_true_directions(tmp_path: Path) -> None:
    grammar, window = some_topics(1), 12
    truth, words = true_directions(grammar, window), list(story_truth.vocabulary(grammar))
    tokens = story_windows(grammar, window)(6000, 0)
    stats = count(corpus_of(tokens, words, tmp_path / "corpus"), tmp_path / "stats", workers=1)
    for kind, true in truth.items():
        counted = Directions(stats).whole(kind)
        # Sampling error: it halves with four times as many stories.
        assert np.linalg.norm(counted - true) < 0.05 * np.linalg.norm(true)


def test_a_copy_is_a_string_twice() -> None:
    windows = copy_windows(5, 4)(1000, 0)
    assert windows.shape == (1000, 9)
    np.testing.assert_array_equal(windows[:, :4], windows[:, 4:8])
    np.testing.assert_array_equal(windows[:, 0], windows[:, 8])
    assert set(np.unique(windows)) == set(range(5))


def test_the_theory_holds_on_stories_and_fails_on_copies(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    scale = Scale(
        topics=1, counts=(20, 160), window=12, layers=1, steps=4, copies=256, copy_lr=16.0, copy_steps=32, seeds=(0,)
    )
    found = controlled(tmp_path, scale)
    few, many = ({row.kind: row for row in found.last("stories") if row.windows == n} for n in (20, 160))
    for kind, row in many.items():
        assert row.trained_counted is not None
        assert row.trained_counted > 0.9999
        assert row.counted_other > few[kind].counted_other  # type: ignore[operator]
    for kind in ("output", "value"):
        # Trained weights are as near the truth as the counts of what they were trained on: the rest is sampling.
        assert many[kind].counted_true > max(0.95, few[kind].counted_true)  # type: ignore[type-var,index]
        assert many[kind].trained_true == pytest.approx(many[kind].counted_true, abs=1e-4)  # type: ignore[index]
    copies = {row.kind: row for row in found.last("copies")}
    for kind in ("output", "value"):
        assert abs(copies[kind].trained_other) < 0.3  # type: ignore[index,arg-type]
        assert copies[kind].counted_true is None  # type: ignore[index]
    assert copies["position"].trained_other > 0.9  # type: ignore[operator]
    last = found.losses[-1]
    assert last.trained < 0.7 * last.uniform  # it has learnt to copy
    assert last.closed_form > 1.5 * last.trained  # which the prediction does not know
    assert last.bigram > 0.9 * last.uniform
    written = write_controlled(tmp_path / "report", found)
    assert all(path.stat().st_size > 1000 for path in written)
    assert "Where it fails" in (tmp_path / "report" / "controlled.html").read_text(encoding="utf-8")


def test_what_is_certain_has_a_loss_of_zero_without_a_sign(tmp_path: Path) -> None:
    corpus = corpus_of(np.array([[0, 1, 0], [0, 1, 0]], np.int32), ["a", "b", "c"], tmp_path / "corpus")
    assert str(baselines(count(corpus, tmp_path / "statistics", workers=1)).bigram) == "0.0"
