"""Topics about the house and what is made there; `story_templates` explains the notation."""

from firstlight.corpus.story_words import TopicText

TOYS = TopicText(
    name="toys",
    weight=12,
    tables={
        "toy": """
            toy    rolled           rubber
            ball   bounced|rolled   rubber
            kite   soared|swooped   paper
            doll   twirled|wobbled  cloth
            car    zoomed|raced     tin
            boat   floated|bobbed   wood
            drum   boomed|rattled   leather
            train  puffed|chugged   iron
            robot  beeped|clanked   steel
        """,
    },
    lists={
        "shop": "shop box attic basket trunk",
        "old": "new broken shiny rusty dusty",
        "wheel": "string wheel key bell wheels",
    },
    units={
        "setting": """
        - In the {shop} there was a {colour} {toy}. It was made of {rubber}. {name} {looked} at the {toy} and {wanted}
          to play with it.
        - {name} got a {old} {toy} from {his} {parent}. It was {colour} and made of {rubber}, and it {rolled} {slowly}.
        - "Where is my {colour} {toy}?" asked {name}. It was not in the {shop}. It was under the {bed}, next to a {hue}
          {toy}.
        """,
        "early": """
        - The {colour} {toy} {rolled} over the floor. {friend} had a {hue} {toy}, and it {rolled} too.
        - "My {toy} is {colour}," {said} {name}. "Mine is {hue}," {said} {friend}.
        - A {toy} of {rubber} is {very} strong. It {rolled} down the stairs and did not break.
        - {name} put a {hue} {wheel} on the {toy}. Now it was a {hue} and {hue} {toy}.
        - The {old} {toy} {rolled} away from the {hue} {toy}. {name} {smiled}.
        """,
        "adventure": """
        - Crack! The {colour} {toy} fell out of the {shop} and broke. {name} was {sad}. "We can mend it," said {friend}.
          They took some {rubber}, a {wheel} and some glue, and soon the {toy} {rolled} again.
        - Two children wanted the same {colour} {toy}. They pulled and pulled. "Stop!" {said} {name}. "Take my {hue}
          {toy} as well, and we can all play." Both of them {rolled} through the {room}.
        - At night the {colour} {toy} came alive. It {rolled} out of the {shop} and {smiled} at {name}. "I am made of
          {rubber}," it said, "but I have a {kind} heart."
        """,
        "late": """
        - {name} gave the {hue} {toy} to {friend} and kept the {colour} {toy}.
        - The {toy} {rolled} back into the {shop}. It looked {old}, but {name} loved it.
        - They painted the {toy} {hue}, and then {hue}, and at last {colour} again.
        - "Thank you for the {toy}," {said} {friend}. "I like the {hue} {wheel} best."
        """,
    },
)

BIRTHDAY = TopicText(
    name="birthday",
    weight=6,
    tables={
        "gift": """
            gift     ride   rode      wheels
            bicycle  ride   rode      pedals
            book     read   read      pages
            guitar   strum  strummed  strings
            scooter  push   pushed    handles
            sweater  wear   wore      sleeves
        """,
        "cake": """
            chocolate  sprinkles
            chocolate  sprinkles
            lemon      icing
            vanilla    raisins
            cherry     cream
        """,
    },
    lists={
        "balloons": "balloons candles ribbons hats presents",
        "party": "party feast picnic celebration",
    },
    units={
        "setting": """
        - It was the birthday of {name}! {His} {parent} baked a {chocolate} cake with {sprinkles}, and there were {two}
          {hue} {balloons}.
        - "Happy birthday, {name}!" {said} {friend}. {Friend_he} brought a {big} box with a {hue} ribbon. In it was {a
          gift}.
        - {name} could not sleep, for tomorrow was the {party}. {He} wished for {a gift} and a {chocolate} cake with
          {sprinkles}.
        """,
        "early": """
        - {name} opened the box. "{A gift}!" {he} {said}. "I can {ride} it every day!"
        - The {chocolate} cake was on the table. It had {sprinkles} on top and {hue} {balloons} around it.
        - {name} {rode} the {gift}. It had {nice} {wheels}, and {friend} {looked} at them.
        - "Who wants {chocolate} cake?" asked {his} {parent}. "With {sprinkles}, please," said {friend}.
        - There were {balloons} and more {balloons}. Everyone sang a {party} song for {name}.
        """,
        "adventure": """
        - Just then the dog jumped up and ate the {chocolate} cake! The {sprinkles} were on the floor. {name} was {sad}.
          But {friend} {ran} home and came back with a {big} {chocolate} cake and {two} {balloons}.
        - The {gift} was not in its box! {name} {looked} in the {room} and behind the {balloons}. There was {friend},
          who {rode} the {gift}. "Sorry, I only wanted to try it," {friend_he} said.
        - Nobody came to the {party}. {name} sat alone with {his} {gift} and the {chocolate} cake. Then the door opened.
          "Surprise!" {said} all the children, and they brought {balloons}.
        """,
        "late": """
        - {name} blew out the candles and made a wish. {friend} ate the {sprinkles} first.
        - All the guests {rode} the {gift}. "What {nice} {wheels} it has!" they said.
        - There was one piece of {chocolate} cake left. {name} gave it to {his} {parent}.
        - The {party} was over. {name} {rode} the {gift} {slowly} through the {room}.
        """,
    },
)

