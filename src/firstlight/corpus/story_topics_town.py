"""Topics about people, places and feelings; `story_templates` explains the notation."""

from firstlight.corpus.story_words import TopicText

SCHOOL = TopicText(
    name="school",
    weight=7,
    tables={
        "lesson": """
            subject   book    words    read
            reading   book    words    read
            counting  abacus  numbers  count
            writing   pencil  letters  write
            singing   piano   songs    sing
            science   magnet  rocks    study
        """,
        "teacher": """
            miss   miss_she
            Rose   she
            Field  she
            Brook  she
            Lark   she
        """,
    },
    lists={"class": "class school group playground"},
    units={
        "setting": """
        - It was the first day of school. {name} sat at a desk next to {friend}. Miss {miss} held up {a book}. "Today
          we learn {subject}," {miss_she} said.
        - {name} was afraid of {subject}. {He} did not know how to {read} the {words}. Miss {miss} came to {his} desk
          with {a book}.
        - "Who likes {subject}?" asked Miss {miss}. {name} put up {his} hand. {He} wanted to {read} all the {words} in
          the world.
        """,
        "early": """
        - Miss {miss} put {a book} on the desk. "Let us {read} some {words}," {miss_she} said.
        - "I can {read} {two} {words}," {said} {name}. "I can {read} more {words} than that," {said} {friend}.
        - The {class} was quiet. {name} took the {book} and began to {read}.
        - In the break {name} and {friend} played near the desk. They still talked about {subject}.
        - "{Subject} is hard," {said} {friend}. "It is fun to {read} {words}," {said} {name}.
        """,
        "adventure": """
        - {name} had to {read} {words} in front of the {class}. {His} knees shook, and {he} was {sad}. Then {friend}
          held up the {book}, and {name} remembered everything. Miss {miss} clapped.
        - The {book} was gone from the desk! "Without it there is no {subject} today," said Miss {miss}. {name}
          {looked} and {looked}. It had fallen behind the desk, with all the {words}.
        - A new child came to the {class}. She could not {read} any {words}, and she was {sad}. {name} shared {his}
          {book} and helped her with {subject} until the bell rang.
        """,
        "late": """
        - "Well done, {name}," said Miss {miss}. "Now you can {read} all the {words}."
        - {name} took the {book} home and showed {his} {parent} how to {read} the {words}.
        - {Subject} was not hard any more. {name} left {his} desk with {his} head up.
        - Miss {miss} wrote a star on the desk and gave the {book} to {name}.
        """,
    },
)

LOST = TopicText(
    name="lost",
    weight=5,
    tables={
        "lost": """
            key     drawer  wedding
            key     drawer  tour
            ring    sink    wedding
            button  sofa    dance
            coin    pocket  fair
            ticket  wallet  show
        """,
    },
    lists={"place": "carpet curtain mat pile newspaper", "search": "search look hunt dig"},
    units={
        "setting": """
        - {name} had lost the {key}. {He} {looked} everywhere, but it was not in the {drawer}. "I need the {key} for the
          {wedding}," {he} said.
        - "Have you seen my {key}?" asked {his} {parent}. "It was in the {drawer}." {name} {wanted} to find it for the
          {wedding}.
        - There was an empty {drawer} in the {room}. Where was the {key} for the {wedding}? {name} began to {search}.
        """,
        "early": """
        - {name} {looked} under the {place}, but the {key} was not there.
        - "Did you {search} in the {drawer}?" asked {friend}. "Twice," {said} {name}.
        - Under the {place} {name} found {two} {hue} buttons and a {stone}, but no {key}.
        - "Without the {key} there is no {wedding}," {said} {name}. {He} was {sad}.
        - {friend} began to {search} behind the {place}. "No {key} here," {friend_he} {said}.
        """,
        "adventure": """
        - Something shiny moved near the {tree}. A magpie had the {key}! {name} climbed up {slowly}, and the bird flew
          off. The {key} fell down, right into the {hand} of {friend}. Now they could use it for the {wedding}.
        - {name} was about to cry. Then {he} saw a {hue} string under the {place}. {He} pulled it, and out of the
          {drawer} came the {key}! "Just in time for the {wedding}," {said} {friend}.
        - "Think," said {his} {parent}. "Where did you have the {key} last?" {name} closed {his} eyes. The {drawer}!
          {He} {ran} to it and {looked} again, and under a {place} lay the {key}.
        """,
        "late": """
        - {name} put the {key} back in the {drawer}. "I will never lose it again," {he} {said}.
        - They had the {key} for the {wedding}, and {name} was proud.
        - "You found the {key}!" {said} {his} {parent}. "You can really {search}."
        - {friend} laughed. The {key} had been so near the {drawer} all day.
        """,
    },
)

