"""Sentences that any story may hold, whatever its topic: openings, what happens on the way, and closings.

Each unit is one or more sentences that belong together, always with the same number of tokens. Spaces and capitals
are as in the text; `{word}` stands for a column or a list of `story_words`, `{Word}` for the same with a capital,
`{a word}` for the article that fits a column.
"""

# For each stage the token from which on its units may begin, and how many turns they are dealt into, so that a unit
# does not come back before as many others. An opening ends before token 33, and a setting after it does not; no early
# unit is longer than the 32 tokens of the shortest adventure. So every story has exactly one opening, one setting,
# one adventure and one closing, and at least 195 tokens before it.
STAGES = {
    "opening": (0, 1),
    "setting": (1, 1),
    "early": (33, 3),
    "adventure": (100, 1),
    "late": (132, 3),
    "closing": (195, 1),
}

OPENING = """
- Once upon a time, there was a {kind} little {girl} named {name}. {He} lived in a {big} {house} near the {river} with
  {his} {parent}.
- Once there was a {girl} named {name} who lived in a {quiet} {village}. {He} had {two} good friends and a {colour}
  {toy}.
- There once lived a {kind} {girl} called {name}. Every morning, {he} woke up early and {smiled} at the {sky} outside.
- In a {quiet} {village} by the {river} lived a {kind} {girl}. {His} name was {name}, and {he} loved to {play} with
  {friend}.
- {name} was a {kind} {girl} with {big} eyes and a {kind} heart. {He} lived in a {quiet} {village} with {his} {parent}.
- It was a {sunny} {morning} in the {village}. A {girl} named {name} put on {his} {clothes} and {ran} outside to {play}.
- Long ago, in a {big} {house} on a hill, there lived a {girl} called {name} and {his} {kind} {parent}.
- This is the story of {name}, a {kind} {girl} who liked to {play}. {His} best friend was {friend}, who lived next door.
- "Good morning!" said {name}. {He} was a {kind} {girl} from a {quiet} {village}, and {he} was {always} up first.
- Far away, behind the {big} hill, stood a {colour} {house}. A {girl} named {name} lived there with {his} {parent}.
- {name} and {friend} were best friends. They lived in the same {village}, and every {sunny} day they liked to {play}.
- Once upon a time, a {girl} named {name} had a {colour} {toy}. {His} {parent} had made it for {him} long ago.
"""

EARLY = """
- {name} {smiled}. It was a {sunny} day, and {he} was {glad}.
- The {sun} {shone}, so {name} put on {his} {clothes}. {friend} did the same.
- "What is that?" asked {name}. "I do not know," {said} {friend}. "Let us look!"
- {name} {ran} to the {tree} and {looked} behind it. There was only a {big} {stone}.
- {friend} came by with a {hue} {toy}. "Do you want to {play} with me?" {friend_he} asked.
- {name} {wanted} to {play}, but first {he} had to help {his} {parent} in the {room}.
- They {ran} past the {tree}, over the {big} bridge and down to the {river}.
- "Are we there yet?" asked {name}. "Not yet," said {his} {parent}. "It is just behind the {tree}."
- On the way {name} found a {hue} {stone}. {He} put it in {his} pocket for {friend}.
- {name} had a {nice} {plan}. {He} {ran} to {friend} and told {friend_him} all about it.
- "Can I come too?" asked {friend}. "Of course you can," {said} {name}, and they {ran} on together.
- The {sun} {shone} over the {village}. The {sky} above were {very} pretty, and {name} {looked} at them for a while.
- {name} sat down by the {tree} and ate some {treat}. It was {very} good.
- {His} {parent} gave them some {treat} and a {big} cup of milk. "Eat {slowly}," {parent_he} said.
- {name} took {his} {colour} {toy} along. {He} {always} took it with {him}.
- The {colour} {toy} {rolled}, and {friend} {smiled}. "Do that again!" {friend_he} said.
- "Look at me!" {said} {name}. {He} {wanted} to {play} and {play} all day long.
- {name} heard a {nice} sound. {He} stood still and listened. It came from the {tree}.
- A {kind} old man {looked} at them and {smiled}. "Good {morning}, children," he said.
- There were {two} {hue} birds near the {tree}. They sang, and {name} sang with them.
- {friend} was {very} {glad} to see {name}. They held hands and {ran} down the road.
- "I have a {plan}," {said} {friend}. "Come with me to the {tree}, and you will see."
- {name} counted to {two} and opened {his} eyes. Everything was quiet now.
- The {big} dog next door barked, but {name} was not {sad}. {He} knew the dog was {kind}.
- {name} {looked} under the {bed} and behind the {bed}. Then {he} {ran} to the {room}.
- "You must be {kind}," said {his} {parent}, "and you must always come home before dark."
- {name} and {friend} {wanted} to {play}. They did it {slowly} at first, and then faster and faster.
- It was a {nice} {morning}. {name} {looked} at the {sky} and thought about {his} {parent}.
- "Who wants some {treat}?" {said} {his} {parent}. "I do!" {said} {name}. "Me too!" {said} {friend}.
- {name} had a {big} bag with a {hue} {stone}, some {treat} and a {big} book in it.
- The wind was soft, the grass was green, and the sky was blue. {name} {smiled} at {friend}.
- {friend} told a {nice} story, and {name} listened quietly until the end.
"""