KITCHEN = TopicText(
    name="kitchen",
    weight=8,
    tables={
        "dish": """
            dish    pot    stir   stirred  onions
            soup    pot    stir   stirred  onions|leeks
            bread   basin  knead  kneaded  flour|yeast
            pie     tray   peel   peeled   apples|peaches
            salad   bowl   toss   tossed   lettuce|cucumbers
            omelet  pan    whisk  whisked  eggs|herbs
        """,
    },
    lists={
        "spoon": "spoon fork ladle spatula",
        "tasty": "tasty sweet hot salty fresh",
    },
    units={
        "setting": """
        - {name} was hungry. "Let us make {dish}," said {his} {parent}. "We need a {pot} and some {onions}." So {name}
          took a {spoon}.
        - In the kitchen it smelled {tasty}. {His} {parent} had a {pot} and {stirred} the {onions}. "This will be
          {dish}," {parent_he} said.
        - {name} found an old recipe for {dish}. It said: take some {onions}, {stir} well, and use a {pot}.
        """,
        "early": """
        - {name} {stirred} the {onions} and {stirred} the {onions}. "Is the {dish} ready?" {he} asked.
        - "You have to {stir} the {onions} {slowly}," said {his} {parent}. {name} {smiled} and took the {spoon}.
        - The {pot} was {very} hot. {name} held it with a {spoon} and {looked} inside.
        - {friend} wanted some {dish} too. {Friend_he} {stirred} the {onions} with a {big} {spoon}.
        - They put {onions} and more {onions} next to the {pot}. The {dish} was {tasty}.
        """,
        "adventure": """
        - Splash! The {pot} fell over, and all the {dish} was on the floor. {name} was {sad}. "We can make it again,"
          said {friend}, and they {stirred} new {onions} with a {spoon}.
        - They had no {onions} left, and without {onions} there was no {dish}. {name} {ran} to the neighbor and asked
          for some. The neighbor came along and {stirred} the {dish} too.
        - There was a contest for the best {dish} in the {village}. {name} {stirred} the {onions} in {his} {pot} all
          {morning}. "How {tasty}!" said the judge and gave {him} a golden {spoon}.
        """,
        "late": """
        - They ate the {dish} with a {spoon}. It was {tasty}, and the {pot} was soon empty.
        - "This is the best {dish} in the world," {said} {friend}. "It is the {onions}," {said} {name}.
        - {name} washed the {pot} and the {spoon}, and {friend} dried them with a {hue} towel.
        - {name} took a plate of {dish} to the old woman next door. "How {tasty}!" she said.
        """,
    },
)

