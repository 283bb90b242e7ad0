"""Portraits: of relatives, friends, pets, homes and days. Every entry keeps to its own subject.

The slots k, ks, ko, kp are the person spoken of; lines about a pet or a home use their own names.
"""

# A person: (what they are like, how it shows, a past event, what they say)
PERSONS = [
    ("bakes the best [bread|apple pie|cookies] in the world", "{ks} gets up very early, and the whole house smells of it", "{ks} baked so much that {they} gave some to every house in the street", "A good meal needs time"),
    ("tells wonderful stories", "when {ks} begins to talk, even {petname} the {pet} listens", "{ks} told a story that took three evenings", "Every story is true somewhere"),
    ("can repair everything", "{kp} hands are always a little dirty", "{ks} repaired an old radio, and it played a song from long ago", "Do not throw it away before I have looked at it"),
    ("sings all day long", "{ks} sings in the kitchen, in the garden and even on the phone", "{ks} sang in the bus, and everybody joined in", "Whoever sings is not afraid"),
    ("has a big garden", "{ks} knows the name of every plant", "{ks} gave {o} a little apple tree to take care of", "One cannot hurry a tomato"),
    ("works at night", "when {they} get up, {ks} goes to bed", "{ks} took {o} along and showed {o} the sleeping city", "At night the city belongs to the cats"),
    ("is wise", "{kp} face is full of little lines, and every line has a story", "{ks} showed {o} a picture from the time when {ks} was young", "I was young once, too"),
    ("never forgets a birthday", "there is a thick red calendar next to {kp} door", "{ks} came through a snowstorm with a cake under {kp} coat", "A year is long, but a birthday is short"),
    ("loves to dance", "there is no song that {ks} does not move to", "{ks} danced with {o} in the middle of the street", "The feet know more than the head"),
    ("lives [by the sea|on a mountain|on a boat]", "{they} visit {ko} every summer", "{ks} woke {o} up at night to watch the [waves|stars|ships]", "Here the clocks are slower"),
    ("collects [hats|clocks|teapots]", "there are more than a hundred of them in {kp} house", "{ks} gave {o} the smallest one for luck", "Every one of them has a name"),
    ("is always in a good mood", "{ks} laughs so loud that the birds fly up", "{ks} fell into the lake with all {kp} clothes on and laughed the loudest", "A day without a laugh is a lost day"),
    ("taught {o} how to [swim|read|play chess|ride a bike]", "{ks} was very patient and never angry", "{ks} stood there with a proud smile and waved {kp} hat", "Once more, and then we will have ice cream"),
    ("is a little strange", "{ks} talks to trees and wears two scarves in summer", "{ks} was right about the storm when nobody believed {ko}", "The trees told me"),
    ("drives a [truck|taxi|tractor|train]", "{ks} knows every road in the country", "{ks} let {o} sit in front and pull the horn", "The best view is from up here"),
]  # fmt: skip

# A pet: (a habit, a past event, how it ended)
PET_STORIES = [
    ("sleeps on {p} feet every night", "{petname} ran away after a butterfly and did not come back", "in the evening, {petname} was sitting in front of the door with a flower on one ear"),
    ("is afraid of [the vacuum cleaner|thunder|balloons]", "there was a big storm, and {petname} hid in the laundry basket", "{s} sat down next to the basket and sang until the storm was over"),
    ("eats everything that falls on the floor", "{petname} ate a whole birthday cake with all the candles", "the doctor said that everything was fine, but that cake was not a good dinner"),
    ("can open doors", "{petname} opened the fridge and shared everything with the cat of the neighbors", "now there is a lock on the fridge, and {petname} is already looking at it closely"),
    ("waits for {o} at the gate every day", "{s} came home very late, and {petname} was still sitting there in the rain", "{s} dried {petname} with the best towel in the house"),
    ("understands every word", "{s} was very sad, and {petname} brought {o} an old shoe", "it was such a funny present that {s} had to laugh"),
    ("loves music", "{s} played a wrong note, and {petname} left the room", "since then {petname} is {p} most honest listener"),
    ("is very lazy", "a mouse walked right over {petname} in broad daylight", "{petname} opened one eye, closed it again and went on sleeping"),
]  # fmt: skip

# A home: (what it is, present sentence, present sentence, a past event)
HOMES = [
    ("a small house by the sea", "at night one can hear the waves", "there is always sand in the shoes", "a storm carried a boat right into the garden"),
    ("a tall house in the middle of the city", "from the roof one can see the whole town", "the elevator is older than everybody who lives there", "the elevator got stuck, and all the neighbors had a picnic on the stairs"),
    ("a farm with eleven cows", "the day begins before the sun comes up", "the milk is still warm at breakfast", "the smallest cow walked into the kitchen and ate the flowers"),
    ("a little village in the mountains", "in winter the snow reaches up to the windows", "everybody knows everybody", "the bus could not come for two weeks, and the whole village cooked together"),
    ("a houseboat on the river", "the floor is never quite still", "ducks come to the window for breakfast", "the rope came loose in the night, and everybody woke up in another town"),
    ("an old mill at the edge of the forest", "the big wheel still turns", "it smells of wood and flour", "an owl moved into the attic, and since then there are no mice"),
    ("a yellow house with a blue door", "there are roses all around it", "the key is under the third stone, but do not tell anybody", "a traveler knocked at the blue door and stayed for a whole year"),
    ("a narrow street full of shops", "the bakery is downstairs, so every morning smells of bread", "at night the street is as quiet as a church", "the whole street had dinner together at one long table"),
]  # fmt: skip