LATE = """
- {name} was {very} {glad}. {He} {smiled} at {his} {parent}, and {parent_he} {smiled} back.
- "That was fun!" {said} {name}. "Can we do it again?" {friend} asked.
- {name} and {friend} {ran} home. The {sun} {shone}, and the {sky} above were golden.
- {His} {parent} {hugged} {name}. "I am {very} {glad} today," {parent_he} said.
- "I was {sad}," said {name}, "but now I am {glad}." {friend} {smiled}.
- After that they ate some {treat}. {name} gave the biggest piece to {friend}.
- {friend} was {sad} for a moment. Then {name} took {friend_his} hand, and {friend_he} {felt} {glad} again.
- {name} told {his} {parent} the whole story. "You were {very} {kind}," {parent_he} {said}.
- "Thank you for your help," {said} {friend}. "You are my best friend, {name}."
- {name} learned that {lesson} makes every day better. {friend} learned it too.
- They played with the {colour} {toy} until the evening. It {rolled} and {rolled}.
- {name} {felt} {sad} because it was late. "We can come back soon," said {his} {parent}.
- {friend} gave {name} a {hue} {stone}. "It is for you," {friend_he} said. "Please keep it."
- It was time to go. {name} took off {his} {clothes} and sat down by the fire.
- {name} {looked} out of the window. The {sun} still {shone}, and the {tree} was far away.
- "What did you learn today?" asked {his} {parent}. "I learned about {lesson}," {said} {name}.
- Everybody in the {village} heard about it. They {smiled} at {name} and gave {him} some {treat}.
- "Let us share it," {said} {name}. So they shared, and everyone was {glad}.
- {name} was not {sad} anymore. {He} {wanted} to {play} again, and so did {friend}.
- {friend} {hugged} {name} {slowly}. Then they {ran} to the {room} to wash their hands.
- In the evening {his} {parent} made some {treat}. {name} had {two} plates of it.
- "Do you think it was a dream?" asked {friend}. "No," {said} {name}, "it was real."
- {name} sang a {nice} song about the {tree} and the {river}. {friend} clapped.
- The two friends {looked} at the {sky}. It had been a {nice} day, and they were {glad}.
- "I am sorry," {said} {friend}. "It is all right," {said} {name}, and they {smiled}.
- {name} put {his} {toy} under the {bed} and {his} {clothes} on the chair.
- {His} {parent} touched {his} {hand} and said, "{Lesson} is a {big} gift, {name}."
- They said goodbye at the {tree}. {friend} waved with a {hue} {stone} in {friend_his} hand.
- {name} drew a {big} picture of the day. {He} made the {tree} {hue} and the sky {hue}.
- There was still a {plan} to share. {name} told it to {friend} {slowly}, and both of them {smiled}.
- "Tomorrow we will {play}," {said} {name}. "And then we will {play} some more," {said} {friend}.
- {name} and {his} {parent} {ran} back through the {village}. The lights were on, and the {house} was near.
"""

CLOSING = """
- That night {name} went to bed {very} {glad}. {He} closed {his} eyes and dreamed about the {nice} day. The end.
- And so {name} and {friend} stayed best friends, and they lived happily ever after.
- From that day on, {name} {always} remembered that {lesson} is worth more than gold.
- "Good night, {name}," said {his} {parent}. "Good night," said {name}, and soon {he} was asleep.
- {name} was tired but {glad}. {He} hugged {his} {colour} {toy} and fell asleep in {his} {warm} bed.
- And if you go to the {village} by the {river}, you can still hear {name} and {friend} sing.
- The moon came up over the {house}. {name} {smiled}, {felt} {glad}, and went to sleep.
- They all {ran} home together, and {name} knew that it had been the best day of all.
- "I love you," said {name}. "I love you too," said {his} {parent}, and {parent_he} turned off the light.
- Everyone was {glad}, and {name} could not wait to {play} with {friend} again the next {morning}.
- So {name} learned about {lesson} that day, and {he} never forgot it. That is the end of the story.
- At last the {sun} was gone. {name} said good night to {friend}, and the {quiet} {village} went to sleep.
"""

UNITS = {"opening": OPENING, "early": EARLY, "late": LATE, "closing": CLOSING}
