"""Exact statistics of the embedded stories: what counting endlessly many of them comes to, without telling one.

`story_chain` says how often one kind of slot comes before another; here the words of the slots are put in. Slots that
ask the same table are not independent, so these pairs are counted row by row of the table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse
from jaxtyping import Float

from firstlight.corpus import story_topics_home as home
from firstlight.corpus import story_topics_nature as nature
from firstlight.corpus import story_topics_outdoors as outdoors
from firstlight.corpus import story_topics_town as town
from firstlight.corpus import story_words
from firstlight.corpus.story_chain import Chain, chain_of, neighbours, next_weights, predecessors
from firstlight.corpus.story_grammar import Choice, Grammar, Slot, Topic, embedded, read_table, token_of
from firstlight.corpus.story_words import TopicText


@dataclass(frozen=True)
class Transitions:
    """Expected counts of one-step transitions in one story, or in its first `window` + 1 tokens.

    Attributes:
        vocabulary: Every token that can occur, sorted; the axes of the arrays.
        expected_bigram: How often a token is followed by another.
    """

    vocabulary: tuple[str, ...]
    expected_bigram: Float[np.ndarray, "current next"]

    @cached_property
    def expected_current(self) -> Float[np.ndarray, " current"]:
        """How often a token stands at a position that has a next token."""
        return np.asarray(self.expected_bigram.sum(axis=1))

    @cached_property
    def expected_positions(self) -> float:
        """The number of positions that have a next token: `window` when no story is shorter."""
        return float(self.expected_bigram.sum())

    @cached_property
    def alpha(self) -> Float[np.ndarray, " current"]:
        """The share of positions at which a token stands, in a corpus of endlessly many stories."""
        return self.expected_current / self.expected_positions

    @cached_property
    def bigram(self) -> Float[np.ndarray, "current next"]:
        """The centred bigram matrix B̄ of a corpus of endlessly many stories; its rows sum to 0."""
        return self.expected_bigram / self.expected_positions - self.alpha[:, None] / len(self.vocabulary)


def vocabulary(grammar: Grammar | None = None) -> tuple[str, ...]:
    """Return every token that can occur in a story, sorted."""
    grammar = grammar or embedded()
    turns = [turn for topic in grammar.topics.items for stage in topic.stages for turn in stage.turns]
    slots = {slot for turn in turns for unit in turn.items for slot in unit}
    return tuple(sorted({token_of(word) for slot in slots for choice in slot.choices for word in choice.items}))


def transitions(window: int | None = None, grammar: Grammar | None = None) -> Transitions:
    """Return the exact expected counts of one-step transitions.

    Args:
        window: Count the first `window` positions and their next tokens only; the whole story when None.
        grammar: The grammar the stories are of; the embedded one when None.
    """
    grammar = grammar or embedded()
    tokens = vocabulary(grammar)
    counts = _expected(grammar, tokens, lambda chain: neighbours(chain, next_weights(chain, window, harmonic=False)))
    return Transitions(tokens, counts)


def context(window: int, grammar: Grammar | None = None) -> Float[np.ndarray, "next prefix"]:
    """Return the exact expected context counts, not centred: E[sum_t (1/t) #(prefix in x_1..x_t) 1(y_t = next)].

    Both axes are `vocabulary(grammar)`. Divided by the number of positions and centred, this is Φ̄.

    Args:
        window: The number of positions t, counted from 1.
        grammar: The grammar the stories are of; the embedded one when None.
    """
    grammar = grammar or embedded()
    counts = _expected(
        grammar, vocabulary(grammar), lambda chain: predecessors(chain, next_weights(chain, window, harmonic=True))
    )
    return counts.T


def _expected(
    grammar: Grammar, tokens: Sequence[str], count: Callable[[Chain], Float[np.ndarray, "first second"]]
) -> Float[np.ndarray, "first_token second_token"]:
    """Count pairs of slots in each topic, and add them up as pairs of tokens."""
    total = np.zeros((len(tokens), len(tokens)))
    for topic, probability in zip(grammar.topics.items, grammar.topics.probabilities, strict=True):
        chain = chain_of(topic)
        total += probability * _spelled(count(chain), chain.kinds, topic, tokens)
    return total


def _spelled(
    pairs: Float[np.ndarray, "first second"], kinds: Sequence[Slot], topic: Topic, tokens: Sequence[str]
) -> Float[np.ndarray, "first_token second_token"]:
    """Turn pairs of slots into pairs of tokens."""
    index = {token: number for number, token in enumerate(tokens)}
    independent = pairs.copy()
    together = scipy.sparse.csr_array((len(tokens), len(tokens)))
    for table, rows in topic.rows.items():
        asking = [number for number, kind in enumerate(kinds) if kind.table == table]
        block = np.ix_(asking, asking)
        for row, probability in zip(rows.items, rows.probabilities, strict=True):
            words = _word_matrix([kinds[number].choices[row] for number in asking], index)
            together = together + probability * (words.T @ scipy.sparse.csr_array(pairs[block]) @ words)
        independent[block] = 0
    words = _word_matrix([_over_rows(kind, topic) for kind in kinds], index)
    return np.asarray(words.T @ (independent @ words) + together.toarray())


def _over_rows(kind: Slot, topic: Topic) -> Choice[str]:
    """Return what a slot draws from when the row of its table is not known; a word may stand in it twice."""
    if kind.table is None:
        return kind.choices[0]
    words = [word for choice in kind.choices for word in choice.items]
    weighted = zip(topic.rows[kind.table].probabilities, kind.choices, strict=True)
    return Choice(tuple(words), tuple(row * word for row, choice in weighted for word in choice.probabilities))


def _word_matrix(choices: Sequence[Choice[str]], index: dict[str, int]) -> scipy.sparse.csr_array:
    """Return the probability of each token in each choice."""
    rows = [number for number, choice in enumerate(choices) for _ in choice.items]
    columns = [index[token_of(word)] for choice in choices for word in choice.items]
    values = [probability for choice in choices for probability in choice.probabilities]
    # A token written twice, with and without a capital or in two rows, is added up.
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(len(choices), len(index)), dtype=np.float64)


@dataclass(frozen=True)
class Planted:
    """An association put into the grammar on purpose.

    Attributes:
        basis: "bigram": each partner follows the token more often than it follows others. "context": each partner,
            somewhere before, makes it more likely that the token comes next. "interchangeability": token and partners
            stand in the same places, so before and after them come nearly the same tokens.
        token: The token it is about.
        partners: The tokens it goes with.
        why: What in the stories makes it so.
    """

    basis: Literal["bigram", "context", "interchangeability"]
    token: str
    partners: tuple[str, ...]
    why: str


# Which column of a table goes with which others of its row: bigram from the first to the others, context into it.
_BIGRAMS: tuple[tuple[TopicText, str, str, str, str], ...] = (
    (nature.ANIMALS, "animal", "animal", "swam", "an animal and what it does"),
    (nature.FARM, "animal", "animal", "moo mooed", "a farm animal and its voice"),
    (nature.SEA, "creature", "creature", "paddled", "a sea creature and how it moves"),
    (nature.PETS, "pet", "pet", "barked", "a pet and its voice"),
    (outdoors.TRAVEL, "vehicle", "vehicle", "chugged", "a vehicle and how it goes"),
    (outdoors.CASTLE, "figure", "figure", "roared", "a figure of a fairy tale and its manners"),
    (outdoors.NIGHT, "light", "light", "glow glowed", "a light and how it shines"),
    (home.TOYS, "toy", "toy", "rolled", "a toy and how it moves"),
    (home.ART, "picture", "shade", "apple", "a color and a thing of that color"),
    (town.MARKET, "seller", "baker", "baked", "a trade and its work"),
)
_CONTEXTS: tuple[tuple[TopicText, str, str, str, str], ...] = (
    (nature.ANIMALS, "animal", "animal", "home food fins", "an animal, where it lives and what it eats"),
    (nature.FARM, "animal", "animal", "home milk hay", "a farm animal, where it lives and what it gives"),
    (nature.SEA, "creature", "creature", "reef paddle shell", "a sea creature and where it swims"),
    (nature.PETS, "pet", "pet", "basket bark bones", "a pet and where it sleeps"),
    (nature.GARDEN, "plant", "plants", "plant", "one plant and many"),
    (outdoors.BUGS, "bug", "bug", "hive spots", "an insect and where it sits"),
    (outdoors.WEATHER, "weather", "clothes", "sunny", "clothes for the weather"),
    (outdoors.WEATHER, "weather", "sun", "sunny puddles", "weather and what it is called"),
    (outdoors.CASTLE, "figure", "figure", "cave flame", "a figure of a fairy tale, its home and its treasure"),
    (outdoors.TRAVEL, "vehicle", "vehicle", "station captain", "a vehicle, where it stops and who steers it"),
    (outdoors.PARK, "game", "game", "racket kick goal", "a game and what it is played with"),
    (home.KITCHEN, "dish", "dish", "pot stir onions", "a dish and what goes into it"),
    (home.TOOLS, "tool", "tool", "nails pound shelf", "a tool and its job"),
    (town.SCHOOL, "lesson", "subject", "book words", "a lesson and what it needs"),
    (town.MARKET, "seller", "baker", "buns", "a trade and its wares"),
    (town.FEELINGS, "event", "feeling", "gift cried", "a feeling and what brings it"),
    (town.MUSIC, "instrument", "instrument", "tap boom", "an instrument and its sound"),
)
_INTERCHANGEABLE = (
    ("red blue green yellow pink white purple", "colors stand before the same things"),
    ("she he", "a story is about a girl or a boy"),
    ("nora oscar maya hugo clara omar", "heroes differ in name only"),
    ("ben dora nico kira yusuf", "friends differ in name only"),
    ("mother father grandma grandpa", "any grown-up can be the one at home"),
    ("happy glad joyful proud pleased sad angry", "feelings are felt in the same sentences"),
    ("walked hurried skipped raced", "there are many ways to get somewhere"),
    ("brave kind clever gentle", "anybody is something good"),
    ("ball doll boat drum", "toys are played with alike"),
)


def planted() -> tuple[Planted, ...]:
    """Return the associations planted in the embedded grammar."""
    toys = tuple(token for (token,) in _cells(home.TOYS, "toy", "toy"))
    colours = story_words.LISTS["hue"].split()
    return (
        *(Planted("bigram", colour, toys, "toys are told by their color") for colour in colours),
        *_from_tables("bigram", _BIGRAMS),
        *_from_tables("context", _CONTEXTS),
        *(Planted("interchangeability", *_first_and_others(words.split()), why) for words, why in _INTERCHANGEABLE),
    )


def _first_and_others(words: list[str]) -> tuple[str, tuple[str, ...]]:
    return words[0], tuple(words[1:])


def _from_tables(
    basis: Literal["bigram", "context"], columns: Sequence[tuple[TopicText, str, str, str, str]]
) -> Iterator[Planted]:
    """Yield what the rows of the tables say: for each word of the one column the words of the others."""
    for text, table, column, others, why in columns:
        partners = zip(*(_cells(text, table, other) for other in others.split()), strict=True)
        for tokens, cells in zip(_cells(text, table, column), partners, strict=True):
            for token in tokens:
                yield Planted(basis, token, tuple(word for cell in cells for word in cell if word != token), why)


def _cells(text: TopicText, table: str, column: str) -> list[tuple[str, ...]]:
    """Return the tokens of a column, row by row."""
    return [tuple(token_of(word) for word in choice.items) for choice in read_table(text.tables[table])[column]]
