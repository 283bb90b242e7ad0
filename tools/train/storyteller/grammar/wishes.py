"""Wishes and dreams: `My greatest wish is to ...`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Wish:
    inf: str  # completes `I wish to ...`
    why: str  # a sentence on where the wish comes from
    step: str  # a past sentence: what was done for it
    help: str  # a past sentence: how somebody helped
    fulfilled: str  # a past sentence: how it came true
    picture: str  # a sentence: how it is imagined


WISHES = [
    Wish(
        "see the [sea|ocean]", "{s} <live> far away from the coast, and {s} <know> the waves only from books",
        "{s} put every coin into a blue jar", "{kin} added a coin every Sunday",
        "{s} stood on the beach with wet feet and could not stop smiling", "{s} can almost hear the waves at night",
    ),
    Wish(
        "travel around the world", "there is an old map above {p} bed, and {s} <know> every line on it",
        "{s} learned to say hello in ten languages", "{f} gave {o} a small green suitcase",
        "{s} took the first train south and did not look back", "{s} <want> to drink tea in the mountains and sleep under the stars in the desert",
    ),
    Wish(
        "have a dog", "the house is quiet, and {s} often <feel> alone",
        "{s} walked the dogs of all the neighbors to show that {s} could do it", "{kin} took {o} to the animal shelter",
        "a brown dog with one white ear put its head on {p} knee, and that was that", "{s} <want> to run with it along the river every morning",
    ),
    Wish(
        "fly a plane", "{s} <live> near the airport and <watch> the planes every evening",
        "{s} read every book about flying in the library", "an old pilot showed {o} how to hold the wheel",
        "{s} flew over {p} own house and waved at {kin}", "from up there, the fields must look like a quilt",
    ),
    Wish(
        "write a book", "{p} head is full of stories that want to get out",
        "{s} wrote one page every evening", "{kin} read every page and asked what came next",
        "{s} saw {p} own book in the window of a shop", "{s} <imagine> a child reading it under the blanket with a lamp",
    ),
    Wish(
        "build a house by the [sea|lake]", "{s} always <sleep> best when {s} <hear> the water",
        "{s} drew a plan with a round window and a red door", "{f} helped {o} carry the stones",
        "the last nail went in, and the first fire was lit", "every friend is welcome there",
    ),
    Wish(
        "fly to the moon", "the moon shines into {p} window every night",
        "{s} learned the names of all the stars", "{kin} built a rocket out of boxes with {o}",
        "{s} looked down at the small blue earth", "{s} <want> to jump as high as a house",
    ),
    Wish(
        "open a [bakery|small restaurant|little bookshop]", "{s} <love> to see happy people",
        "{s} saved money for three years", "{f} painted the sign above the door",
        "there was a long line in front of the shop", "it will smell wonderful, and nobody will have to hurry",
    ),
    Wish(
        "see {kin} again", "{ks} lives on the other side of the ocean, and a letter takes two weeks",
        "{s} wrote a letter every Sunday", "{f} helped {o} to find a cheap ticket",
        "{s} ran across the station and jumped into {kp} arms", "there is so much to tell",
    ),
    Wish(
        "play in an orchestra", "{s} once heard a concert in the park and could not sleep that night",
        "{s} practiced every day, even on holidays", "an old teacher gave {o} lessons for free",
        "{s} sat on the stage, lifted {p} violin and played", "a hundred people breathe together and then the music begins",
    ),
    Wish(
        "plant a forest", "there used to be many trees behind the village, and now there are none",
        "{s} planted the first tree on {p} birthday", "the whole class came with shovels and water",
        "the birds came back to the village", "{s} can already hear the wind in the leaves",
    ),
    Wish(
        "[become|be] a doctor", "a kind doctor once helped {kin} when {ks} was very ill",
        "{s} learned the name of every bone", "{p} teacher lent {o} thick old books",
        "{s} put on a white coat for the first time", "{s} <want> to help people who have no money",
    ),
    Wish(
        "help animals", "{s} once found a bird with a broken wing, and it flew again",
        "{s} worked at the animal shelter every Saturday", "a farmer gave {o} an empty barn",
        "twelve dogs, two donkeys and a blind cat lived there", "no animal should ever be alone",
    ),
    Wish(
        "sail around the world", "{p} family has always lived by the harbor",
        "{s} repaired an old boat, board by board", "an old captain taught {o} to read the wind",
        "{s} came back after a year with a brown face and a hundred stories", "only the water, the wind and the stars",
    ),
    Wish(
        "learn to swim", "all of {p} friends can do it, and {s} always <sit> on the beach",
        "{s} went to the pool every Monday", "{f} held {p} hand in the deep water",
        "{s} swam across the pool without any help", "{s} <want> to jump from the high rock",
    ),
    Wish(
        "make peace between {p} [brothers|neighbors]", "they have not talked to each other for a whole year",
        "{s} invited both of them to dinner without telling them", "{kin} cooked their favorite soup",
        "they looked at each other, and then they began to laugh", "at the big table there is a place for everybody",
    ),
    Wish(
        "find {p} lost {pet}", "{petname} ran away in a storm and did not come back",
        "{s} put a picture of {petname} on every tree in the town", "{f} asked in every house",
        "there was a soft sound at the door, and it was {petname}", "{petname} must be hungry and cold",
    ),
    Wish(
        "win the big race", "{s} came in last every year",
        "{s} ran up the hill every morning before school", "{kin} waited at the top with a bottle of water",
        "{s} crossed the line first and fell into the grass, laughing", "{s} can see the red line in front of {o}",
    ),
    Wish(
        "invent something [useful|new]", "{s} <like> to take things apart to see how they work",
        "{s} filled a notebook with drawings", "{f} gave {o} a box full of old wheels and wires",
        "the machine made a funny noise and then it worked", "it will save people a lot of time",
    ),
    Wish(
        "live in a tree house", "{s} <love> the sound of leaves at night",
        "{s} found a strong old oak behind the farm", "{kin} gave {o} a hammer and a bag of nails",
        "{s} slept there for the first time, and an owl said good night", "there will be a rope, a lamp and a shelf full of books",
    ),
]  # fmt: skip
