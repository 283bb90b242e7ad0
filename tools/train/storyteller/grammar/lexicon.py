"""Names, relatives, animals, places and other words that any story may use."""

GIRLS = (
    "Mary Clara Anna Lily Rosa Emma Nora Sophie Julia Mia Ella Lucy Alice Grace Hannah Ruby Ida Olivia Maya Sara Eva Leah "
    "Iris Zoe Amelia Daisy Ivy Stella Violet Martha Helen Jane Elsa Greta Nina Laura Maria Sofia Chloe Layla Amina Priya Mei "
    "Yuki Fatima Ingrid Carmen Lola Rose Hazel Pearl Flora Edith Beth Tess Molly Kate Vera Agnes Dora Heidi Lena Marta Irene"
).split()
BOYS = (
    "Lewis Julien Tom Ben Leo Sam Max Jack Oliver Henry Noah Peter Paul Daniel Adam Felix Hugo Oscar Theo Simon David Lucas "
    "Finn Otto Emil Jonas Mark Luke Eric Victor Martin Robert Arthur George Edward Harry Charlie Frank Walter Marco Diego "
    "Carlos Omar Ali Ravi Kenji Ivan Anton Nils Lars Piet Joe Bill Nick Tim Alex Philip Samuel Jacob Elias Milo Ned Ralph Hans"
).split()
# Elders only, so that a relative can teach the hero, remember the old days and be called `wise`.
KIN = [
    ("mother", "girl"), ("grandfather", "boy"), ("grandmother", "girl"), ("father", "boy"), ("aunt", "girl"), ("uncle", "boy"),
]  # fmt: skip
PETS = ["dog", "cat", "rabbit", "puppy", "kitten", "hamster"]
PET_NAMES = "Biscuit Shadow Pepper Luna Rusty Coco Honey Button Snowy Patch Ginger Max Bella Pickle Cloud Mango".split()
PLACES = [
    "in a small village by the sea", "in a quiet town near the mountains", "in a little house at the edge of the forest",
    "in a big city with many bridges", "on a farm at the end of a long road", "in a village on a green hill",
    "in a white house near the river", "on a small island with a lighthouse", "in a narrow street full of shops",
    "in an old town with red roofs",
]  # fmt: skip
# They fit any season and any hour: the plots themselves say when it is night or winter.
TIMES = [
    "one day", "last week", "not long ago", "a few days ago", "last year", "some time ago", "two weeks ago", "last month",
    "the other day", "last Sunday", "last Friday", "a year ago",
]  # fmt: skip
