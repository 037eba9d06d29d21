"""Topics about animals, plants and the sky; `story_templates` explains the notation."""

from firstlight.corpus.story_words import SUMMER, TopicText

ANIMALS = TopicText(
    name="animals",
    weight=10,
    tables={
        "animal": """
            animal    home    swim         swam             food     fins
            fish      pond    swim|splash  swam|splashed    worms    fins
            bird      nest    fly|flap     flew|flapped     seeds    wings
            rabbit    burrow  hop|nibble   hopped|nibbled   clover   ears
            bear      cave    growl|snore  growled|snored   honey    paws
            squirrel  oak     climb|leap   climbed|leaped   acorns   tail
            frog      swamp   croak|jump   croaked|jumped   flies    legs
            fox       den     sneak|trot   sneaked|trotted  berries  whiskers
            owl       hollow  hoot|swoop   hooted|swooped   moths    feathers
        """,
    },
    lists={"shy": "shy gentle young hungry lonely"},
    units={
        "setting": """
        - One {sunny} day, {name} went for a walk with {friend}. Near the {home} they saw {a animal}. It began to
          {swim}.
        - {name} wanted to know where {a animal} lives. "It lives in {a home}," said {his} {parent}. "Come, I will show
          you the {animal}."
        - That {morning} {name} and {his} {parent} walked to the {home}. A {shy} {animal} lived there, and {name} wanted
          to see it {swim}.
        """,
        "early": """
        - The {animal} {swam} near the {home}. "See how it can {swim}!" {said} {name}.
        - {name} gave the {animal} some {food}. It ate the {food} and {swam} around {him}.
        - "Does {a animal} eat {food}?" asked {friend}. "Yes," said {name}, "it likes {food} best of all."
        - The {animal} had soft {fins} and bright eyes. {name} had never seen such a {shy} {animal}.
        - {name} tried to {swim} like the {animal}, but {he} fell down and {smiled}.
        """,
        "adventure": """
        - Suddenly the {animal} was stuck in the mud. It could not {swim} anymore. {name} called {his} {parent}, and
          together they pulled. At last the {animal} was free, and it {swam} home to its {home}.
        - A baby {animal} was lost. It was far from the {home}, and it was {sad}. "Do not cry," said {name}. {He}
          carried it back to the {home}, where its mother {swam} with joy.
        - A big storm came, and the {home} was broken. The {animal} had no place to sleep. {name} and {friend} worked
          all day to make a new {home} for the {shy} {animal}.
        """,
        "late": """
        - "Thank you," the {animal} seemed to say. It {swam} away, back to the {home}.
        - Every day {name} brought some {food} to the {home}. The {animal} {swam} when it saw {him}.
        - The {animal} was not afraid of {name} now. It came close and ate the {food} from {his} hand.
        - {name} drew the {animal} and its {home}. {friend} wanted to draw the {fins} of the {animal} too.
        """,
    },
)

FARM = TopicText(
    name="farm",
    weight=8,
    tables={
        "animal": """
            animal  home     moo    mooed    milk     hay
            cow     barn     moo    mooed    milk     hay
            hen     coop     cluck  clucked  eggs     corn
            sheep   pasture  bleat  bleated  wool     grass
            pig     sty      grunt  grunted  piglets  turnips
            horse   stable   neigh  neighed  rides    oats
        """,
    },
    lists={"tool": "bucket basket sack rake shovel", "field": "haystack tractor windmill fence"},
    units={
        "setting": """
        - {name} went to the farm with {his} {parent}. The farmer had {a animal} that lived in the {home} and {mooed}
          all day.
        - One {morning} {name} woke up on a farm. Outside, near the {home}, {a animal} {mooed} at the {field}.
        - "Please feed the {animal}," said the farmer. {name} took a {tool} of {hay} and {ran} to the {home}.
        """,
        "early": """
        - The {animal} {mooed} and ate the {hay}. "Good {animal}," {said} {name}.
        - "Why does the {animal} {moo}?" asked {name}. "It wants some {hay}," said the farmer.
        - {name} carried a {tool} from the {field} to the {home}. It was heavy, but {he} did not stop.
        - Every day the {animal} gave them {milk}. "We need the {milk} for the market," said the farmer.
        - {friend} climbed on the {field} and {mooed} like {a animal}. The farmer {smiled}.
        """,
        "adventure": """
        - One day the door of the {home} was open, and the {animal} was gone! {name} {ran} across the meadow and called.
          Then {he} heard it {moo} behind a {field}. {He} led it back with some {hay}.
        - At night {name} heard the {animal} {moo} and {moo}. A fox was near the {home}! {name} woke the farmer, and
          they chased the fox away. The {animal} {mooed} softly and slept.
        - The {animal} was sick and did not eat its {hay}. "There will be no {milk}," said the farmer. {name} stayed in
          the {home} all night, and in the morning the {animal} {mooed} again.
        """,
        "late": """
        - The farmer gave {name} some {milk} to take home. "You are a good farmer too," he said.
        - The {animal} went to sleep in the {home}. {name} closed the gate and put the {tool} away.
        - "Goodbye, {animal}!" {said} {name}. The {animal} {mooed} and looked up from its {hay}.
        - {name} and {friend} sold the {milk} at the gate of the farm and bought new {hay}.
        """,
    },
)

