"""The embedded stories: told the same way every time, and their statistics known exactly."""

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from firstlight.corpus import story_templates
from firstlight.corpus.stories import stories, story
from firstlight.corpus.story_grammar import (
    Choice,
    Grammar,
    Slot,
    Topic,
    draw_story,
    embedded,
    read_grammar,
    read_unit,
    token_of,
)
from firstlight.corpus.story_truth import Transitions, context, planted, transitions, vocabulary
from firstlight.corpus.story_words import TopicText
from firstlight.errors import FirstlightError

Weighted = list[tuple[float, list[str]]]


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+|\S", text.lower())


@pytest.fixture(scope="module")
def sample() -> list[list[str]]:
    return [words_of(text) for text in stories(5000, seed=1)]


@pytest.fixture(scope="module")
def truth() -> Transitions:
    return transitions(200)


@pytest.fixture(scope="module")
def true_context() -> np.ndarray:
    return context(200)


# --- telling


def test_a_story_depends_on_its_seed_and_index_alone() -> None:
    told = list(stories(12, seed=3))
    assert told == [story(index, seed=3) for index in range(12)]
    assert told[5:9] == list(stories(4, seed=3, start=5))
    assert len(set(told) | set(stories(12, seed=4))) == 24


def test_the_stories_of_a_seed_never_change() -> None:
    # A new digest here means that every corpus made of stories has changed: say so in the change log.
    digest = hashlib.sha256("\n".join(stories(50)).encode()).hexdigest()
    assert digest == "c4bcaf8baad889a3f8c5ae35f4e1f3dd3fc1bd1182f701fc7e544c458a9675e7"


@pytest.mark.parametrize(("index", "seed"), [(-1, 0), (2**64, 0), (0, -1)])
def test_an_index_or_seed_out_of_range_is_refused(index: int, seed: int) -> None:
    with pytest.raises(FirstlightError, match=f"story {index} of seed {seed}"):
        story(index, seed)


def test_a_choice_draws_each_item_as_often_as_it_says() -> None:
    choice = Choice(("a", "b", "c"), (0.5, 0.2, 0.3))
    grid = iter((step + 0.5) / 1000 for step in range(1000))
    drawn = Counter(choice.draw(SimpleNamespace(random=grid.__next__)) for _ in range(1000))  # type: ignore[arg-type]
    assert drawn == {"a": 500, "b": 200, "c": 300}
    # Rounded probabilities add up to less than 1: the highest random number must not fall off the end.
    rounded = Choice(("a", "b", "c"), (0.333, 0.333, 0.333))
    assert rounded.draw(SimpleNamespace(random=lambda: 1 - 2**-53)) == "c"  # type: ignore[arg-type]


def test_the_words_tokenizer_recovers_the_tokens_of_the_grammar() -> None:
    for index in range(300):
        pieces = list(draw_story(embedded(), Random(index)))
        text = "".join(space + word for space, word in pieces)
        assert words_of(text) == [token_of(word) for _, word in pieces]


def test_the_text_reads_like_text() -> None:
    for text in stories(500, seed=2):
        assert text[0].isupper() or text[0] == '"'
        assert not re.search(r"\s[.,!?:]|\s\s|^\s|\s$", text), text
        assert not re.search(r"\ba [aeio]|\ban [^aeio]", text, re.IGNORECASE), text
        assert not re.search(r'\. "?[a-z]', text), text
        assert text.count('"') % 2 == 0


def test_every_story_has_one_opening_one_setting_one_adventure_and_one_closing() -> None:
    starts = {name: start for name, (start, _) in story_templates.STAGES.items()}
    for topic in embedded().topics.items:
        lengths = {
            name: [len(unit) for turn in stage.turns for unit in turn.items]
            for name, stage in zip(starts, topic.stages, strict=True)
        }
        assert max(lengths["opening"]) < starts["early"] <= min(lengths["opening"]) + min(lengths["setting"])
        # From any start before the adventure no unit reaches past its stage, and the shortest one leaves it.
        assert max(lengths["opening"]) + max(lengths["setting"]) < starts["adventure"]
        assert max(lengths["early"]) <= starts["late"] - starts["adventure"] <= min(lengths["adventure"])
        assert starts["late"] - 1 + max(lengths["adventure"]) < starts["closing"]
        assert min(lengths["closing"]) >= 12


