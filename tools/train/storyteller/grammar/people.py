"""Introductions of people: `My name is Clara and I am a baker`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    noun: str
    daily: str  # completes `every day I ...`, present tense with <verbs>
    loves: str  # completes `I love ...`
    visitor: str  # a past sentence: somebody came with a wish or a problem
    answer: str  # a past sentence: what was done about it
    thanks: str  # what was said at the end
    place: str


JOBS = [
    Job("a baker", "<get> up at four and <make> the bread for the whole street", "the smell of warm bread",
        "a little boy came in and had no money for a cake", "{s} gave him the biggest one and told him to share it",
        "I will bring you a flower tomorrow", "a small bakery on the corner"),
    Job("a teacher", "<teach> children to read and to count", "the moment when a child understands something",
        "a shy girl did not want to read aloud", "{s} read the first lines together with her, and then she went on alone",
        "I did it", "an old school with big windows"),
    Job("a nurse", "<take> care of people who are ill", "to see people get better",
        "an old man could not sleep and was afraid", "{s} sat down next to him and listened to his stories until he fell asleep",
        "You are a good listener", "the hospital on the hill"),
    Job("a gardener", "<water> the plants and <cut> the roses", "the first green leaves in spring",
        "a woman came with a plant that was almost dead", "{s} gave it new earth, and after three weeks it had a flower",
        "You have green fingers", "the big park near the river"),
    Job("a farmer", "<feed> the cows and <work> in the fields", "the quiet early morning",
        "a calf was born in the middle of a storm", "{s} dried it with a blanket and stayed with it all night",
        "It is standing up", "a farm at the end of a long road"),
    Job("a pilot", "<fly> letters and medicine to the islands", "the sunrise above the clouds",
        "a small island needed medicine in a storm", "{s} waited for one quiet hour, flew as low as the trees and made it",
        "We knew that you would come", "a small airport near the coast"),
    Job("a firefighter", "<clean> the big red engine and <wait> for the bell", "to work with a team",
        "a kitten was sitting on the highest roof of the town", "{s} climbed up slowly, and the kitten jumped into {p} helmet",
        "It is safe", "the fire station in the middle of the town"),
    Job("a librarian", "<put> the books back on their shelves and <help> people to find the right one", "the silence between the shelves",
        "a man was looking for a book and knew only that it was green", "{s} thought for a moment and found it on the lowest shelf",
        "That is the one", "the old library on the square"),
    Job("a doctor", "<visit> the people in the villages", "to bring good news",
        "a girl had fallen from a tree", "{s} looked at her arm, put it in a bandage and drew a cat on it",
        "It does not hurt anymore", "a little house with a green door"),
    Job("a captain", "<sail> from harbor to harbor with boxes of tea", "the open sea",
        "a thick fog came, and nobody could see the rocks", "{s} stopped the engine, listened to the bell of the lighthouse and found the way",
        "We are home", "an old ship with a red chimney"),
    Job("a carpenter", "<build> tables and chairs", "the smell of fresh wood",
        "an old woman brought a chair with three legs", "{s} made a fourth leg and would not take any money",
        "It was the chair of my husband", "a workshop full of tools"),
    Job("a violin player", "<practice> for four hours", "the silence before the first note",
        "the lights went out in the middle of a concert", "{s} went on playing in the dark, and all the others joined in",
        "I have never heard anything so beautiful", "a theater with golden doors"),
    Job("a postman", "<carry> letters from house to house", "the faces of people who get a letter from far away",
        "a letter had no name and no street on it", "{s} asked in every house until a girl recognized the writing",
        "It is from my grandmother", "the post office near the station"),
    Job("a shepherd", "<lead> the sheep up the mountain", "the wind and the bells",
        "one lamb was missing in the evening", "{s} went back with a lamp and found it under a thorn bush",
        "The smallest one always gets lost", "a hut high in the mountains"),
    Job("a scientist", "<look> through the microscope and <write> down what happens", "a question without an answer",
        "an experiment went wrong and turned everything blue", "{s} looked at it closely and found something that nobody had seen before",
        "Sometimes a mistake is a gift", "a laboratory full of glass"),
    Job("a lighthouse keeper", "<clean> the lamp and <watch> the ships", "the sound of the waves",
        "the big lamp broke in a stormy night", "{s} lit a fire at the top and kept it burning until the morning",
        "You saved our ship", "a lighthouse at the end of the world"),
    Job("a detective", "<solve> riddles for other people", "the small things that nobody else sees",
        "the golden bell of the church had disappeared", "{s} followed the small steps in the snow and found it in the nest of a magpie",
        "How did you know", "an office above a bakery"),
    Job("a bus driver", "<drive> the number seven bus from the station to the sea", "the people who say good morning",
        "a boy on the bus was crying because he was lost", "{s} let him sit in front, called his mother and drove him home",
        "This is the best bus in the world", "a yellow bus with squeaking doors"),
]  # fmt: skip

# (completes `I am ...`, why or how it is so, what changed it: a past sentence, how it is now)
TRAITS = [
    ("afraid of the dark", "at night every coat looks like a giant", "{kin} gave {o} a small lamp in the shape of a moon", "now the coats are only coats"),
    ("new at this school", "{s} <do> not know anybody here yet", "{f} sat down next to {o} and shared {fp} lunch", "now the way to school feels short"),
    ("the youngest of [four|five|three] children", "the shoes {s} <wear> have belonged to everybody before", "{s} got new shoes for {p} birthday, and they were red", "{s} <take> very good care of them"),
    ("very curious", "{s} <ask> a hundred questions a day", "{kin} gave {o} a thick book full of answers", "now {s} <have> two hundred questions a day"),
    ("always late", "there are so many things to look at on the way", "{kin} gave {o} a watch that is ten minutes fast", "now {s} <be> always just in time"),
    ("very shy", "{s} <turn> red when somebody looks at {o}", "{f} asked {o} a question about {petname} the {pet}, and {s} talked for an hour", "with a friend it is easy to talk"),
    ("from a small village in the mountains", "there are more sheep than people there", "{s} moved to the big city and missed the bells at night", "in {p} pocket there is always a small stone from home"),
    ("the tallest in the class", "everybody asks {o} to get things from the top shelf", "{s} saved the kite of a little child from a high branch", "now {s} <be> glad to be tall"),
    ("a twin", "nobody can tell the two of them apart", "they changed places for a day, and not even {kin} noticed", "it is good to have somebody who understands everything"),
    ("learning to [cook|swim|play the piano]", "it is harder than it looks", "everything went wrong on the first day, and {kin} only laughed", "every day it goes a little better"),
    ("happy today", "the sun is shining, and there is no school", "{f} knocked on the door early and had a plan", "a day like this should last a week"),
    ("very good at keeping secrets", "a secret is safe with {o}", "{f} told {o} about a surprise party, and {s} did not say a word for a month", "that is why everybody trusts {o}"),
    ("a night owl", "the best ideas come when everybody is asleep", "{s} saw a fox walk through the empty street at midnight", "the mornings are too bright anyway"),
    ("the only one in {p} family who likes [spinach|rain|Mondays]", "nobody else can understand it", "{s} met {f}, and {fs} liked it too", "there is somebody for everything"),
]  # fmt: skip