SEA = TopicText(
    name="sea",
    weight=6,
    tables={
        "weather": SUMMER,
        "creature": """
            creature  reef   paddle   paddled   shell
            crab      rock   scuttle  scuttled  claws
            dolphin   waves  flip     flipped   fins
            turtle    shore  paddle   paddled   shell
            whale     ocean  spout    spouted   tail
            seal      cove   roll     rolled    flippers
        """,
    },
    lists={
        "sand": "sand beach dunes pier lighthouse",
        "bucket": "bucket spade shovel cup",
        "salty": "salty wet deep cold clear",
    },
    units={
        "setting": """
        - {name} and {friend} spent the day at the beach. Near the {reef} they saw {a creature} that {paddled} in the
          {salty} water.
        - The {salty} sea was calm. {name} took a {bucket} down to the {sand}, and there, by the {reef}, was {a
          creature}.
        - "Have you ever seen {a creature}?" asked {his} {parent}. They {ran} along the {sand} to the {reef} to find
          one.
        """,
        "early": """
        - The {creature} {paddled} past the {reef}. "I wish I could {paddle} like that," {said} {name}.
        - {name} dug a {big} hole in the sand with a {bucket}. The {salty} water filled it {slowly}.
        - {friend} built a castle of sand and put a {hue} {stone} on top. A wave took it away.
        - The {creature} had a secret under its {shell}. {name} {looked}, but the {creature} {paddled} away.
        - They swam in the {salty} water, not far from the {sand}. The {creature} {paddled} with them.
        """,
        "adventure": """
        - The {creature} was caught in a net! It tried to {paddle}, but the net was tight around its {shell}. {name} cut
          the net with a sharp shell, and the {creature} {paddled} back to the {reef}.
        - A wave pulled {his} {bucket} out to sea. "Help!" {said} {name}. The {creature} {paddled} out past the {reef},
          took the {bucket} and brought it back to the {sand}.
        - The tide went out, and {a creature} lay on the {sand}. It was too far from the {reef}. {name} and {friend}
          poured {salty} water on its {shell} until the tide came in.
        """,
        "late": """
        - The {creature} {paddled} home to the {reef}, and the waves washed over its {shell}.
        - They sat on the {sand} and ate some {treat}. Far away the {creature} {paddled} by.
        - {name} wrote the word {creature} in the sand, and the {salty} sea took it away.
        - "Will the {creature} come back to the {reef}?" asked {friend}. "I think it will," said {name}.
        """,
    },
)

