"""The grammar of the embedded stories: hidden choices, stages, units of sentences, slots.

A story chooses a topic, then one row of each table of the topic (who it is about, which animal, ...), all
independent given the topic. Then it is told in units of one or more sentences. A unit that begins at token m is drawn
from the stage that m lies in, in turns, whatever was told before; the first unit of the last stage ends the story.
A unit has a fixed number of slots; a slot writes one token, drawn from words that depend on the row of at most one
table.

So the beginnings of units form a Markov chain over positions and turns, and two slots are independent given the topic
unless they ask the same table: that is what makes every expected count computable exactly (`story_truth`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, count
from math import fsum
from random import Random
from typing import Generic, TypeVar

from firstlight.corpus import story_templates, story_words
from firstlight.corpus import story_topics_home as home
from firstlight.corpus import story_topics_nature as nature
from firstlight.corpus import story_topics_outdoors as outdoors
from firstlight.corpus import story_topics_town as town
from firstlight.corpus.story_words import TopicText

Item = TypeVar("Item")


@dataclass(frozen=True)
class Choice(Generic[Item]):
    """Things to draw from, with their probabilities."""

    items: tuple[Item, ...]
    probabilities: tuple[float, ...]

    @cached_property
    def _steps(self) -> tuple[float, ...]:
        # Without the last step, which rounding may leave below 1: a draw can never fall off the end.
        return tuple(accumulate(self.probabilities))[:-1]

    def draw(self, random: Random) -> Item:
        """Draw one item; a choice of one takes no random number."""
        if len(self.items) == 1:
            return self.items[0]
        return self.items[bisect_right(self._steps, random.random())]


@dataclass(frozen=True)
class Slot:
    """The place of one token.

    Attributes:
        table: The table whose row it asks, or None.
        choices: For each row of the table the words it draws from; a single choice when it asks no table.
        space: What is written before the token: a space or nothing.
    """

    table: str | None
    choices: tuple[Choice[str], ...]
    space: str = " "


# One or more sentences that belong together.
Unit = tuple[Slot, ...]


@dataclass(frozen=True)
class Stage:
    """A stretch of a story: the units that may begin at token `start` or later, before the next stage.

    Attributes:
        start: The first token at which a unit of the stage may begin.
        turns: The units, dealt into turns: the n-th unit of a story, from 0, is drawn from turn n modulo their number.
    """

    start: int
    turns: tuple[Choice[Unit], ...]


@dataclass(frozen=True)
class Topic:
    """What a story is about: its tables, each a choice of a row number, and its stages in order."""

    name: str
    rows: Mapping[str, Choice[int]]
    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class Grammar:
    """All topics, with their probabilities."""

    topics: Choice[Topic]


def token_of(word: str) -> str:
    """Return the token that the `words` tokenizer makes of a word of the grammar."""
    return word.lower()


def draw_story(grammar: Grammar, random: Random) -> Iterator[tuple[str, str]]:
    """Tell one story: for each token what is written before it, and the token as it is written."""
    topic = grammar.topics.draw(random)
    rows: dict[str | None, int] = {table: rows.draw(random) for table, rows in topic.rows.items()}
    rows[None] = 0
    starts = [stage.start for stage in topic.stages]
    length = 0
    for number in count():
        now = bisect_right(starts, length) - 1
        turns = topic.stages[now].turns
        unit = turns[number % len(turns)].draw(random)
        for slot in unit:
            yield slot.space, slot.choices[rows[slot.table]].draw(random)
        length += len(unit)
        if now == len(starts) - 1:
            return


def zipf(number: int) -> tuple[float, ...]:
    """Return falling probabilities for items in order of rank: proportional to 1 / (rank + 1)."""
    return _normalised([1 / (rank + 1) for rank in range(1, number + 1)])


def _normalised(weights: Sequence[int] | Sequence[float]) -> tuple[float, ...]:
    # sum() rounds in different ways in different versions of Python.
    total = fsum(weights)
    return tuple(weight / total for weight in weights)


# Where the words of a name in braces come from: its table, if it is a column of one, and a choice for each row.
Source = tuple[str | None, tuple[Choice[str], ...]]


def read_table(text: str) -> dict[str, tuple[Choice[str], ...]]:
    """Read the table of a story variable: for each column the words of each row."""
    header, *rows = [line.split() for line in text.strip().splitlines()]
    columns = zip(*rows, strict=True)
    return {name: tuple(_words(cell.split("|")) for cell in cells) for name, cells in zip(header, columns, strict=True)}


def _words(words: Sequence[str]) -> Choice[str]:
    return Choice(tuple(words), zipf(len(words)))


def read_units(block: str) -> list[str]:
    """Split a block of text into its units, each opened by a line that begins with "- "."""
    return [" ".join(unit.split()) for unit in re.split(r"^ *- ", block, flags=re.MULTILINE) if unit.strip()]


# A name in braces, perhaps with its article, or what the `words` tokenizer takes for one token; and the space before.
_PIECE = re.compile(r"(\s*)(?:\{(?:([aA]):)?(\w+)\}|([^\W\d_]+|\S))")


def read_unit(text: str, sources: Mapping[str, Source]) -> tuple[Slot, ...]:
    """Read one unit of sentences as slots.

    `{name}` stands for a word of that column or list, `{Name}` for the same with a capital, and `{a name}` for two
    tokens: the article that fits the word, and the word.
    """
    slots = []
    for space, article, name, word in _PIECE.findall(re.sub(r"\{([aA]) (\w+)\}", r"{\1:\2} {\2}", " " + text)):
        if name and name.lower() not in sources:
            raise ValueError(f"{{{name}}} is neither a column nor a list: {text}")
        table, choices = sources[name.lower()] if name else (None, (_words([word]),))
        if article:
            choices = tuple(_article(choice, text) for choice in choices)
        if (article or name)[:1].isupper():
            choices = tuple(_capitals(choice) for choice in choices)
        slots.append(Slot(table, choices, " " if space else ""))
    return tuple(slots)


def _article(choice: Choice[str], unit: str) -> Choice[str]:
    if len(choice.items) > 1:
        raise ValueError(f"an article can only be written for a column without alternatives: {unit}")
    return _words(["an" if choice.items[0][0] in "aeio" else "a"])


def _capitals(choice: Choice[str]) -> Choice[str]:
    return Choice(tuple(word[0].upper() + word[1:] for word in choice.items), choice.probabilities)


def read_topic(text: TopicText, common: TopicText, plan: Mapping[str, tuple[int, int]]) -> Topic:
    """Read a topic: its own tables, lists and units together with those that every topic has.

    Args:
        text: The topic.
        common: Tables and lists the topic may replace by its own, and units that share each stage half and half.
        plan: For each stage the token from which on its units may begin, and its number of turns; in order.
    """
    sources: dict[str, Source] = {
        name: (None, (_words(words.split()),)) for name, words in {**common.lists, **text.lists}.items()
    }
    rows = {}
    for table, cells in {**common.tables, **text.tables}.items():
        columns = read_table(cells)
        number = len(next(iter(columns.values())))
        rows[table] = Choice(tuple(range(number)), zipf(number))
        sources |= {column: (table, choices) for column, choices in columns.items()}
    stages = []
    for stage, (start, turns) in plan.items():
        kinds = [
            [read_unit(unit, sources) for unit in read_units(texts.units[stage])]
            for texts in (common, text)
            if stage in texts.units
        ]
        stages.append(Stage(start, tuple(_share([units[turn::turns] for units in kinds]) for turn in range(turns))))
    return Topic(text.name, rows, tuple(stages))


def _share(kinds: Sequence[Sequence[Unit]]) -> Choice[Unit]:
    """Let every kind that has units come equally often, and so every unit of one kind."""
    weights = [1 / len(units) for units in kinds for _ in units]
    return Choice(tuple(unit for units in kinds for unit in units), _normalised(weights))


def read_grammar(texts: Sequence[TopicText], common: TopicText, plan: Mapping[str, tuple[int, int]]) -> Grammar:
    """Read a grammar from the texts of its topics and what they have in common."""
    topics = tuple(read_topic(text, common, plan) for text in texts)
    return Grammar(Choice(topics, _normalised([text.weight for text in texts])))


TOPICS = (
    *(nature.ANIMALS, nature.FARM, nature.SEA, nature.PETS, nature.GARDEN),
    *(outdoors.BUGS, outdoors.WEATHER, outdoors.NIGHT, outdoors.CASTLE, outdoors.PARK, outdoors.TRAVEL),
    *(home.TOYS, home.BIRTHDAY, home.KITCHEN, home.TOOLS, home.ART),
    *(town.SCHOOL, town.LOST, town.MARKET, town.FEELINGS, town.MUSIC),
)


@cache
def embedded() -> Grammar:
    """Return the grammar of the stories that come with the package."""
    common = TopicText("common", 0, story_templates.UNITS, story_words.TABLES, story_words.LISTS)
    return read_grammar(TOPICS, common, story_templates.STAGES)