# A kind of day: (opening, three sentences in order with alternatives)
DAYS = [
    ("[It was raining|It rained|The rain fell] all day long", "{N} [sat at the window and counted the drops|built a boat out of paper]", "the street turned into a little river, and {f} came by in yellow boots", "{they} let paper boats sail down to the corner", "in the evening, the sky opened and there were two rainbows"),
    ("It was the hottest day of the [year|summer]", "even the birds were too tired to sing", "{NF} put {their} feet into a bucket of cold water", "{they} ate ice cream for lunch, and nobody said a word about it", "at night {they} all slept on the balcony"),
    ("It was a cold and windy [night|evening]", "the wind shook the windows, and the fire was warm", "suddenly somebody knocked at the door", "it was {f}, with a wet coat and a bag full of chestnuts", "{they} put them on the fire and told ghost stories until midnight"),
    ("The sun was shining, and the sky was blue", "{N} did not want to stay inside", "{s} packed some bread and cheese and called {f}", "{they} walked along the river until {they} found a place that nobody knew", "it was one of those days that never seem to end"),
    ("It was the last day of the holidays", "{N} wanted to do everything once more", "{s} swam in the lake, climbed the old tree and ate three ice creams", "in the evening {s} sat on the hill with {f} and did not say much", "\"See you tomorrow at school,\" said {f}, and that was a comfort"),
    ("It was the first day of school", "{N} held the hand of {kin} a little too tightly", "the teacher had a green jacket and a friendly voice", "{f} was sitting in the next chair and had lost a tooth, too", "when the bell rang, {N} did not want to go home"),
    ("The fog was so thick that one could not see the other side of the street", "{N} walked slowly and held on to the fence", "somewhere a bell was ringing, and somebody was singing", "it was {f}, who was looking for the way as well", "hand in hand, {they} found it, and the fog was suddenly beautiful"),
    ("There was a big market in the town square", "it smelled of cheese, flowers and roasted nuts", "{N} had exactly one coin", "{s} spent it on a song from an old man with an accordion", "{f} began to dance, and soon the whole square was dancing"),
]  # fmt: skip

# Things people say something about: (subject, be, why, a past event)
OPINIONS = [
    ("music", "is", "like a language that everybody understands", "{s} heard a stranger play in the street and forgot all {p} worries"),
    ("a good friend", "is", "like a warm coat in winter", "{f} walked through the rain only to bring {o} some soup"),
    ("books", "are", "like doors to other worlds", "{s} read so long that {s} missed dinner and did not even notice"),
    ("the sea", "is", "never the same two days in a row", "{s} sat on the beach all day and only watched the waves"),
    ("time", "is", "a strange thing, slow at school and fast on holidays", "{s} looked at the clock, and it seemed to stand still"),
    ("snow", "is", "the best surprise in the world", "{s} woke up, and the street had disappeared"),
    ("cats", "are", "small kings who live in our houses", "{p} cat slept on the newspaper until {kin} gave up reading"),
    ("dogs", "are", "the best listeners", "{s} told {p} dog a secret, and it never told anybody"),
    ("trees", "are", "the oldest people in the town", "{s} put {p} ear on an old oak and thought that {s} heard it breathe"),
    ("the moon", "is", "a lamp that nobody has to turn on", "the moon followed {o} all the way home"),
    ("chocolate", "is", "good for almost everything", "{s} fell off {p} bike, and {kin} gave {o} some chocolate instead of a bandage"),
    ("home", "is", "where somebody waits for you", "{s} came back after a long journey, and there was light in the window"),
    ("silence", "is", "not empty, it is full of small sounds", "{s} sat in the forest for an hour and heard a beetle walk"),
    ("a smile", "is", "the shortest way between two people", "{s} smiled at a stranger, and he smiled all the way to the station"),
    ("life", "is", "a little like riding a bike: one has to keep moving", "{s} fell, got up again and saw that it was not so bad"),
    ("computers", "are", "very fast, but they cannot laugh", "{s} told {p} computer a joke, and it asked for a password"),
    ("love", "is", "when somebody gives you the last piece of cake", "{kin} gave {o} the last piece and said that {ks} was not hungry"),
    ("the world", "is", "big, but one can begin on the next corner", "{s} took a street that {s} had never taken and found a garden full of lights"),
]  # fmt: skip

# Events of any hobby: sentences in order, each with alternatives
EPISODES = [
    ("One day, {kin} invited {o} to show it to everybody.", "{s} was so nervous that {p} hands were shaking.", "But when {s} saw the happy faces, it all went by itself."),
    ("At first {s} {was} not very good at it.", "{s} made [many mistakes|one mistake after another], and some children laughed.", "Now the same children ask {o} for help."),
    ("Last year there was a contest in the town.", "{s} did not win, but {s} came in [second|third], and {kin} was very proud.", "The prize was a [small silver cup|big box of chocolate], and {s} shared it with {f}."),
    ("Sometimes {f} comes along and joins in.", "The two of {them} [laugh a lot|forget the time completely|hardly talk and are very happy].", "Once it got so late that {kin} had to come and get {them}."),
    ("When {s} was ill last winter, {s} could not do it for a whole month.", "{s} missed it [every day|more than anything else].", "The first day after that felt like a holiday."),
    ("{kin} once asked {o} why {s} <do> it so often.", "{s} thought about it for a long time.", "\"Because I forget everything else,\" {s} said at last."),
    ("An old neighbor saw {o} one day and stopped.", "\"I used to do that, too, when I was young,\" said the old man.", "Since then, he comes by every week and gives {o} good advice."),
    ("{s} also <teach> it to {p} little cousin, who is only [four|five|six].", "It is [harder than it looks|not easy to explain], and they laugh a lot.", "\"Again!\" the little one says every time."),
]  # fmt: skip
