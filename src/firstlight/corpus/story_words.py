"""The words every story may use: who is in it, and the lists its sentences draw from.

A table is a story variable: one row is chosen for a whole story, and its columns are what sentences can say of it.
A cell with alternatives, `swim|dive`, is drawn afresh each time. A list is drawn afresh each time as well.
Rows, alternatives and lists stand in order of falling weight (see `story_grammar.zipf`).
A word that can follow "a" must not begin with a vowel, unless its article is written `{a column}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TopicText:
    """A topic as it is written: tables and lists of its own, and its sentences by stage.

    Attributes:
        name: What the stories of the topic are about.
        weight: How often the topic is told, relative to the others.
        units: For each stage a block of text; every line that begins with "- " opens one unit of sentences.
        tables: Story variables that the topic adds, or puts in the place of a common one of the same name.
        lists: Word lists that the topic adds or replaces.
    """

    name: str
    weight: int
    units: Mapping[str, str]
    tables: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)


HERO = """
    name   he   him  his  girl
    Nora   she  her  her  girl
    Oscar  he   him  his  boy
    Maya   she  her  her  girl
    Hugo   he   him  his  boy
    Clara  she  her  her  girl
    Omar   he   him  his  boy
    Freya  she  her  her  girl
    Theo   he   him  his  boy
    Hana   she  her  her  girl
    Milo   he   him  his  boy
    Tess   she  her  her  girl
    Kofi   he   him  his  boy
    Amina  she  her  her  girl
    Jonas  he   him  his  boy
    Pia    she  her  her  girl
    Ravi   he   him  his  boy
"""

FRIEND = """
    friend  friend_he  friend_him  friend_his
    Ben     he         him         his
    Dora    she        her         her
    Nico    he         him         his
    Kira    she        her         her
    Yusuf   he         him         his
    Suki    she        her         her
    Otto    he         him         his
    Bea     she        her         her
"""

PARENT = """
    parent   parent_he
    mother   she
    father   he
    grandma  she
    grandpa  he
    aunt     she
    uncle    he
"""

COLOUR = """
    colour
    red
    blue
    green
    yellow
    pink
    purple
    white
    brown
"""

TOY = """
    toy    rolled
    ball   bounced|rolled
    kite   soared|swooped
    doll   twirled|wobbled
    car    zoomed|raced
    boat   floated|bobbed
    drum   boomed|rattled
    train  puffed|chugged
    robot  beeped|clanked
"""

WEATHER = """
    sunny  sun   shone                  clothes
    sunny  sun   shone|glowed|sparkled  hat|cap|sandals
    windy  wind  blew|whistled|howled   jacket|hood|sweater
    rainy  rain  fell|poured|dripped    boots|raincoat|galoshes
    snowy  snow  fell|swirled|drifted   mittens|scarf|gloves
    foggy  fog   lay|crept|drifted      coat|vest|sweater
"""

# For topics that belong outdoors in the warm half of the year.
SUMMER = """
    sunny  sun   shone                  clothes
    sunny  sun   shone|glowed|sparkled  hat|cap|sandals
    windy  wind  blew|whistled|howled   jacket|hood|sweater
    rainy  rain  fell|poured|dripped    boots|raincoat|galoshes
"""

JOY = """
    glad
    happy|glad|joyful
    proud|pleased
    excited|thrilled
    cheerful|merry
    calm|peaceful
"""

GLOOM = """
    sad
    sad|unhappy|gloomy
    scared|afraid|frightened
    worried|nervous|upset
    lonely|forlorn
    angry|cross|grumpy
    confused|puzzled
"""

VILLAGE = """
    village
    village
    town
    valley
    city
    harbor
"""

HOUSE = """
    house
    house
    cottage
    cabin
    tower
    bungalow
"""

TABLES = {
    "hero": HERO,
    "friend": FRIEND,
    "parent": PARENT,
    "colour": COLOUR,
    "toy": TOY,
    "village": VILLAGE,
    "house": HOUSE,
    "weather": WEATHER,
    "joy": JOY,
    "gloom": GLOOM,
}

LISTS = {
    # Adjectives that may follow "a".
    "big": "big small little tiny huge great giant",
    "nice": "nice pretty lovely good beautiful special wonderful",
    "kind": "kind brave clever gentle cheerful curious friendly",
    "quiet": "quiet little sleepy pretty busy sunny peaceful",
    "hue": "red blue green yellow pink white purple brown black grey",
    "warm": "warm soft cozy thick fluffy woolly",
    # Things and places.
    "river": "river forest lake hill sea mill bridge",
    "tree": "tree gate hill bridge fence river path wall well",
    "stone": "stone leaf feather stick shell pebble flower button",
    "bed": "bed table chair rug sofa bench stairs",
    "treat": "cake bread soup cheese fruit honey toast juice jam",
    "hand": "hand arm cheek shoulder finger sleeve nose",
    "room": "kitchen hall yard bedroom porch attic cellar",
    "sky": "clouds birds stars leaves swallows rooftops treetops",
    "morning": "morning day afternoon evening",
    "lesson": "kindness patience courage sharing honesty friendship trust",
    "plan": "plan question secret joke wish riddle dream",
    # Verbs.
    "ran": "ran walked hurried skipped raced hopped marched danced",
    "smiled": "smiled laughed giggled nodded grinned waved clapped",
    "looked": "looked stared peeked pointed gazed glanced",
    "said": "said called shouted whispered answered laughed cried sang",
    "play": "play sing dance run jump read draw explore climb dream",
    "wanted": "wanted tried liked loved hoped decided began",
    "felt": "felt was looked seemed",
    "hugged": "hugged thanked kissed helped followed tickled",
    # The rest.
    "slowly": "slowly quickly quietly carefully gently happily softly bravely",
    "very": "very so quite really",
    "two": "two three four five six seven ten",
    "always": "always often usually sometimes",
}
