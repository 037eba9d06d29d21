"""Topics under the open sky; `story_templates` explains the notation."""

from firstlight.corpus.story_words import SUMMER, TopicText

BUGS = TopicText(
    name="bugs",
    weight=4,
    tables={
        "weather": SUMMER,
        "bug": """
            bug        hive     crawl    crawled    spots
            ant        anthill  march    marched    legs
            bee        hive     buzz     buzzed     stripes
            butterfly  daisy    flutter  fluttered  wings
            spider     web      creep    crept      threads
            snail      leaf     slide    slid       horns
        """,
    },
    lists={"tiny": "tiny little small busy shiny", "jar": "jar box bottle"},
    units={
        "setting": """
        - {name} lay in the grass. Close to {his} nose, on {a hive}, {a bug} {crawled} up and down with its tiny
          {spots}.
        - "Look, a {tiny} bug!" said {friend}. "That is {a bug}," said {name}. "It {crawled} here from the {hive}."
        - At the edge of the garden there was {a hive}. {name} {looked} at it and saw {a bug} {crawl} along.
        """,
        "early": """
        - The {bug} {crawled} over {his} {hand}. It tickled, and {name} {smiled}.
        - {name} counted the {spots} of the {bug}. "It has {two} {spots}," {he} {said}.
        - "Where does {a bug} sleep?" asked {friend}. "On the {hive}, I think," {said} {name}.
        - {name} made a house for the {bug} in a {jar}, with grass and a {hue} {stone}.
        - The {tiny} {bug} began to {crawl}. It wanted to go back to the {hive}.
        """,
        "adventure": """
        - It began to rain. A drop fell on the {bug}, and it could not {crawl} any more. {name} held a leaf over it like
          a roof. When the sun came back, the {bug} {crawled} home to the {hive}.
        - A {big} bird wanted to eat the {bug}! It had to {crawl} fast, but its {spots} were wet. {name} put a {jar}
          over it just in time. The bird flew off to find some {treat}.
        - {friend} closed the {jar}, and the {bug} was {sad}. It did not {crawl} at all. "It is not a toy," said {name}.
          So they opened the {jar} near the {hive}, and the {bug} {crawled} out.
        """,
        "late": """
        - The {bug} {crawled} back to the {hive}, where {two} other bugs were waiting.
        - {name} drew {a bug} with {two} {hue} {spots}. {friend} gave it a {tiny} hat.
        - "Goodbye, {tiny} friend," {said} {name}, and the {bug} shook its {spots}.
        - Now {name} {always} steps {slowly}, so that no {bug} near the {hive} is hurt.
        """,
    },
)

WEATHER = TopicText(
    name="weather",
    weight=6,
    tables={
        "weather": """
            sunny  sun   shone          clothes         puddles    splash        splashed
            sunny  sun   shone|glowed   hat|cap         sprinkler  bask          basked
            rainy  rain  fell|poured    boots|raincoat  puddles    splash|stomp  splashed|stomped
            snowy  snow  fell|swirled   mittens|scarf   snowman    ski|sled      skied|sledded
            windy  wind  blew|whistled  jacket|hood     pinwheel   spin|twirl    spun|twirled
            foggy  fog   lay|crept      coat|vest       lantern    hide|seek     hid|sought
        """,
    },
    lists={"sill": "window door attic"},
    units={
        "setting": """
        - {name} {looked} out of the {sill}. It was {sunny} outside, and the {sun} {shone}. "Can I go out and {splash}?"
          {he} asked.
        - "What a {sunny} day!" said {his} {parent}. "You need your {clothes}." So {name} put on {his} {clothes} and
          {ran} out.
        - All night long the {sun} {shone} over the {sill}. In the morning it was so {sunny} that {name} wanted to
          {splash}.
        """,
        "early": """
        - The {sun} {shone} and {shone}. {name} {splashed} in {his} {clothes}.
        - "I like the {sun}," {said} {name}. "I like the {puddles} even more," {said} {friend}.
        - {friend} {splashed} near the {puddles}. {His} {parent} {looked} out of the {sill} and waved.
        - "Without your {clothes} you cannot {splash}," said {his} {parent}. "It is too {sunny}."
        - The {puddles} were by the {tree}. {name} and {friend} {splashed} until they were {very} tired.
        """,
        "adventure": """
        - Oh no! {name} could not find {his} {clothes}. {He} {looked} under the {puddles} and over the {sill}. {friend}
          {splashed} and searched too, until {friend_he} saw something {hue} by the {tree}.
        - The {sun} {shone} so much that {name} could not see the road. {He} was {sad}. "Hold my hand," said {friend},
          "I know the way." And they {splashed} all the way home.
        - They held a contest at the {puddles}. Who could {splash} best? {friend} {splashed} first, and then {name}
          {splashed} in {his} new {clothes}. Everybody clapped, even though it was so {sunny}.
        """,
        "late": """
        - The {sun} went away. "Tomorrow it may be {sunny} again," {said} {his} {parent}.
        - {name} hung {his} {clothes} over a chair and told {friend} about the {puddles}.
        - "I want to {splash} again," {said} {friend}. The {sun} {shone} one last time.
        - They left the {puddles} by the {tree} and went in. It was warm there, not {sunny}.
        """,
    },
)

