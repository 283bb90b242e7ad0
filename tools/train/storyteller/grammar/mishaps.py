"""Little accidents: `Today I accidentally ...`. Every entry is what happened and what came of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mishap:
    did: str  # completes `I accidentally ...`
    because: str  # how it came about, a sentence
    then: str  # what happened next, a sentence
    said: str  # what somebody said about it
    mended: str  # how it was put right, a sentence
    moral: str  # a last thought, a sentence


MISHAPS = [
    Mishap(
        "[broke {kp} favorite cup|broke the blue vase in the hall]", "{s} was running through the house with [the dog|a ball]",
        "it fell off the table and broke into a hundred pieces", "Are you hurt",
        "{s} [glued the pieces together|saved some money and bought a new one], and {kin} gave {o} a hug",
        "things can be replaced, but people cannot",
    ),
    Mishap(
        "put salt in the cake instead of sugar", "the two jars look exactly the same",
        "everybody took one bite and made a very strange face", "This tastes like the sea",
        "{s} baked a second cake, this time with a lot of sugar", "now there is a big label on every jar",
    ),
    Mishap(
        "locked {self} out of the house", "{s} only wanted to [bring out the trash|look at the rain]",
        "the door closed behind {o}, and the key was still inside", "Come in and have some tea",
        "a neighbor let {o} wait in the kitchen until {kin} came home", "now {s} always <keep> a key under the flower pot",
    ),
    Mishap(
        "took the wrong bus", "{s} was reading and did not look at the number",
        "after an hour {s} saw the sea, and there is no sea near {p} street", "You are very far from home, my friend",
        "the driver gave {o} a map and showed {o} the right bus back", "it was a mistake, but the sea was beautiful",
    ),
    Mishap(
        "sent a message to the wrong person", "{s} was in a hurry and did not read the name",
        "{p} teacher got a picture of a cat in a party hat", "I like the hat",
        "{s} said sorry, and the whole class laughed about it together", "since then {s} <read> every name twice",
    ),
    Mishap(
        "spilled [milk|juice|tea] all over {p} homework", "{s} was reaching for the bread",
        "the words turned into a big blue cloud", "Do not worry, it can happen to anybody",
        "{s} wrote everything again, and the second version was even better", "now the glass stands on the other side of the table",
    ),
    Mishap(
        "wore two different shoes to [school|work]", "{s} got dressed in the dark",
        "{s} noticed it only when {f} pointed at {p} feet", "Is that a new fashion",
        "the next day [half of the class|everybody] came in two different shoes as well", "sometimes a mistake becomes a tradition",
    ),
    Mishap(
        "left the [gate|door] open, and {petname} the {pet} ran away", "{s} had both arms full of [wood|bags]",
        "{s} looked in every garden and called {p} friend by name", "I saw somebody small near the bakery",
        "{s} found {petname} in front of the bakery, waiting for a cookie", "now {s} always <close> it twice",
    ),
    Mishap(
        "washed a red sock with all the white shirts", "the sock was hiding in a sleeve",
        "every shirt in the house turned pink", "Pink suits you very well",
        "{p} family wore pink for a whole week, and nobody complained", "now {s} <check> every sleeve",
    ),
    Mishap(
        "called {p} teacher Mom", "{s} was tired and was thinking about lunch",
        "the whole class went quiet, and then everybody laughed", "That is the nicest thing I have heard all day",
        "the teacher told them that she had once done the very same thing", "after that, it was not so bad anymore",
    ),
    Mishap(
        "burned the [toast|pancakes|soup]", "{s} was talking to {f} and forgot the time",
        "the kitchen was full of smoke, and the cat ran outside", "Something smells strange in here",
        "{s} opened all the windows and made [sandwiches|a fresh salad] instead", "a kitchen does not like to be forgotten",
    ),
    Mishap(
        "fell asleep on the train", "the night before had been very short",
        "when {s} woke up, the train stood still in a town that {s} did not know", "This is the last stop",
        "{s} bought a hot chocolate and took the next train back", "since then {s} always <set> an alarm",
    ),
    Mishap(
        "kicked the ball through the window of a neighbor", "{s} wanted to show {f} a new trick",
        "there was a loud crash, and then it was very quiet", "Who did that",
        "{s} rang the bell, said sorry and cleaned the garden for two weeks", "it is easier to tell the truth at once",
    ),
    Mishap(
        "stepped on {kp} glasses", "they were lying on the floor next to the bed",
        "there was a small crack, and one glass was gone", "Now I see two of you",
        "{s} carried them to the shop, and they came back as good as new", "now {s} <look> down before every step",
    ),
    Mishap(
        "ate the [cookies|cake] for the school party", "the box was not closed, and it smelled so good",
        "when {kin} opened the box, there were only crumbs", "We must have a very big mouse in this house",
        "{s} told the truth, and they baked new ones together until midnight", "the second ones were even better",
    ),
    Mishap(
        "let all the chickens out", "the little door was not closed well",
        "there were chickens in the kitchen, on the road and even on the car", "I have never seen such a thing",
        "{f} brought a bag of corn, and the chickens followed {fo} home in a long line", "chickens are clever, but they love corn",
    ),
    Mishap(
        "dropped {p} phone in the [lake|soup|sink]", "{s} wanted to take a picture of [a duck|the sunset|dinner]",
        "it made a small sound, and the screen went black", "Put it in a bag of rice",
        "after two days in a bag of rice it worked again", "now {s} <hold> it with both hands",
    ),
    Mishap(
        "took somebody else's bag home", "it was black and looked exactly like {p} own",
        "inside there were [a pair of dancing shoes|a trumpet|five lemons and a letter]", "That is not yours, is it",
        "{s} found a name in it, brought it back and made a new friend", "a mistake can be the beginning of something good",
    ),
    Mishap(
        "painted the cat green", "{s} was painting the fence, and the cat came too close",
        "the cat walked proudly through the whole house and left green steps everywhere", "We have a frog with fur",
        "{s} needed a warm bath, a lot of soap and three towels", "the fence looks nice, and so does the cat",
    ),
    Mishap(
        "opened a letter that was for {f}", "the names on the two letters were almost the same",
        "it was an invitation to a party, and the party was for {o}", "It was meant to be a surprise",
        "{s} promised to look very surprised, and {s} did it well", "it was the best surprise that was not a surprise",
    ),
]  # fmt: skip
