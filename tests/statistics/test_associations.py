"""What the statistics say: the associations planted in the stories come out, and so do those of real ones.

Bounds stand beside what was measured. Each is missed by far when a statistic is transposed, and a test says so.
"""

from pathlib import Path

import numpy as np
import pytest

from firstlight.corpus import build_corpus, story_truth
from firstlight.corpus.story_truth import Planted
from firstlight.statistics import Statistics, count
from firstlight.statistics.basis import context_sums
from firstlight.statistics.statistics import BASES

STORIES = 3000
WINDOW = 200
REAL = Path(__file__).parents[3] / "shared" / "data" / "tinystories" / "stories.txt"
# A planted pair that is expected less often than this (context: a sum of shares 1/t) is left to chance.
ENOUGH = {"bigram": 5.0, "context": 0.5}


@pytest.fixture(scope="module")
def stats(tmp_path_factory: pytest.TempPathFactory) -> Statistics:
    folder = tmp_path_factory.mktemp("stories")
    corpus = build_corpus([f"stories:{STORIES}"], folder / "corpus", window=WINDOW)
    return count(corpus, folder / "stats", workers=1)


@pytest.fixture(scope="module")
def expected(stats: Statistics) -> dict[str, np.ndarray]:
    """Return the true counts of the corpus, rows and columns in the order of its vocabulary."""
    true = story_truth.transitions(WINDOW)
    place = {token: index for index, token in enumerate(true.vocabulary)}
    order = np.array([place[token] for token in stats.vocabulary])
    chosen = np.ix_(order, order)
    return {
        "bigram": STORIES * true.expected_bigram[chosen],
        "context": STORIES * story_truth.context(WINDOW)[chosen],
    }


def planted(basis: str) -> list[Planted]:
    return [plant for plant in story_truth.planted() if plant.basis == basis]


def relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


# --- counted against true


# Measured: 0.033 and 0.021; the transposed ones 1.38 and 0.42.
@pytest.mark.parametrize(("basis", "bound"), [("bigram", 0.05), ("context", 0.03)])
def test_counts_are_the_expected_ones_within_sampling_error(
    stats: Statistics, expected: dict[str, np.ndarray], basis: str, bound: float
) -> None:
    everything = np.arange(len(stats.vocabulary))
    counted = stats.bigrams.counts.toarray() if basis == "bigram" else context_sums(stats, everything, by_row=True)
    assert not ((expected[basis] == 0) & (counted > 0)).any(), "counted what cannot happen"
    assert relative_error(counted, expected[basis]) < bound
    assert relative_error(counted.T, expected[basis]) > 10 * bound


def test_the_matrices_of_the_theory_are_the_true_ones_within_sampling_error(
    stats: Statistics, expected: dict[str, np.ndarray]
) -> None:
    true = {basis: sums / sums.sum() for basis, sums in expected.items()}
    size = len(stats.vocabulary)
    bigram = true["bigram"] - true["bigram"].sum(axis=1, keepdims=True) / size
    context = true["context"] - true["context"].sum(axis=0, keepdims=True) / size
    # Measured: 0.011, 0.033, 0.021, 0.030.
    assert relative_error(stats.alpha, true["bigram"].sum(axis=1)) < 0.02
    assert relative_error(stats.bigram, bigram) < 0.05
    assert relative_error(stats.context, context) < 0.03
    assert relative_error(stats.interchangeability, bigram.T @ bigram) < 0.05
    # Measured: 1.39, 0.50, 1.31.
    assert relative_error(stats.bigram.T, bigram) > 1
    assert relative_error(stats.context.T, context) > 0.3
    # The other product of the bigram matrix with itself is a symmetric matrix too, and not this one.
    assert relative_error(stats.interchangeability, bigram @ bigram.T) > 1


# --- planted associations