def test_stories_have_the_length_types_and_frequencies_of_a_small_natural_corpus(sample: list[list[str]]) -> None:
    assert min(map(len, sample)) >= 205
    assert 210 <= np.mean([len(tokens) for tokens in sample]) <= 240
    counts = sorted(Counter(itertools.chain.from_iterable(sample)).values(), reverse=True)
    assert 700 <= len(counts) <= 1400
    ranks = np.arange(5, 501)
    slope = np.polyfit(np.log(ranks), np.log(counts[4:500]), 1)[0]
    assert -1.4 < slope < -0.7


# --- truth against enumeration

COMMON = TopicText(
    "common",
    0,
    units={
        "opening": "- {A thing} was {hue}.\n- Once {she} saw {a thing}!",
        "body": "- {She} ran, {said} {name}.\n- So {hue} {hue}\n- The {thing}.",
    },
    tables={"hero": "name she\n Ada she\n Bob he", "spare": "unused\n one\n two"},
    lists={"hue": "red blue", "said": "said"},
)
TOPICS = (
    TopicText(
        "fruit",
        3,
        units={"body": "- {Eat} {name} {thing}", "closing": "- {name}, {eat} it.\n- End"},
        tables={"thing": "thing eat\n apple bite|eat\n pear peel"},
    ),
    TopicText(
        "animals",
        2,
        units={"body": "- {name} {she} {eat} the\n the {thing}", "closing": "- The {hue} {hue} end."},
        tables={"thing": "thing eat\n cat pet\n owl feed|eat\n apple eat"},
        lists={"hue": "red"},
    ),
)
# The body can be left out, and its two turns are told alternately.
TINY = read_grammar(TOPICS, COMMON, {"opening": (0, 1), "body": (5, 2), "closing": (12, 1)})


def all_stories(grammar: Grammar) -> Iterator[tuple[float, list[str]]]:
    """Yield every story of a grammar with its probability, straight from the definition."""
    for topic, topic_probability in zip(grammar.topics.items, grammar.topics.probabilities, strict=True):
        tables = list(topic.rows)
        for rows in itertools.product(*(topic.rows[table].items for table in tables)):
            given = dict(zip(tables, rows, strict=True))
            chance = topic_probability * np.prod([topic.rows[t].probabilities[row] for t, row in given.items()])
            for plot_probability, slots in all_plots(topic, 0, 0):
                choices = [slot.choices[0 if slot.table is None else given[slot.table]] for slot in slots]
                for drawn in itertools.product(*(range(len(choice.items)) for choice in choices)):
                    words = zip(choices, drawn, strict=True)
                    probability = np.prod([choice.probabilities[which] for choice, which in words])
                    tokens = [token_of(choice.items[which]) for choice, which in zip(choices, drawn, strict=True)]
                    yield float(chance * plot_probability * probability), tokens


def all_plots(topic: Topic, length: int, number: int) -> Iterator[tuple[float, list[Slot]]]:
    """Yield the slots of every story of a topic that goes on from token `length` with unit `number`."""
    now = max(index for index, stage in enumerate(topic.stages) if stage.start <= length)
    turns = topic.stages[now].turns
    choice = turns[number % len(turns)]
    for unit, probability in zip(choice.items, choice.probabilities, strict=True):
        if now == len(topic.stages) - 1:
            yield probability, list(unit)
            continue
        for rest_probability, rest in all_plots(topic, length + len(unit), number + 1):
            yield probability * rest_probability, [*unit, *rest]