MARKET = TopicText(
    name="market",
    weight=4,
    tables={
        "seller": """
            baker    baked     buns      fresh
            baker    baked     buns      warm
            tailor   stitched  coats     woolen
            cobbler  mended    shoes     leather
            potter   shaped    mugs      clay
            butcher  sliced    sausages  smoked
        """,
    },
    lists={
        "coins": "coins dollars pennies cents",
        "stall": "stall counter cart",
        "cheap": "cheap fine lovely popular",
    },
    units={
        "setting": """
        - On market day {name} and {his} {parent} went to see the {baker}. The {baker} had {baked} {fresh} {buns} all
          night.
        - "Buy my {buns}! {Fresh} {buns}!" {said} the {baker}. {name} had {two} coins in {his} pocket and {ran} to the
          {stall}.
        - {name} wanted to be {a baker}. At the {stall} {he} watched how the {baker} {baked} the {fresh} {buns}.
        """,
        "early": """
        - "How many coins for the {buns}?" asked {name}. "{Two} coins," said the {baker}.
        - The {baker} {baked} the {buns}, and {name} put them on the {stall}.
        - The {fresh} {buns} were {cheap}. {friend} paid with {two} coins.
        - "A {baker} gets up early," said the {baker}. "I have {baked} {buns} since I was a child."
        - {name} {looked} at the {stall}. There were {two} {fresh} {buns} on it, and one was {hue}.
        """,
        "adventure": """
        - A dog {ran} off with the {buns}! The {baker} was {sad}. {name} followed the dog past the {stall} and gave it
          some {treat}. It dropped the {buns}, and they were as good as new.
        - Nobody came to the {stall}, and the {baker} was {sad}. {name} had a plan. {He} sang a song about {fresh}
          {buns}, and all the {village} came to see what the {baker} had {baked}.
        - The {baker} had hurt his {hand}. Who would help with the {buns}? {name} {baked} and {baked} all day at the
          {stall}, and in the evening there were {two} coins in the box.
        """,
        "late": """
        - The {baker} gave {name} some {fresh} {buns} and would not take any coins.
        - The market was over. The {stall} was empty, and all the {buns} were sold.
        - "Next week I will have {cheap} {buns}," said the {baker}, and closed the {stall}.
        - {name} shared the {fresh} {buns} with {friend}. They thanked the {baker}.
        """,
    },
)