def planted_lifts(stats: Statistics, expected: np.ndarray, basis: str, direction: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the counted and the true lift of every planted pair that is expected often enough."""
    counted, true = [], []
    for plant in planted(basis):
        token = stats.tokens.id_of(plant.token)
        found = dict(stats.top(plant.token, basis, k=len(stats.vocabulary), direction=direction, min_count=1))  # type: ignore[arg-type]
        for partner in plant.partners:
            other = stats.tokens.id_of(partner)
            if expected[token, other] >= ENOUGH[basis]:
                counted.append(found[partner])
                by_chance = expected[token].sum() * expected[:, other].sum() / expected.sum()
                true.append(expected[token, other] / by_chance)
    return np.array(counted), np.array(true)


# Measured, over 159 and 191 pairs: least lift 13.7 and 3.3; median of |log(counted / true)| 0.14 and 0.09.
@pytest.mark.parametrize(("basis", "pairs", "least", "off"), [("bigram", 150, 10.0, 0.2), ("context", 180, 3.0, 0.15)])
def test_planted_pairs_have_the_lift_they_were_given(
    stats: Statistics, expected: dict[str, np.ndarray], basis: str, pairs: int, least: float, off: float
) -> None:
    counted, true = planted_lifts(stats, expected[basis], basis, "out")
    assert len(counted) >= pairs
    assert counted.min() > least
    assert np.median(np.abs(np.log(counted / true))) < off


def test_planted_pairs_do_not_show_the_other_way_round(stats: Statistics, expected: dict[str, np.ndarray]) -> None:
    # This is what would be read off transposed statistics. Measured: 75% of the pairs are no pairs at all.
    counted, _ = planted_lifts(stats, expected["bigram"], "bigram", "in")
    assert np.mean(counted < 3) > 0.5
    # What comes before a token often comes after it too: here the pairs stay and the figures are off. Measured: 0.27.
    counted, true = planted_lifts(stats, expected["context"], "context", "in")
    assert np.median(np.abs(np.log(counted / true))) > 0.2


def test_planted_tokens_are_interchangeable(stats: Statistics, expected: dict[str, np.ndarray]) -> None:
    share = expected["bigram"] / expected["bigram"].sum()
    bigram = share - share.sum(axis=1, keepdims=True) / len(share)
    by_column, by_row = cosines(bigram.T), cosines(bigram)
    errors, transposed = [], []
    for plant in planted("interchangeability"):
        token = stats.tokens.id_of(plant.token)
        partners = [stats.tokens.id_of(partner) for partner in plant.partners]
        found = dict(stats.top(plant.token, "interchangeability", k=len(share), min_count=1))
        scores = np.array([found[partner] for partner in plant.partners])
        # Measured: at least 0.58 (happy and sad).
        assert scores.min() > 0.5, plant
        # Measured: ball and doll above 91.8% of all tokens, the others above at least 97.8%.
        assert scores.min() > np.quantile(list(found.values()), 0.9 if plant.token == "ball" else 0.95), plant
        errors.append(np.abs(scores - by_column[token, partners]).max())
        transposed.append(np.abs(scores - by_row[token, partners]).max())
    # Measured: 0.063, against 0.297 for the cosine of rows, which Sigma of a transposed bigram matrix would give.
    assert max(errors) < 0.1
    assert max(transposed) > 0.2


def cosines(rows: np.ndarray) -> np.ndarray:
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    return np.asarray(unit @ unit.T)


# --- scores


def test_lift_is_the_entry_over_what_the_margins_give(stats: Statistics) -> None:
    token, other = stats.tokens.id_of("fish"), stats.tokens.id_of("pond")
    sums = context_sums(stats, np.arange(len(stats.vocabulary)), by_row=True)
    for direction, first, second in (("out", token, other), ("in", other, token)):
        expected = sums[first].sum() * sums[:, second].sum() / sums.sum()
        found = dict(stats.top("fish", "context", k=2000, direction=direction, min_count=1))  # type: ignore[arg-type]
        assert found["pond"] == pytest.approx(sums[first, second] / expected, rel=1e-9)


def test_lift_of_interchangeability_is_a_cosine_of_bigram_columns(stats: Statistics) -> None:
    columns = cosines(stats.bigram.T)[stats.tokens.id_of("happy")]
    found = stats.top("happy", "interchangeability", k=50)
    assert [score for _, score in found] == pytest.approx([columns[stats.tokens.id_of(name)] for name, _ in found])


def test_raw_is_the_entry_and_keeps_the_token_itself(stats: Statistics) -> None:
    token = stats.tokens.id_of("fish")
    for basis in ("bigram", "interchangeability", "context", "attention", "composed"):
        line = {"out": stats.rows(basis, [token])[0], "in": stats.columns(basis, [token])[:, 0]}
        for direction, entries in line.items():
            found = stats.top("fish", basis, k=len(entries), score="raw", direction=direction, min_count=0)  # type: ignore[arg-type]
            assert len(found) == len(entries)
            assert all(entries[stats.tokens.id_of(name)] == score for name, score in found)
            assert [score for _, score in found] == sorted(entries, reverse=True)
    assert "fish" not in dict(stats.top("fish", "context", k=5000, min_count=0))


def test_rare_tokens_are_left_out(stats: Statistics) -> None:
    names = [name for name, _ in stats.top("fish", "context", k=5000, min_count=1000)]
    assert names
    assert all(stats.token_count[stats.tokens.id_of(name)] >= 1000 for name in names)


# --- real stories


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Statistics:
    if not REAL.exists():
        pytest.skip("needs ../shared/data/tinystories/stories.txt")
    folder = tmp_path_factory.mktemp("tinystories")
    corpus = build_corpus([REAL], folder / "corpus", window=WINDOW, oov="unk", min_tokens=2)
    assert corpus.manifest["windows"] == 10_352
    return count(corpus, folder / "stats", workers=1)


def first(stats: Statistics, token: str, basis: str, k: int, score: str = "lift") -> set[str]:
    return {name for name, _ in stats.top(token, basis, k=k, score=score)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("token", "basis", "k", "among"),
    [
        ("happy", "interchangeability", 6, "excited proud surprised curious sad"),
        ("they", "interchangeability", 8, "she he one it"),
        ("red", "interchangeability", 10, "green blue yellow"),
        ("birds", "bigram", 10, "flying sing singing sang flew"),
        ("fish", "context", 10, "fisherman whale rod shrimp swam"),
        ("flower", "context", 20, "bloom bee butterflies flowers seeds"),
    ],
)
def test_real_stories_show_what_was_published(real: Statistics, token: str, basis: str, k: int, among: str) -> None:
    assert set(among.split()) <= first(real, token, basis, k)


def test_raw_rows_begin_with_frequent_tokens(real: Statistics) -> None:
    assert [name for name, _ in real.top("fish", "context", k=7, score="raw")] == [
        "the",
        ".",
        "a",
        ",",
        "fish",
        "was",
        "to",
    ]


PUBLISHED = {
    "happy": "sad excited scared angry",
    "they": "she he it one",
    "wanted": "saw had asked loved ran",
    "red": "green blue yellow",
}


def test_published_examples_are_among_the_first_by_lift_and_not_by_the_cosine_of_sigma_rows(real: Statistics) -> None:
    # Measured: the last rank is 19 by lift; by the cosine of rows of Sigma angry is 48th and yellow 175th.
    for token, words in PUBLISHED.items():
        assert set(words.split()) <= first(real, token, "interchangeability", 20), token
    rows = cosines(real.interchangeability)
    rows[:, real.token_count < 30] = -1
    for token, word in (("happy", "angry"), ("red", "yellow")):
        row = rows[real.tokens.id_of(token)]
        assert np.count_nonzero(row > row[real.tokens.id_of(word)]) > 20


def test_a_vocabulary_of_one_token_has_no_associations_and_no_warnings(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a a a a a")
    stats = count(build_corpus([tmp_path / "a.txt"], tmp_path / "corpus", window=3), tmp_path / "stats")
    for basis in BASES:
        assert stats.top("a", basis, min_count=0) == []