@pytest.fixture(scope="module")
def enumerated() -> Weighted:
    return list(all_stories(TINY))


def expected_counts(weighted: Weighted, window: int, tokens: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    index = {token: number for number, token in enumerate(tokens)}
    bigram = np.zeros((len(tokens), len(tokens)))
    prefix_context = np.zeros_like(bigram)
    for probability, story_tokens in weighted:
        ids = [index[token] for token in story_tokens[: window + 1]]
        for t in range(1, len(ids)):
            bigram[ids[t - 1], ids[t]] += probability
            for prefix in ids[:t]:
                prefix_context[ids[t], prefix] += probability / t
    return bigram, prefix_context


def test_the_tiny_grammar_is_enumerated_whole(enumerated: Weighted) -> None:
    assert len(enumerated) > 1000
    assert sum(probability for probability, _ in enumerated) == pytest.approx(1, abs=1e-12)
    assert {token for _, tokens in enumerated for token in tokens} == set(vocabulary(TINY))
    assert {len(tokens) for _, tokens in enumerated} >= {13, 15, 20}


@pytest.mark.parametrize("window", [1, 4, 9, 14, 40])
def test_truth_equals_the_enumeration_of_all_stories(enumerated: Weighted, window: int) -> None:
    bigram, prefix_context = expected_counts(enumerated, window, vocabulary(TINY))
    exact = transitions(window, TINY)
    np.testing.assert_allclose(exact.expected_bigram, bigram, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(context(window, TINY), prefix_context, rtol=1e-12, atol=1e-14)
    assert exact.expected_positions == pytest.approx(bigram.sum(), rel=1e-12)
    np.testing.assert_allclose(exact.expected_current, bigram.sum(axis=1), rtol=1e-12, atol=1e-14)


def test_without_a_window_the_whole_story_is_counted(enumerated: Weighted) -> None:
    longest = max(len(tokens) for _, tokens in enumerated)
    bigram, _ = expected_counts(enumerated, longest, vocabulary(TINY))
    np.testing.assert_allclose(transitions(grammar=TINY).expected_bigram, bigram, rtol=1e-12, atol=1e-14)
    lengths = sum(probability * (len(tokens) - 1) for probability, tokens in enumerated)
    assert transitions(grammar=TINY).expected_positions == pytest.approx(lengths, rel=1e-12)


def test_a_window_without_positions_is_refused() -> None:
    with pytest.raises(FirstlightError, match="window 0"):
        transitions(0, TINY)


def test_a_grammar_with_a_mistake_says_where() -> None:
    with pytest.raises(ValueError, match=r"^\{nobody\} is neither a column nor a list: Here is \{nobody\}\.$"):
        read_unit("Here is {nobody}.", {})
    with pytest.raises(ValueError, match=r"without alternatives: Eat \{a fruit\}\.$"):
        read_grammar(
            [TopicText("t", 1, {"all": "- Eat {a fruit}."}, lists={"fruit": "fig apple"})], COMMON, {"all": (0, 1)}
        )


# --- truth against counting


def test_windows_are_always_full_and_the_bigram_matrix_is_centred(truth: Transitions) -> None:
    assert truth.expected_positions == pytest.approx(200, rel=1e-12)
    assert truth.alpha.sum() == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(truth.bigram.sum(axis=1), 0, atol=1e-15)
    assert transitions(210).expected_positions == pytest.approx(210, rel=1e-12)


def test_context_has_one_unit_of_weight_for_each_position(truth: Transitions, true_context: np.ndarray) -> None:
    # The weights 1/t of the t tokens of a prefix add up to 1, so rows sum to how often a token is the next one.
    np.testing.assert_allclose(true_context.sum(axis=1), truth.expected_bigram.sum(axis=0), rtol=1e-11, atol=1e-15)


def test_expected_counts_agree_with_counted_stories(
    sample: list[list[str]], truth: Transitions, true_context: np.ndarray
) -> None:
    size = len(truth.vocabulary)
    index = {token: number for number, token in enumerate(truth.vocabulary)}
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(2, size, 30))
    sums = {name: np.zeros((2, size, size)) for name in ("bigram", "context")}
    projected: dict[str, list[np.ndarray]] = {"bigram": [], "context": []}
    for tokens in sample[:2500]:
        ids = np.array([index[token] for token in tokens[:201]])
        kinds, local = np.unique(ids, return_inverse=True)
        one_hot = np.eye(len(kinds))[local]
        prefixes = np.cumsum(one_hot[:-1], axis=0) / np.arange(1, 201)[:, None]
        block = np.ix_(kinds, kinds)
        for name, counts in (("bigram", one_hot[:-1].T @ one_hot[1:]), ("context", one_hot[1:].T @ prefixes)):
            sums[name][0][block] += counts
            sums[name][1][block] += counts**2
            projected[name].append(((signs[0][kinds].T @ counts).T * signs[1][kinds]).sum(axis=0))
    for name, expected in (("bigram", truth.expected_bigram), ("context", true_context)):
        total, squares = sums[name]
        assert not np.any((expected == 0) & (total > 0)), "something happened that cannot"
        stories_counted = len(projected[name])
        error = np.sqrt(squares - total**2 / stories_counted)
        # Entries that rest on many stories, whose sums are close to normal. Bonferroni: a correct truth fails with
        # a probability of about 1e-4.
        common = total**2 > 150 * np.maximum(squares, 1e-300)
        z = (total[common] - stories_counted * expected[common]) / error[common]
        assert np.abs(z).max() < stats.norm.isf(0.5e-4 / z.size)
        assert np.std(z) == pytest.approx(1, abs=0.1)
        # Sums of all entries with random signs: rare ones count as well.
        samples = np.array(projected[name])
        true = np.einsum("ip,ij,jp->p", signs[0], expected, signs[1], optimize=True)
        errors = (samples.mean(axis=0) - true) / (samples.std(axis=0) / np.sqrt(stories_counted))
        assert stats.chi2.sf((errors**2).sum(), errors.size) > 1e-4


# --- planted associations


def test_planted_associations_show_in_the_true_statistics(truth: Transitions, true_context: np.ndarray) -> None:
    index = {token: number for number, token in enumerate(truth.vocabulary)}
    whole = transitions().expected_bigram
    following = whole / np.maximum(whole.sum(axis=1, keepdims=True), 1e-300)
    share = whole.sum(axis=0) / whole.sum()
    centred = transitions().bigram
    alike = cosines(centred.T @ centred)
    followed_alike = cosines(following)
    row, column = true_context.sum(axis=1), true_context.sum(axis=0)
    for plant in planted():
        token, partners = index[plant.token], [index[partner] for partner in plant.partners]
        assert partners, plant
        if plant.basis == "bigram":
            assert min(following[token, partners] / share[partners]) > 10, plant
        elif plant.basis == "context":
            lift = true_context[token, partners] * true_context.sum() / (row[token] * column[partners])
            assert min(lift) > 3, plant
        else:
            assert min(alike[token, partners]) > 0.75, plant
            assert min(followed_alike[token, partners]) > 0.75, plant
            assert min(alike[token, partners]) > np.quantile(alike[token], 0.85), plant


def cosines(rows: np.ndarray) -> np.ndarray:
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    return np.asarray(unit @ unit.T)


def test_every_basis_has_planted_associations_of_known_tokens() -> None:
    assert {plant.basis for plant in planted()} == {"bigram", "context", "interchangeability"}
    known = set(vocabulary())
    assert all({plant.token, *plant.partners} <= known for plant in planted())
    assert ("fish", "pond") in {(p.token, partner) for p in planted() if p.basis == "context" for partner in p.partners}