NIGHT = TopicText(
    name="night",
    weight=5,
    tables={
        "light": """
            light    glow     glowed     where
            moon     shine    shone      sky
            star     twinkle  twinkled   darkness
            lantern  swing    swung      porch
            candle   flicker  flickered  window
            lamp     hum      hummed     hallway
        """,
    },
    lists={
        "pillow": "pillow blanket quilt teddy mattress",
        "dark": "dark quiet long still cold",
        "dream": "ghost shadow noise whisper monster",
    },
    units={
        "setting": """
        - It was a {dark} night, and {name} could not sleep. In the {where} there was {a light}. It {glowed} above {his}
          {pillow}.
        - "Time for bed," said {his} {parent}. {name} took {his} {pillow}, but {he} wanted to see the {light} {glow} in
          the {where} first.
        - Night came {slowly}. {name} sat on {his} {pillow} and saw how {a light} {glowed} in the {dark} {where}.
        """,
        "early": """
        - The {light} {glowed} all the time. "Does it ever sleep?" asked {name}.
        - {name} pulled the {pillow} up to {his} chin. Was there a {dream} under the {bed}?
        - "I am not afraid of the dark," {said} {friend}, "as long as the {light} can {glow}."
        - The {light} in the {where} {glowed} for {name}, and the {dark} night was not so bad now.
        - {His} {parent} read a story about {a light} that could {glow} in every color.
        """,
        "adventure": """
        - Then the {light} was gone! The {where} was {dark}, and {name} was {sad}. {He} held {his} {pillow} and waited.
          After a while the {light} {glowed} again, and {he} {smiled}.
        - {name} noticed a {dream} near the {bed}. What could it be? {He} took the {pillow} and {looked} {slowly}
          around. The {light} {glowed} in the {where}. It was only the cat!
        - {name} dreamed that {he} flew to the {where} on a {pillow}. "Please {glow} for me," {he} said to the {light}.
          And it {glowed} so bright that all the {village} woke up.
        """,
        "late": """
        - The {light} {glowed} softly, and the {dream} was gone. "Good night, {light}," {said} {name}.
        - {name} lay on {his} {pillow} and counted sheep, while the {light} {glowed} in the {where}.
        - "Sleep well," said {his} {parent}. "The {light} will {glow} until morning."
        - {friend} had a {pillow} too. Together they {looked} at the {light} in the {where}.
        """,
    },
)

CASTLE = TopicText(
    name="castle",
    weight=5,
    tables={
        "figure": """
            figure    cave      flame    roared
            dragon    cave      flame    roared|snorted
            princess  tower     crown    curtsied|waltzed
            wizard    library   wand     muttered|chanted
            knight    fortress  sword    bowed|galloped
            giant     mountain  boulder  stomped|thundered
        """,
    },
    lists={"magic": "magic golden secret silver royal", "land": "land kingdom realm"},
    units={
        "setting": """
        - In a {land} far away there lived {a figure}. One day {name} {ran} to the {cave} to see the {figure} and the
          {magic} {flame}.
        - {name} found a {hue} door in the wall. Behind it was a {land} with {a cave}, and in the {cave} sat {a figure}.
        - "Once," said {his} {parent}, "{a figure} lived in {a cave} and kept a {magic} {flame} there." {name} wanted to
          see it.
        """,
        "early": """
        - The {figure} {roared}. "Who are you, and what do you want in my {cave}?"
        - "I am {name}," {said} {name}, "and I would like to see the {flame}, please."
        - The {magic} {flame} was on a shelf in the {cave}. The {figure} {roared} and {looked} at it.
        - "I have never met {a figure} before," {said} {friend}. The {figure} {roared} again.
        - All over the {land} people told stories about the {figure} and the {flame}.
        """,
        "adventure": """
        - Someone had stolen the {flame}! The {figure} {roared} and was {sad}. {name} {ran} through the {land} and found
          the {flame} behind a {tree}. {He} brought it back to the {cave}.
        - The {figure} was under a spell and could not leave the {cave}. "Only a {kind} child can help me," it said.
          {name} touched the {magic} {flame}, and the spell broke. The {figure} {roared} with joy.
        - Nobody came to the {cave}, for everyone in the {land} was {sad} when the {figure} {roared}. But {name} brought
          some {treat}, and they ate it together by the {magic} {flame}.
        """,
        "late": """
        - "Take this {flame}," said the {figure}. "It is {magic}, and now it is yours."
        - The {figure} {roared} one more time. Then the {cave} and the whole {land} were quiet.
        - The people of the {land} thanked {name}, and the {figure} gave a feast in the {cave}.
        - {name} and the {figure} were friends now. They played with the {flame} near the {cave}.
        """,
    },
)