PETS = TopicText(
    name="pets",
    weight=9,
    tables={
        "pet": """
            pet      basket  bark    barked    bones     stick
            puppy    kennel  bark    barked    bones     stick
            kitten   basket  purr    purred    cream     yarn
            parrot   cage    squawk  squawked  crackers  mirror
            hamster  wheel   squeak  squeaked  nuts      tunnel
            bunny    hutch   thump   thumped   lettuce   box
            pony     stall   whinny  whinnied  sugar     saddle
        """,
        "pet_name": """
            pet_name
            Biscuit
            Pepper
            Socks
            Muffin
            Noodle
        """,
    },
    lists={"furry": "little sweet hungry naughty playful"},
    units={
        "setting": """
        - {name} had a {furry} {pet} called {pet_name}. {pet_name} slept in a {basket} and {barked} when {he} came home.
        - For a long time {name} wanted a pet. One day {his} {parent} came in with a {furry} {pet}. "Its name is
          {pet_name}," {parent_he} said.
        - Next to the {bed} stood a {basket}. In it sat {pet_name}, the {pet}. "Time to {bark}, {pet_name}!" said
          {name}.
        """,
        "early": """
        - {pet_name} {barked} and {barked}. "Are you hungry?" asked {name}, and {he} gave {pet_name} some {bones}.
        - The {furry} {pet} played with a {stick}. {name} {smiled} when it began to {bark}.
        - "A {pet} needs {bones}, water and love," said {his} {parent}. "And a clean {basket}," said {name}.
        - {friend} wanted to hold the {pet}. "Be gentle with {pet_name}," {said} {name}.
        - {name} taught {pet_name} a trick with a {stick}. The {furry} {pet} learned it {slowly}.
        """,
        "adventure": """
        - One {morning} the {basket} was empty. {pet_name} was gone! {name} {looked} under the {bed} and behind the
          {bed}. Then {he} heard something {bark} in the {room}. The {pet} had found the {bones}!
        - {pet_name} would not eat any {bones} and did not {bark}. {name} was {sad}. {His} {parent} took the {pet} to
          the vet. "It only misses its {stick}," said the vet.
        - There was a thief in the {room}! {pet_name} woke up in the {basket} and {barked} and {barked} until {name}
          came. The thief dropped his bag and ran away. What a {furry} {pet}!
        """,
        "late": """
        - {pet_name} {barked} softly and went to sleep in the {basket}. "Good {pet}," {said} {name}.
        - {name} made a new {basket} for {pet_name} and put a {stick} in it.
        - "You are the best {pet} in the world," {said} {name}, and {pet_name} got extra {bones}.
        - {friend} came to see {pet_name} every day. The {pet} {barked} when {friend_he} knocked at the door.
        """,
    },
)

GARDEN = TopicText(
    name="garden",
    weight=7,
    tables={
        "weather": SUMMER,
        "plant": """
            plant      plants      bright  salad
            tomato     tomatoes    round   salad
            rose       roses       pink    vase
            carrot     carrots     sweet   stew
            sunflower  sunflowers  yellow  bouquet
            bean       beans       green   soup
        """,
    },
    lists={
        "spade": "spade rake hose bucket shovel",
        "soil": "soil ground dirt earth bed",
        "worm": "worm bee snail beetle robin",
        "grew": "grew bloomed ripened sprouted",
    },
    units={
        "setting": """
        - Behind the {house} there was a garden. {name} wanted to grow {plants} there, so {he} took a {spade} and dug
          the {soil}.
        - {His} {parent} gave {name} a small bag of seeds. "Plant them in the {soil}," {parent_he} said, "and you will
          have {plants}."
        - In the spring {name} and {friend} planted {a plant} in the garden. They watered the {soil} every {morning}.
        """,
        "early": """
        - The first {plant} {grew} in the garden. It was {bright}, and {name} {smiled} at it.
        - A {worm} sat on the {plant}. "Do not eat my {plants}, little thief!" {said} {name}.
        - {name} pulled the weeds out of the {soil} and left the {spade} next to the {plants}.
        - "When will the {plants} be {bright}?" asked {friend}. "When the rain and the sun have helped them," said
          {name}.
        - A {worm} came to the garden. It was good for the soil and for every {plant}.
        """,
        "adventure": """
        - It did not rain for {two} weeks. The {soil} was dry, and every {plant} hung its head. {name} carried water
          from the river again and again. At last the {plants} {grew} {bright}.
        - In the night a rabbit had eaten the {plants}! {name} was {sad}. {friend} had a plan. They built a fence around
          the {soil}, and soon a new {plant} {grew}.
        - One {plant} {grew} and {grew} until it was taller than the {house}. {name} climbed up to look. From the top of
          the {plant} {he} could see the whole {village}.
        """,
        "late": """
        - They picked the {bright} {plants} for the {salad}. {His} {parent} {smiled}.
        - {name} gave a {bright} {plant} to every neighbor in the {village}.
        - The {plants} were {bright} now. "Time for the {salad}!" {said} {friend}.
        - {name} kept some seeds of the {plant} for the next spring and put the {spade} away.
        """,
    },
)