FEELINGS = TopicText(
    name="feelings",
    weight=7,
    tables={
        "event": """
            gift      feeling                      cried
            gift      happy|glad|delighted         smiled|grinned
            storm     scared|afraid|frightened     trembled|hid
            goodbye   sad|unhappy|gloomy           cried|sobbed|wept
            insult    angry|cross|furious          stomped|frowned
            prize     proud|pleased|honored        cheered|bowed
            surprise  surprised|amazed|astonished  gasped|blinked
            test      nervous|worried|anxious      fidgeted|sighed
            lullaby   calm|peaceful|sleepy         yawned|rested
        """,
    },
    lists={"heart": "heart face belly", "inside": "inside again today tonight still"},
    units={
        "setting": """
        - One {morning} there was {a gift} for {name}. {He} {cried} and {felt} {very} {feeling}. {friend} asked what was
          going on.
        - {name} had a {big} feeling. It came after the {gift}, and it made {him} {feeling}. {His} {heart} was warm, and
          {he} {cried}.
        - "Why are you so {feeling}?" asked {his} {parent}. "It is because of the {gift}," {said} {name}, and {he}
          {cried}.
        """,
        "early": """
        - {name} {felt} {feeling} {inside}. "Is it the {gift}?" asked {friend}.
        - "After {a gift} I am {always} {feeling}," said {his} {parent}. {name} {cried}.
        - {name} {cried}. {He} was so {feeling} that {his} {heart} jumped.
        - "You look {feeling}," {said} {friend}. "I am {feeling}," {said} {name}, "and I {felt} {feeling} all day."
        - {name} told {his} {parent} about the {gift}. "I would be {feeling} too," {parent_he} said.
        """,
        "adventure": """
        - Then there was another {gift}, and {friend} {cried}. "I am {feeling}," {friend_he} said. {name} took
          {friend_his} hand. "I know how you feel," {he} said. "I was {feeling} too."
        - {name} did not want to be {feeling}. {He} {ran} to the {tree} and {cried}. {His} {parent} came and sat down.
          "Everybody is {feeling} after {a gift}," {parent_he} said, and {hugged} {him}.
        - {name} drew a {hue} face for every feeling. The {feeling} face {cried}. "This one is for the {gift}," {he}
          said, and {his} {heart} was warm.
        """,
        "late": """
        - {name} thought about the {gift} and was not so {feeling} {inside}.
        - "It is all right to be {feeling}," {said} {his} {parent}. "Even I am {feeling} after {a gift}."
        - {friend} {cried} and {name} {cried}, and then both of them laughed about the {gift}.
        - {name} {felt} {feeling} one more time, and then the feeling went away.
        """,
    },
)

MUSIC = TopicText(
    name="music",
    weight=4,
    tables={
        "instrument": """
            instrument  tap    tapped   boom
            drum        tap    tapped   boom
            flute       blow   blew     toot
            piano       press  pressed  plink
            violin      bow    bowed    squeal
            bell        ring   rang     ding
        """,
    },
    lists={
        "song": "song tune march lullaby waltz",
        "loud": "loud soft sweet merry clear",
        "band": "band choir orchestra group",
    },
    units={
        "setting": """
        - {name} found {a instrument} in the attic. {He} {tapped} it once. {Boom}! What a {loud} sound it made!
        - The {band} needed someone who could play a {song}. "I can {tap} the {instrument}," said {name}.
        - "{Boom}, {boom}," went the {instrument}. {name} {tapped} it every {morning}, for {he} wanted to be in the
          {band}.
        """,
        "early": """
        - {name} {tapped} the {instrument}. {Boom}! "That is too {loud}," said {his} {parent}.
        - "You must {tap} it like this," said the {band}, and the {instrument} played a {loud} {song}.
        - {friend} danced while {name} {tapped} the {instrument}. {Boom}, {boom}, {boom}!
        - {name} learned a new {song}. {He} {tapped} the {instrument} {slowly}, then faster.
        - All the {village} could hear the {instrument} go {boom}. It was a {loud} {song}.
        """,
        "adventure": """
        - On the day of the concert the {instrument} made no sound. No {boom}, nothing! {name} was {sad}. {friend}
          {looked} inside and found a sleeping mouse. Then {name} {tapped} it, and there was a {loud} {boom}.
        - {name} was alone in the {big} forest and could not find the way. {He} {tapped} the {instrument} as hard as
          {he} could. {Boom}! {His} {parent} heard the {song} and came at once.
        - The {band} laughed at the old {instrument}. But {name} {tapped} it, {boom}, {boom}, and the {song} was so
          {loud} that even the birds listened. "Please play with us," said the {band}.
        """,
        "late": """
        - The {band} clapped. "{Boom}!" said the {instrument} one last time.
        - {name} let {friend} {tap} the {instrument} too. They played a {loud} {song}.
        - "I will {tap} my {instrument} every day," {said} {name}. "Not before breakfast," said {his} {parent}.
        - {name} hummed the {song} on the way home, and {friend} went {boom}, {boom}.
        """,
    },
)