TOOLS = TopicText(
    name="tools",
    weight=5,
    tables={
        "tool": """
            tool    nails    pound   pounded  shelf
            hammer  nails    pound   pounded  shelf
            saw     planks   cut     cut      treehouse
            brush   paint    spread  spread   fence
            broom   dust     sweep   swept    floor
            needle  patches  sew     sewed    curtain
        """,
    },
    lists={"worker": "builder neighbor painter plumber", "crooked": "crooked broken wobbly dirty weak"},
    units={
        "setting": """
        - The {shelf} was {crooked}. "We must repair it," said {his} {parent}. {name} took {a tool} and some {nails} and
          began to {pound}.
        - {name} found {a tool} in the shed. "With {a tool} you can {pound} the {nails}," said the {worker}, "and mend a
          {shelf}."
        - The {worker} came to the {house} with {a tool}. "Who wants to help me with the {shelf}?" he asked. "I do!"
          said {name}.
        """,
        "early": """
        - {name} {pounded} the {nails} with the {tool}. It was hard work, but it was fun.
        - "Hold the {tool} and {pound} the {nails} {slowly}," said the {worker}. {name} did it {very} well.
        - The {tool} was heavy. {name} held it with both hands and {pounded} the {nails}.
        - "More {nails}, please!" {said} {friend}. {Friend_he} {pounded} them on the {crooked} {shelf}.
        - First they {pounded} the {nails}. Then they {looked} at the {shelf}. It was not so {crooked} now.
        """,
        "adventure": """
        - Ouch! The {tool} slipped, and {name} dropped the {nails}. {His} {hand} hurt. "Rest a little," said the
          {worker}, "and I will {pound} for you." Then they finished the {shelf} together.
        - In the night the {shelf} fell down. {name} woke up and was {sad}. {He} took the {tool} and {pounded} {two}
          {nails}. In the morning the {shelf} was as good as new.
        - "We cannot {pound} the {nails}," said the {worker}, "because the {tool} is gone." {name} {looked} in the
          {room}. There it was, behind the {crooked} {shelf}! The {worker} {hugged} {him}.
        """,
        "late": """
        - The {shelf} was done. "You {pounded} those {nails} like a {worker}," said {his} {parent}.
        - {name} cleaned the {tool} and put the {nails} away in the shed.
        - {friend} {looked} at the {shelf}. "It is not {crooked} any more!" {friend_he} {said}.
        - The {worker} gave {name} {a tool} of {his} own. It was small and {hue}.
        """,
    },
)

ART = TopicText(
    name="art",
    weight=5,
    tables={
        "picture": """
            apple     shade
            apple     red
            lemon     yellow
            raindrop  blue
            cactus    green
            elephant  grey
            carrot    orange
            plum      purple
            swan      white
        """,
    },
    lists={
        "brush": "brush crayon pencil marker sponge",
        "paper": "paper canvas cardboard",
        "line": "line circle square triangle stripe",
    },
    units={
        "setting": """
        - {name} took some {paper} and a {hue} {brush}. {He} wanted to draw {a apple}. "Which color do I need?" {he}
          asked. "Try {shade}," said {his} {parent}.
        - It was painting day. {name} made {a apple} with {shade} paint, and {friend} made a {hue} {line} around it.
        - On the {paper} {name} saw {a apple}. Somebody had drawn the {shade} {apple} with a {brush} long ago.
        """,
        "early": """
        - "Is {a apple} {hue}?" asked {friend}. "No, {a apple} is {shade}," {said} {name}.
        - {name} drew a {big} {line} and a {big} {line}. Together they were {a shade} {apple}.
        - The {brush} was full of {shade} paint. {name} dropped it, and the floor turned {shade}.
        - {friend} mixed {hue} with {hue} and got {shade}. "For your {apple}," {friend_he} said.
        - {name} painted the {apple} {shade}. Then {he} painted a {line} on the {paper}.
        """,
        "adventure": """
        - There was no {shade} paint left! {name} was {sad}, because {his} {apple} had to be {shade}. {friend} crushed
          some flowers with a {stone}, and the juice was as {shade} as {a apple}.
        - The rain fell on the {paper}, and the {shade} {apple} was gone. There was only a {big} {line}. "It looks like
          a dragon," {said} {friend}. So {name} took the {brush} and painted a dragon.
        - The {shade} {apple} jumped off the {paper}! "Thank you for painting me," it said, and ran through the {room}.
          {name} drew a {line} around it with the {brush}, and it was a picture again.
        """,
        "late": """
        - {His} {parent} put the {shade} {apple} up in the {room}. "You are an artist," {parent_he} said.
        - {name} washed the {brush} until the water was {shade}.
        - "I will call it The {Shade} {Apple}," {said} {name}. {friend} clapped.
        - {friend} gave {name} a new {brush}. It was as {shade} as {a apple}.
        """,
    },
)