PARK = TopicText(
    name="park",
    weight=8,
    tables={
        "weather": SUMMER,
        "game": """
            game        racket   kick   kicked   goal
            soccer      jersey   kick   kicked   goal
            tennis      racket   serve  served   net
            baseball    bat      pitch  pitched  base
            basketball  whistle  toss   tossed   hoop
            bowling     glove    roll   rolled   pins
        """,
    },
    lists={
        "slide": "slide swing seesaw sandbox ladder",
        "team": "team coach crowd captain players",
        "fast": "fast high hard far well",
    },
    units={
        "setting": """
        - There was a new park in the {village}. {name} and {friend} {ran} past the {slide}, for they wanted to play
          {game} there.
        - "Do you know how to play {game}?" asked {friend}. "You {kick} the ball to the {goal}," said {name}. They went
          to the park.
        - On {sunny} days the children met in the park to play {game}. {name} brought a ball and {a racket}.
        """,
        "early": """
        - {name} {kicked} the ball {fast}. It flew over the {slide} and hit the {goal}.
        - "{Kick} the ball to me!" {said} {friend}. {name} {kicked} it {fast}, and they {smiled}.
        - {friend} sat on the {slide} and watched the {game} game. "I need {a racket} too," {friend_he} {said}.
        - The {team} cheered. {name} loved {game} more than any other game in the park.
        - They took turns on the {slide}. Then they went back to the {goal} to play {game}.
        """,
        "adventure": """
        - The ball was stuck behind the {tree}! Without a ball there was no {game}. {name} {wanted} to climb over, and
          {friend} brought a long stick. Out came the ball, and they {kicked} it to the {goal} again.
        - It was the day of the big {game} game. The {team} was {sad}. There was one minute left. {name} {kicked} the
          ball {fast}, right to the {goal}, and they won! How the {team} cheered!
        - A new boy stood by the {slide}. He was {sad}, because he had no {racket}. "Play {game} with us," said {name}.
          The boy {kicked} so {fast} that the {goal} shook.
        """,
        "late": """
        - "Good game!" said the {team}. {name} put the ball and the {racket} in a bag.
        - It was too dark for {game} now. The {slide} was empty, and nobody stood near the {goal}.
        - {name} won a medal for {game}. {He} let {friend} wear it on the {slide}.
        - "Tomorrow I will {kick} even better," {said} {friend}, and {looked} back at the {goal}.
        """,
    },
)

TRAVEL = TopicText(
    name="travel",
    weight=6,
    tables={
        "vehicle": """
            vehicle  chugged           station    captain    tracks
            train    chugged|puffed    station    conductor  tracks
            boat     drifted|sailed    harbor     captain    waves
            plane    soared|zoomed     airport    pilot      clouds
            bus      rolled|honked     depot      driver     streets
            rocket   blasted|whooshed  launchpad  astronaut  planets
        """,
    },
    lists={"ticket": "ticket suitcase map sandwich"},
    units={
        "setting": """
        - {name} and {his} {parent} went on a trip. At the {station} {a vehicle} was waiting. "All aboard!" {said} the
          {captain}.
        - At the {station} stood a {hue} {vehicle}. "Do you have a {ticket}?" asked the {captain}. {name} had one, and
          the {vehicle} {chugged} away.
        - "I want to travel by {vehicle}," {said} {name}. So they took a {ticket} and {ran} to the {station} to see the
          {captain}.
        """,
        "early": """
        - The {vehicle} {chugged} and {chugged}. {name} saw the {tracks} go by.
        - "How far is it?" asked {friend}. "Not so far," said the {captain} of the {vehicle}.
        - {name} {looked} at the {tracks}. "I will be {a captain} one day," {he} {said}.
        - The {vehicle} {chugged} past {two} {hue} houses. {friend} held the {ticket}.
        - "Next stop!" {said} the {captain}. The {vehicle} {chugged} into the {station}.
        """,
        "adventure": """
        - Then the {vehicle} stopped. There were only {tracks} all around. The {captain} {looked} at the motor and was
          {sad}. {name} found a loose screw under a {ticket}. Soon the {vehicle} {chugged} again.
        - A {big} storm came over the {tracks}. The {vehicle} shook, and {friend} was {sad}. "Sing with me," {said}
          {name}. They sang until the {vehicle} {chugged} safely into the {station}.
        - At the {station} {name} lost {his} {parent}. So many people! {He} was {sad}. The {captain} lifted {him} up on
          the {vehicle}, and there {he} saw {his} {parent} with the {ticket}.
        """,
        "late": """
        - The {vehicle} {chugged} back to the {station}. "Thank you, {captain}!" {said} {name}.
        - {name} kept the {ticket} and drew the {tracks} and the {vehicle} on it.
        - "The {tracks} were the best," {said} {friend}. "No, the {captain} was," {said} {name}.
        - The {captain} waved from the {vehicle}. It {chugged} away {slowly}.
        """,
    },
)
